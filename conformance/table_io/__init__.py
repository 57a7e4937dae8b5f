"""The data pipeline: files by URI, tables, and scan tasks turned into Arrow batches, here or on a cluster."""
