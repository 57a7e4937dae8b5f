"""Data types, and the Python values that represent values of them (Schemas and Data Types)."""
