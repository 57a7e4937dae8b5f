"""Laws of writing: what has to hold of any table, whatever it holds, between two ways to come to it.

A law needs no expected rows. Compaction changes nothing, appends commute, a delete is a set difference: an
implementation breaks such a law with a script, made at random from a seed and then made as small as it goes.
"""
