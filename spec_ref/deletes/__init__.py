"""Deletes: deletion vectors, position deletes and equality deletes (Delete Formats).

A delete file, by position or by equality, obeys the rules of data files: formats, field ids and column projection
(DEL005). It should be in the table's default format (DEL025). Delete manifests list delete files and deletion vectors,
and nothing else, with the schema of data manifests (DEL006). The entry of a deletion vector has the location of the
Puffin file, the offset and the length of the blob, and the data file that it is for (DEL007).
"""
