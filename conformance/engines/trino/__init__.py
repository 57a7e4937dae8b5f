"""Support for Trino."""
