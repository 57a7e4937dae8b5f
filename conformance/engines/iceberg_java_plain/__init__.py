"""All about Iceberg-Java without Spark."""
