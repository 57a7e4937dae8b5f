"""Moving tables: the paths inside their files are rewritten, and everything else stays byte for byte.

The files of a table name each other by absolute location. `tables.relocate` gives the files of a table at another
place, with the lengths, offsets and checksums that follow; `check.complaints` compares them with the files that they
were made of by other readers.
"""
