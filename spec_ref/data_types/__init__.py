"""Data types and the Python values that stand for theirs (Schemas and Data Types)."""
