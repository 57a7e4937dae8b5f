"""Data types and the Python values that represent theirs (Schemas and Data Types)."""
