"""Properties: what holds for any table and any script, tried with tables, filters and scripts made at random.

`scenarios` follows scripts and compares the table with the model after every operation, `metamorphic` compares tables
of related scripts (`laws`), and `filter_pushdown` compares reading with a filter and filtering what is read.
`searching` draws scripts with Hypothesis, which also shrinks those that fail.
"""
