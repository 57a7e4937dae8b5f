"""Properties that hold for any table and any script, tested with random tables, filters and scripts.

`scenarios` runs scripts and compares the table with the model after every operation, `metamorphic` compares tables of
related scripts by `metamorphic_properties`, and `filter_pushdown` compares filtered reads with filtering a full read.
`searching` draws scripts with Hypothesis and shrinks those that fail.
"""
