"""Reading and writing tables: access to files by URI, scan tasks turned into Arrow batches, stores, and writes."""
