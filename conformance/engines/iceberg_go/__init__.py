"""Support for iceberg-go."""
