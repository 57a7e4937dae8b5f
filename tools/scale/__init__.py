"""Tables of millions of files and hundreds of millions of rows: the growth of time and memory, and their limits.

``python -m tools.scale --write`` measures and writes ``docs/scale.md``; ``--quick`` measures small tables.
"""
