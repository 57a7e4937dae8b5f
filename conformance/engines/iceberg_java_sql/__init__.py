"""Support for Iceberg-Java's SQL functions."""
