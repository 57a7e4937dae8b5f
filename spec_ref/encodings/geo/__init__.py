"""Geometries and their encodings (Appendix G)."""
