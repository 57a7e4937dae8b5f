"""Support for Iceberg-Java."""
