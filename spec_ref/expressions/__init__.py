"""Expressions: predicates over rows, and what they say of files (Iceberg Expressions; Scan Planning)."""
