"""Support for iceberg-rust."""
