"""Move tables: rewrite the locations inside their files, and keep everything else byte for byte.

The files of a table name each other by absolute location. `tables.relocate` returns the files of a table for a new
location, with adapted lengths, offsets and checksums; `check.table_differences` compares them with the original files
by independent readers.
"""
