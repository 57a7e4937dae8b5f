"""Support for DuckDB."""
