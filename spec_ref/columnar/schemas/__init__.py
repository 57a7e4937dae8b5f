"""Convert the columns of files, and rows to be written, to the columns of a schema (Schemas and Data Types)."""
