"""Predicates over Arrow arrays, and over the metrics of many files at once (Scan Planning)."""
