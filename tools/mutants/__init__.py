"""Mutants of the reference: `spec_ref` with one small fault each, which vectors or checks should kill.

A faulty adapter (`tests.faulty_adapters`) changes answers; a mutant changes the code. A mutant that nothing notices
shows a rule that nothing proves::

    make mutants                               # every mutant; prints the score and writes score.toml
    python -m tools.mutants run hashing        # the mutants whose name contains a word
    python -m tools.mutants draw               # draw new mutants where the code of a module changed
    python -m tools.mutants check              # only check that each still fits the code

A test may kill a mutant of code that no vector or check runs (`tools.mutants.in_tests`), unless the mutant was drawn.

A mutant names a part of the syntax tree of a module (`tools.mutants.syntax`), not its text, so that comments and
formatting do not matter.

- `table.toml`: mutants written by hand; each breaks a rule of the spec.
- `drawn.toml`: mutants drawn by `tools.mutants.drawing` from the syntax trees, some of every module.
- `equivalent.toml`: mutants that behave like the original, and why.
- `score.toml`: what kills each mutant, and the totals, which tests check.
"""
