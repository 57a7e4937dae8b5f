"""Mutants of the reference: `spec_ref` with one small thing wrong, each to be killed by vectors or checks.

A faulty adapter (`tests.faulty_adapters`) changes answers; a mutant changes the code. One that nothing notices is a
rule that nothing proves::

    make mutants                               # every mutant; prints the score and writes score.toml
    python -m tools.mutants run hashing        # those whose name has a word in it
    python -m tools.mutants draw               # draw new mutants where the code of a module changed
    python -m tools.mutants check              # only see that each still fits the code

A test may kill what no vector or check asks for (`tools.mutants.in_tests`); a mutant that was drawn is not left to one.

A mutant names a part of the syntax tree of a module (`tools.mutants.syntax`), not its text: comments and formatting do
not matter to it.

- `table.toml`: written by hand, each a rule of the spec got wrong.
- `drawn.toml`: drawn by `tools.mutants.drawing` from the syntax trees, some of every module.
- `equivalent.toml`: those that behave like the original, and why.
- `score.toml`: what kills each, and the sums, which tests hold.
"""
