"""Data files of Parquet, ORC and Avro (Appendix A): their schemas and metrics, and reading and writing Arrow batches.

This package is the boundary to pyarrow, which reads and writes Parquet and ORC. The package imports the definitions and
the kernels of `spec_ref.columnar`; neither imports anything from here.
"""
