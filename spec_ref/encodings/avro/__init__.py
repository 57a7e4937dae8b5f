"""Avro files, their schemas and their values (Avro 1.11 specification)."""
