"""All about iceberg-go."""
