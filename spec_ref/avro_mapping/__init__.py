"""Iceberg's types and records in Avro files (Appendix A, Avro)."""
