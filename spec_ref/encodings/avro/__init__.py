"""Avro files, schemas and values (Avro 1.11 specification; Appendix A, Avro)."""
