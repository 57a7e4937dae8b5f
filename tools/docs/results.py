"""The published results: small files with the results that the site shows, made from results files.

    python -m tools.docs.results FOLDER     read the results files of a folder, write ``docs/results``

A run of the vectors writes tens of megabytes. The site needs one letter for each vector and engine, one for each table
and consumer of a matrix, and the counts of relays and of catalogs under stress. These are kept with the sources, so
that building the site needs no engine. The files of the folder are recognised by their content: ``*.jsonl`` of
``run --results`` and ``matrix --results``, ``relay*.json`` of ``relay --format json``, and ``stress*.json`` of
``race stress --format json``. If the folder has no file of a kind, the published file of this kind does not change.
Results of vectors are added to those that are published: an engine keeps its result of each vector that no newer run of
the same version includes. Results of an engine or a vector that is no longer part of the package are removed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from attrs import asdict, evolve, frozen

from conformance.core.failures import UsageError
from conformance.interop import results as matrix_results
from conformance.interop.cells import Cell, Matrix, Participant, ProducedTable, TableOutcome, reading_outcome
from conformance.runner import results as run_results
from conformance.runner.results import Result, Run
from spec_ref.core.json_types import Json
from tools.entry_point import run_main

PUBLISHED = Path(__file__).resolve().parents[2] / "docs" / "results"
VECTORS, MATRIX, RELAYS, STRESS = "vectors.jsonl", "matrix.json", "relays.json", "stress.json"
FORM, MATRIX_FORM = 1, 2

PASSED, CHOSE, NOT_ASKED = "p", "o", "."
LETTERS = {
    PASSED: "passed",
    CHOSE: "chose differently at an open point",
    "w": "wrong",
    "r": "refused",
    "c": "crashed, or failed with an internal error",
    "u": "unsupported",
}
"""The results of a vector with an engine; a capital letter is a failure that was not known at the time of the run."""

_LETTERS = {
    TableOutcome.PASSED: PASSED,
    TableOutcome.FAILED: "w",
    TableOutcome.REJECTED: "r",
    TableOutcome.CRASHED: "c",
    TableOutcome.UNSUPPORTED: "u",
}
_OUTCOMES = {letter: outcome for outcome, letter in _LETTERS.items()}


@frozen
class EngineResult:
    """One engine at one version that took part in a run."""

    name: str
    implementation: str
    version: str
    language: str
    started: str
    """The start time of the run."""

    tool: str

    @property
    def engine(self) -> str:
        """The name of the engine without the version."""
        return self.name.partition("@")[0]


@frozen
class VectorResults:
    """The result of each vector with each engine."""

    engines: tuple[EngineResult, ...]
    letters: Mapping[str, str]
    """By the id of the vector, a letter for each of `engines`."""

    def letters_of_engine(self, name: str) -> dict[str, str]:
        """Return the letters of one engine by vector, without vectors that it did not run."""
        at = [one.name for one in self.engines].index(name)
        return {id_: letters[at] for id_, letters in self.letters.items() if letters[at] != NOT_ASKED}


def letter(result: Result) -> str:
    """Return the letter for a result."""
    if result.status == "known" and result.deviation_kind == "choice":
        return CHOSE
    got = result.got or {}
    made = _LETTERS[reading_outcome(result.outcome, got)]
    if made == "w" and "error" in got:
        made = "c"
    return made if result.status in ("known", "passed", "unsupported") else made.upper()


def summarise_runs(runs: Iterable[Run], published: VectorResults) -> list[Json]:
    """Return the lines of ``vectors.jsonl``: a header, and a line for each vector.

    Args:
        runs: the runs; if several include a vector with an engine, the one that began last applies.
        published: earlier results, which apply where no run has the vector with the same version of the engine.
    """
    asked = {one.name: one for one in published.engines}
    letters = {name: published.letters_of_engine(name) for name in asked}
    for run in sorted(runs, key=lambda one: str(one.header["started"])):
        for one in run.adapters:
            if one.not_examined:
                continue
            if one.name in asked and asked[one.name].version != one.version:
                letters[one.name] = {}
            asked[one.name] = EngineResult(
                one.name, one.implementation, one.version, one.language, run.header["started"], run.header["tool"]
            )
            letters.setdefault(one.name, {}).update(
                (result.id, letter(result)) for result in run.adapter_results(one.name)
            )
    names = sorted(asked)
    header = {"kind": "header", "form": FORM, "adapters": [asdict(asked[name]) for name in names]}
    ids = sorted({id_ for found in letters.values() for id_ in found})
    return [header, *([id_, "".join(letters[name].get(id_, NOT_ASKED) for name in names)] for id_ in ids)]


def summarise_matrix(matrix: Matrix) -> Json:
    """Return the content of ``matrix.json``: a table's cells are one string, with a letter for each consumer.

    A known deviation is stored by its id, and by its reason if it has none, as in files of earlier versions.
    """
    consumers = [one.name for one in matrix.consumers]
    cells = {(cell.producer, cell.table, cell.consumer): cell for cell in matrix.cells}
    reasons: dict[str, int] = {}
    ids: dict[str, int] = {}
    tables = []
    for table in matrix.tables:
        row = [cells.get((table.producer, table.name, name)) for name in consumers]
        known = {
            name: cell.known_id or cell.known
            for name, cell in zip(consumers, row, strict=True)
            if cell is not None and cell.known
        }
        tables.append(
            {
                "producer": table.producer,
                "name": table.name,
                "about": table.about,
                "version": table.format_version,
                "format": table.file_format,
                "features": list(table.features),
                "outcome": table.outcome.value,
                "cells": "".join(map(_cell_letter, row)),
                "known": {name: ids.setdefault(id_, len(ids)) for name, id_ in known.items()},
            }
            | ({"known_table": ids.setdefault(table.known_id or table.known, len(ids))} if table.known else {})
            | ({"reason": reasons.setdefault(_short(table.reason), len(reasons))} if table.reason else {})
        )
    return {
        "form": MATRIX_FORM,
        "header": {key: matrix.header[key] for key in ("started", "tool")},
        "participants": [matrix_results.record_json(evolve(one, seconds=0.0)) for one in matrix.participants],
        "consumers": consumers,
        "known_ids": list(ids),
        "reasons": list(reasons),
        "tables": tables,
        "complete": matrix.complete,
        "exit_status": matrix.exit_status,
    }


_SCRATCH = re.compile(r"(?<![A-Za-z0-9])/(?:tmp|home|root|work|var)/[^\s\"']*")
"""A path of the machine on which the results were made."""


def _short(text: str) -> str:
    line = " ".join(_SCRATCH.sub("...", text).split())
    return line if len(line) <= 200 else line[:197] + "..."


def _cell_letter(cell: Cell | None) -> str:
    if cell is None:
        return NOT_ASKED
    made = _LETTERS[cell.outcome]
    return made.upper() if cell.is_new else made


def read_vectors() -> VectorResults:
    """Return the published results of the vectors; empty if there are none."""
    file = PUBLISHED / VECTORS
    if not file.exists():
        return VectorResults((), {})
    header, *rows = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    return VectorResults(tuple(EngineResult(**one) for one in header["adapters"]), dict(rows))


def read_matrix() -> Matrix | None:
    """Return the published matrix, without the differences of its cells; None if there is none."""
    file = PUBLISHED / MATRIX
    if not file.exists():
        return None
    content = json.loads(file.read_text(encoding="utf-8"))
    matrix = Matrix(content["header"], complete=content["complete"], exit_status=content["exit_status"])
    matrix.participants += [Participant(**one) for one in content["participants"]]
    reasons, ids = content["reasons"], content["known_ids"]
    descriptions = _descriptions()
    for row in content["tables"]:
        producer, name = row["producer"], row["name"]
        reason = reasons[row["reason"]] if "reason" in row else ""
        id_ = ids[row["known_table"]] if "known_table" in row else ""
        matrix.tables.append(
            ProducedTable(
                producer,
                name,
                tuple(row["features"]),
                row["version"],
                row["format"],
                row["about"],
                TableOutcome(row["outcome"]),
                reason,
                known=descriptions.get(id_, id_),
                known_id=id_ if id_ in descriptions else "",
            )
        )
        for consumer, char in zip(content["consumers"], row["cells"], strict=True):
            if char != NOT_ASKED:
                id_ = ids[row["known"][consumer]] if consumer in row["known"] else ""
                outcome, known = _OUTCOMES[char.lower()], descriptions.get(id_, id_)
                known_id = id_ if id_ in descriptions else ""
                matrix.cells.append(Cell(producer, consumer, name, outcome, known=known, known_id=known_id))
    return matrix


def _descriptions() -> dict[str, str]:
    """Return the description of each known deviation that ships, by id: the current wording, not that of the run."""
    from tools.docs.findings import deviations, tables

    return {one.id: one.description for one in deviations()} | {one.id: one.reason for one in tables()}


def read_list(name: str) -> list[Json]:
    """Return the published relays, or runs of catalogs under stress."""
    file = PUBLISHED / name
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else []


vector_results = cache(read_vectors)
published_matrix = cache(read_matrix)


def summarise_relay(relay: Json, day: str) -> Json:
    """Return the published summary of a relay, without paths of this machine."""
    failures = [
        {key: value for key, value in one.items() if key not in ("file", "reproduce")} for one in relay["failures"]
    ]
    return {"day": day, **relay, "failures": failures}


def summarise_stress(run: Json, day: str) -> Json:
    """Return the published summary of a catalog under stress, without addresses and paths of this machine."""
    errors = Counter(re.match(r"[A-Za-z_.]*", text)[0] for text in run.get("errors", {}))  # type: ignore[index]
    problems = [_short(text) for text in run["problems"]]
    kept = {key: value for key, value in run.items() if key not in ("catalog", "errors", "problems")}
    return {"day": day, **kept, "errors": dict(errors), "problems": problems[:5], "problem_count": len(problems)}


def publish(folder: Path) -> list[str]:
    """Make the published results from the results files of a folder.

    Args:
        folder: the folder with the results files.

    Returns:
        A line for each file that was written.

    Raises:
        UsageError: a file is invalid, or belongs to an incomplete run.
    """
    runs: list[Run] = []
    matrices: list[Matrix] = []
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline() or "{}")
        if "vectors" in header:
            runs.append(run_results.read(path))
        elif "matrix" in header:
            matrices.append(matrix_results.read(path))
        else:
            continue
        if not (runs if "vectors" in header else matrices)[-1].complete:
            raise UsageError(f"{path}: the run is not complete, and is not published")
    relays, stress = [], []
    for path in sorted(folder.glob("*.json")):
        if not path.name.startswith(("relay", "stress")) or not path.stat().st_size:
            continue
        content = json.loads(path.read_text(encoding="utf-8"))
        day = _day(path)
        if "handovers" in content:
            relays.append(summarise_relay(content, day))
        elif "acknowledged" in content:
            stress.append(summarise_stress(content, day))
    PUBLISHED.mkdir(parents=True, exist_ok=True)
    written = []
    if runs:
        written.append(_write(VECTORS, summarise_runs(runs, _still_shipped(read_vectors()))))
    if matrices:
        written.append(_write(MATRIX, _by_line(summarise_matrix(max(matrices, key=lambda one: one.header["started"])))))
    for name, found in ((RELAYS, relays), (STRESS, stress)):
        if found:
            written.append(_write(name, _by_line(found)))
    return written


def _still_shipped(found: VectorResults) -> VectorResults:
    """Return published results without engines and vectors that are no longer part of the package."""
    from conformance.engine_setup.folders import engine_folders
    from tools.docs.findings import all_vectors

    engines = {folder.name for folder in engine_folders()}
    places = [place for place, one in enumerate(found.engines) if one.engine in engines]
    letters = {
        id_: "".join(letters[place] for place in places)
        for id_, letters in found.letters.items()
        if id_ in all_vectors()
    }
    return VectorResults(tuple(found.engines[place] for place in places), letters)


def _day(path: Path) -> str:
    """Return the day on which a file was written, for results that do not state when they ran."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(path.stat().st_mtime, UTC).date().isoformat()


def _by_line(content: Json) -> str:
    """Format JSON with a line for each table or run, so that a change of one changes one line."""
    if isinstance(content, list):
        return "[\n" + ",\n".join(map(_compact, content)) + "\n]\n"
    head = {key: value for key, value in content.items() if key != "tables"}
    rows = ",\n".join(map(_compact, content["tables"]))
    return _compact(head)[:-1] + ',"tables":[\n' + rows + "\n]}\n"


def _compact(content: Json) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))


def _write(name: str, content: str | Sequence[Json]) -> str:
    text = content if isinstance(content, str) else "".join(f"{_compact(line)}\n" for line in content)
    (PUBLISHED / name).write_text(text, encoding="utf-8")
    return f"{name}: {len(text.encode()):,} bytes"


def main(arguments: Sequence[str]) -> int:
    """Publish the results in a folder; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.docs.results", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("folder", type=Path, help="the folder with results files, such as results")
    folder = parser.parse_args(arguments).folder
    try:
        written = publish(folder)
    except UsageError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(written) or f"{folder}: no results files")
    return 0 if written else 2


if __name__ == "__main__":
    run_main(main, sys.argv[1:])
