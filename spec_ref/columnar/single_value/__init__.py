"""Single values of Arrow arrays (Appendix D)."""
