"""The page about the grid: which corruptions have findings, at which level, and which cannot have any."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping
from pathlib import Path

from tools.grid.cells import CHANGES, Cell, cells
from tools.grid.run import Outcomes, reason_not_made

PAGE = Path(__file__).resolve().parents[2] / "docs" / "corruptions.md"

HEAD = """\
# Which corruptions `validate` finds

`python -m tools.grid` writes this page. It takes tables that the reference, Iceberg-Java and PyIceberg wrote, and
changes every field of the spec's field tables in each way: the field is left out (`absent`), is null, has a value of
the wrong type, a different value of its type (which contradicts every other place that states the same fact), and the
lowest and the highest value of its type. Then `validate --level rows` reads the table. Fields that depend on the
changed one are changed with it (counts in the manifest list with the entries of a manifest, headers with schemas), so
that exactly one fact is wrong.

The result of a change is a finding (its severity, its check, and the `--level` that is needed), *legal*, or *not
observable*: no other place in the table states the fact. `iceberg-conformance explain CHECK-ID` describes a check. What
only follows from another finding is left out of a report, so that a lower level may show a different check.
Fields that a table does not have, such as those of a newer version, are left out of it; [the last
table](#changes-that-no-table-has) has the changes that no table has, with the reason. The grid does not change rows of
data and delete files or the contents of blobs; `tests/validate/corruptions` has corruptions of these, written by
hand.
"""


def page(found: Outcomes) -> str:
    """Return the page in Markdown."""
    lines = [HEAD, *_summary(found)]
    structures: dict[str, list[Cell]] = {}
    for cell, outcomes in found.items():
        if outcomes:
            structures.setdefault(cell.structure, []).append(cell)
    for structure, of_structure in structures.items():
        lines += [
            "",
            f"## {structure[0].upper()}{structure[1:]}",
            "",
            "| field | change | what `validate` reports |",
            "|---|---|---|",
        ]
        lines += [row for cell in of_structure for row in _rows(cell, found[cell])]
    return "\n".join([*lines, *_not_made(found)]) + "\n"


def _not_made(found: Outcomes) -> Iterator[str]:
    """Yield the lines about changes that no table has, by field."""
    changes: dict[tuple[str, str, str], list[str]] = {}
    for cell in cells():
        if not found.get(cell):
            reason = reason_not_made(cell) or ""
            changes.setdefault((cell.structure, cell.field, reason), []).append(cell.change)
    yield from ("", "## Changes that no table has", "", "| structure | field | changes | why |", "|---|---|---|---|")
    for (structure, field, reason), names in changes.items():
        yield f"| {structure} | `{field}` | {', '.join(names)} | {reason} |"


def _summary(found: Outcomes) -> Iterator[str]:
    counts: dict[str, collections.Counter[str]] = {change: collections.Counter() for change in CHANGES}
    for cell, outcomes in found.items():
        counts[cell.change].update(one.partition(":")[0] for one in outcomes.values())
    kinds = list(
        dict.fromkeys(
            one
            for one in ("refused", "error", "tolerated", "warning", "info", "legal", "not observable")
            if any(count[one] for count in counts.values())
        )
    )
    yield "| change | " + " | ".join(kinds) + " |"
    yield "|---" * (len(kinds) + 1) + "|"
    for change, count in counts.items():
        yield f"| {change} | " + " | ".join(str(count[kind]) for kind in kinds) + " |"


def _rows(cell: Cell, outcomes: Mapping[str, str]) -> Iterator[str]:
    by_outcome: dict[str, list[str]] = {}
    for table, outcome in outcomes.items():
        by_outcome.setdefault(outcome, []).append(table)
    parts = []
    for outcome, tables in by_outcome.items():
        kind, _, rest = outcome.partition(": ")
        check, _, level = rest.rpartition(" (")
        shown = f"{kind}: `{check}` ({level}" if level.endswith(")") and " " not in check and check else outcome
        parts.append(shown if len(by_outcome) == 1 else f"{shown} - {', '.join(tables)}")
    yield f"| `{cell.field}` | {cell.change} | {'<br>'.join(parts)} |"
