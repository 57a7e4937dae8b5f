"""Variant values, and the paths of their fields (Semi-structured Types; Appendix A, Parquet)."""
