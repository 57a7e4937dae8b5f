"""Support for ClickHouse."""
