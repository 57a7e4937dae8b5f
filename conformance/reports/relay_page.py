"""The page of a relay: who follows whom without harm, and each failure with its script. It needs no network."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from conformance.core.json_text import dump_json
from conformance.core.terminal_sanitizer import in_page
from conformance.properties.relay import Findings, matrix
from conformance.properties.relay_known import KnownRelay

WORDS = ("done", "unsupported", "known", "refused", "failed")
"""What becomes of a step, in the order of the page."""


def render(
    found: Findings, identities: Mapping[str, str], seed: int, again: str, known: Sequence[KnownRelay] = ()
) -> str:
    """The page.

    Args:
        found: what a run came to.
        identities: the implementations by the names of the engines.
        seed: of the first script.
        again: the command line, without a file to replay.
        known: the failures that were expected.
    """
    engines = list(identities)
    operations: dict[str, Counter[str]] = {}
    for one in found.handovers:
        if one.outcome == "done":
            operations.setdefault(one.operation, Counter())[one.engine] += 1
    entries = {one.id: one for one in known}
    page: str = _template().render(
        found=found,
        engines=engines,
        identities=identities,
        seed=seed,
        words=WORDS,
        pairs=matrix(found.handovers, engines),
        operations=dict(sorted(operations.items())),
        known=[(entries[id_], count) for id_, count in sorted(found.known.items()) if id_ in entries],
        failures=[
            (one, [(step.engine, dump_json(step.operation)) for step in one.steps],
             f"{again} --replay {shlex.quote(str(one.file))}")
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
        style=Markup(_resource("page.css")),  # noqa: S704 (our own file)
    )  # fmt: skip
    return page


def _resource(name: str) -> str:
    return (files("conformance.reports") / "page" / name).read_text(encoding="utf-8")


@cache
def _template() -> Any:
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=in_page
    )
    return environment.from_string(_resource("relay_page.html.j2"))
