"""Apache Iceberg's table spec as code: one module for each section, for format versions 1, 2 and 3.

This package knows bytes, objects and Arrow arrays. It imports no Spark, opens no network connection, reads no clock and
has no command line; all of that is in `conformance`.
"""
