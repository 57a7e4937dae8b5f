"""All about ClickHouse."""
