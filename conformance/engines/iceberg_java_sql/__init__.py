"""All about Iceberg-Java's SQL functions."""
