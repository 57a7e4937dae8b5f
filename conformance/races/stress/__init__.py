"""Stress tests of catalogs: many writers commit to one table, some are killed, and no acknowledged commit may be lost.

`run` starts the server (if the tool has one) and a process that forks writers in the environment of the client, kills
some of both, and calls `judge_journals` to compare the writers' journals with the table.
"""
