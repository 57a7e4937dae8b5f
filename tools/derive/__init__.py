"""Derivations of the expected values in ``vectors/``, written from the public algorithms and the text of the spec.

Standard library only, and nothing of the reference implementation: a vector proves something because two people read
the text and came to the same value. ``python -m tools.derive.build`` writes the vector files, ``--check`` verifies that
the files on disk are what the tables in ``cases`` and the derivations here give.
"""
