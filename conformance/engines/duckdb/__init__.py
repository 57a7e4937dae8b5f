"""All about DuckDB."""
