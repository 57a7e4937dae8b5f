"""The page of a relay: which engine can work after which, and each failure with its script. It needs no network."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence

from conformance.core.counts import plural
from conformance.core.json_text import dump_json
from conformance.properties.relay_known import KnownRelay
from conformance.properties.relay_results import RelayResults, count_handovers
from conformance.reports.pages import render_page

WORDS = ("done", "unsupported", "known", "refused", "failed")
"""The outcomes of a step, in the order of the page."""


def render(
    found: RelayResults, identities: Mapping[str, str], seed: int, command: str, known: Sequence[KnownRelay] = ()
) -> str:
    """Render the page.

    Args:
        found: the results of a run.
        identities: the implementations by the names of the engines.
        seed: the seed of the first script.
        command: the command line that runs a relay again, without the file to replay.
        known: the known failures.
    """
    engines = list(identities)
    operations: dict[str, Counter[str]] = {}
    for one in found.handovers:
        if one.outcome == "done":
            operations.setdefault(one.operation, Counter())[one.engine] += 1
    entries = {one.id: one for one in known}
    failed = found.counterexamples or found.unusable
    return render_page(
        "relay_page.html.j2",
        verdict=("bad" if failed else "good", plural(len(found.counterexamples), "unknown failure")),
        found=found,
        engines=engines,
        identities=identities,
        seed=seed,
        words=WORDS,
        pairs=count_handovers(found.handovers, engines),
        operations=dict(sorted(operations.items())),
        known=[(entries[id_], count) for id_, count in sorted(found.known.items()) if id_ in entries],
        failures=[
            (
                one,
                [(step.engine, dump_json(step.operation)) for step in one.steps],
                f"{command} --replay {shlex.quote(str(one.file))}",
            )
            for one in found.counterexamples
        ],
        links={
            pair: [
                number
                for number, one in enumerate(found.counterexamples)
                if len(one.steps) > 1 and (one.steps[-2].engine, one.steps[-1].engine) == pair
            ]
            for pair in ((before, after) for before in engines for after in engines)
        },
    )
