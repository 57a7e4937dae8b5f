"""All about Iceberg-Java."""
