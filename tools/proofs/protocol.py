"""Print the steps of the commit protocol, and what goes wrong if the store does not satisfy an assumption.

``python -m tools.proofs.protocol [--table metastore] [--change properties]``
"""

from __future__ import annotations

import argparse

from tools.entry_point import run_main
from tools.proofs.protocol_model import Model, describe
from tools.proofs.protocol_states import Assumption
from tools.proofs.protocol_steps import ENDS, machine
from tools.proofs.theorems.protocol import CHANGES, TABLES


def main(arguments: list[str] | None = None) -> int:
    """Print the steps, and a counterexample for each assumption without which a claim is false.

    Args:
        arguments: those of the command line by default.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(description="Print the steps of a commit, and what it assumes of a store.")
    parser.add_argument("--table", choices=TABLES, default="metastore", help="the kind of table")
    parser.add_argument("--change", choices=CHANGES, default="properties", help="what is committed")
    options = parser.parse_args(arguments)
    found = machine(options.table, options.change)
    print(f"Steps of a commit of {options.change} to a {options.table} table, by the lines that wait for an answer:")
    for state in found.states:
        steps = [one for one in found.steps if one.source == state]
        if steps:
            print(f"\n{state}")
        for step in steps:
            stays = step.target in {state, *ENDS}
            print(f"    {describe(step)}" + ("" if stays else f"\n        -> {step.target}"))
    for one in Assumption:
        model = Model(found, file_system=options.table == "file-system", dropped=[one])
        print(f"\nWithout the assumption that {one.value}:")
        way = model.counterexample()
        for number, words in enumerate(way, 1):
            print(f"    {number}. {words}")
        if not way:
            problem = model.prove()
            print(f"    not proved: {problem}" if problem else "    everything is still proved: it is not needed")
    return 0


if __name__ == "__main__":
    run_main(main)
