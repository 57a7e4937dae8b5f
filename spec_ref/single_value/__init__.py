"""Appendix D: Single-value serialization."""
