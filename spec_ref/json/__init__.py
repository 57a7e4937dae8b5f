"""JSON by the field tables: documents, the wire types of fields, reading, checking and writing (Appendix C)."""
