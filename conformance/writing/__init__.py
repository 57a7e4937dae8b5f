"""Writing tables: rows into files here or on a cluster, and the operations that commit them."""
