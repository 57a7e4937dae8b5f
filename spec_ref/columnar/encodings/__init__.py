"""Variant values and Avro data as columns (Appendix A)."""
