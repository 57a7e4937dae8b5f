"""Running vectors against implementations: processes, verdicts, results, and known deviations."""
