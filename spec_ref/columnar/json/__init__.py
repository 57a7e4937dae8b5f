"""Kernels over JSON text (Appendix C)."""
