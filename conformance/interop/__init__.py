"""The interoperability matrix: writer x reader.

Tables come from producers that write a fixed catalogue of small scripts (`catalogue`), and from the golden tables that
engines wrote (`golden`). Every consumer reads every state of every table, and its rows are compared with the result of
the script, or of the golden table's statements. A cell is one producer, one consumer and one table.
"""
