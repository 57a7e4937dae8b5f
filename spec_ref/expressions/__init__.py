"""Expressions: predicates over rows, and their evaluation for whole files (Iceberg Expressions; Scan Planning)."""
