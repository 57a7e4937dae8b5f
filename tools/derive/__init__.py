"""Derivations of the expected values in ``vectors/``, written from the public algorithms and the text of the spec.

They use only the standard library, and nothing of the reference implementation: a vector is evidence because two
independent readings of the text lead to the same value. ``python -m tools.derive.build`` writes the vector files from
the tables in ``cases`` and the derivations here; ``--check`` verifies that the files on disk are current.
"""
