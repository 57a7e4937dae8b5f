"""All about Trino."""
