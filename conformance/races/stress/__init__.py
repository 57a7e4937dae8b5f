"""Catalogs under fire: many writers commit to one table, are killed at random, and no acknowledged commit may be lost.

`run` starts the server (where the tool has one), a process that forks writers in the environment of the client, kills
some of both, and lets `judge` compare what the writers noted with what is in the table.
"""
