"""Avro's binary encoding over many values at once (Appendix A, Avro)."""
