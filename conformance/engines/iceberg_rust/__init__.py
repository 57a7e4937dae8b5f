"""All about iceberg-rust."""
