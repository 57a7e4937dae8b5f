"""Code that adapters written in Python share. Each adapter is in the folder of its engine in `conformance.engines`."""
