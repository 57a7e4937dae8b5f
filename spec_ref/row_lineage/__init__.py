"""Row lineage: the ids of rows and the commits that last changed them (Row Lineage)."""
