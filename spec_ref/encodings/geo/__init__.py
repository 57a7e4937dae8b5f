"""Geometries, their encodings and their bounds (Appendix G; Bounds for Geometry and Geography)."""
