"""Replaying vectors against implementations: their processes, the verdicts, results, and what is known to fail."""
