"""Columns of files as columns of a schema, and rows to be written as a schema has them (Schemas and Data Types)."""
