"""Rows and scan plans."""
