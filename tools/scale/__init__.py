"""Tables of millions of files and hundreds of millions of rows: how time and memory grow, and how far they may.

``python -m tools.scale --write`` measures and writes ``docs/scale.md``; ``--quick`` measures small tables.
"""
