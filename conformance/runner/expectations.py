"""Known deviations: failures of an implementation that are expected, with the evidence for each.

A TOML file (`schemas/expectations.json` is its form)::

    [[deviation]]
    id = "iceberg-java-hashes-uuid-bytes-reversed"  # optional: a stable name, unique among all files
    kind = "deviation"                 # optional: one of `DeviationKind`; deviation by default
    requirements = ["HSH004"]          # optional: the requirements that it breaks; its vectors must name each of them
    engine = "iceberg-java"            # an adapter's name (without @version), or the implementation that it reports
    versions = ["1.10.2"]              # optional: the versions that have it, as the adapter reports them
    vectors = ["hash-uuid-nil"]        # ids of vectors that exist
    does = "hashes the bytes reversed" # what it does, for people
    answer = { ok = 5 }                # optional: its exact answer; any other wrong answer is then a failure.
                                       # { ok = VALUE }, { error = "invalid" }, { crash = true }, or the same as JSON
                                       # text for values that TOML lacks: '{"ok": null}'
    reason = "why it is wrong, and what breaks"
    evidence = "an issue, or a line of the source"
    sometimes = true                   # optional: the answer is undefined (memory past a buffer, order, time), so that
                                       # a run in which the case passes or is unsupported is not a surprise
    points = ["C25"]                   # optional: contradictions of the texts (docs/contradictions.md) that it is about
    counter = "the counterargument"    # optional: the best argument that the engine is right
    upstream = ["https://..."]         # optional: reports of it to the engine's project

With such a file a run is conformant if the failures are exactly these: a failure that is not listed fails the run, and
so does a listed one that no longer happens although its engine, version and vector ran. Entries that can never apply
are wrong usage: a vector that does not exist, an engine that neither ran nor comes with the tool, and two entries for
the same vector and version.

Two adapters that come with the tool may use the same implementation. Its deviations are listed once, under the adapter
with the name of the implementation. They also apply to the other adapter, except for what that one does not support.
"""

from __future__ import annotations

import enum
import json
from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import rtoml
from attrs import field, frozen

from conformance.core.failures import UsageError
from conformance.core.json_text import dump_json, parse_json, pointer_prefix, shorten
from conformance.core.lazy_imports import lazy_imports
from conformance.engine_setup.catalog import catalog
from conformance.engine_setup.deviations import shipped_entries
from conformance.operations.protocol import StartAnswer
from conformance.runner.judge import Outcome, Verdict
from conformance.vectors import Vector

with lazy_imports():
    from conformance.operations import comparison

SHIPPED = "known-deviations"
"""The name, on the command line, of the files that come with the tool."""


OTHER_LISTS = ("matrix.toml", "relay.toml", "scenarios.toml", "catalogs.toml")
"""Files in a folder that have other forms: deprecated, as they no longer come with the tool."""


class DeviationKind(enum.Enum):
    """The kind of a known failure. Only the first is published as "deviates from the spec"."""

    DEVIATION = "deviation"
    """A wrong answer, or a refusal of valid input, by a requirement that binds the engine in the tested role."""

    LENIENCY = "leniency"
    """Malformed input is accepted that the spec does not require a reader to refuse."""

    ROBUSTNESS = "robustness"
    """A wrong kind of error, a crash or a hang, for valid or malformed input."""

    LIMITATION = "limitation"
    """Something is not implemented."""

    CHOICE = "choice"
    """The spec leaves the point open, and the engine chose differently from the reference."""


@frozen
class Deviation:
    """One known deviation of one engine."""

    engine: str
    vectors: tuple[str, ...]
    reason: str
    versions: tuple[str, ...] = ()
    does: str = ""
    answer: dict[str, Any] | None = field(default=None, hash=False)
    evidence: str = ""
    sometimes: bool = False
    """Whether it depends on chance, so that runs in which it does not happen are expected."""

    id: str = ""
    kind: DeviationKind = DeviationKind.DEVIATION
    requirements: tuple[str, ...] = ()
    """The requirements that it breaks; for kinds other than deviations, those that it is about."""

    points: tuple[str, ...] = ()
    """The contradictions of the texts that it is about, besides those that its vectors name."""

    counter: str = ""
    """The best argument that the engine is right."""

    upstream: tuple[str, ...] = ()
    """Links to reports to the engine's project."""

    @property
    def description(self) -> str:
        """What the engine does, and why that is wrong."""
        return f"{self.does}: {self.reason}" if self.does else self.reason

    def broken_requirements(self, proofs: Mapping[str, frozenset[str]]) -> frozenset[str]:
        """Return the requirements that it is about.

        Args:
            proofs: the requirements that each vector proves, by the vector's id.

        Returns:
            Those that it names; else those that all of its vectors share; else those of any of its vectors.
        """
        if self.requirements:
            return frozenset(self.requirements)
        proven = [proofs[id_] for id_ in self.vectors]
        return frozenset.intersection(*proven) or frozenset[str]().union(*proven)

    def applies_to(self, adapter: str, started: StartAnswer) -> bool:
        """Return whether an adapter that ran is this engine, in one of the versions."""
        return self.engine in _names(adapter, started) and (not self.versions or started.version in self.versions)

    def is_shared_with(self, adapter: str) -> bool:
        """Return whether another adapter of the tool uses the same implementation."""
        plain = adapter.partition("@")[0]
        return self.engine != plain and any(engine.name == plain for engine in catalog().engines)

    def matches(self, vector: Vector, verdict: Verdict) -> bool:
        """Return whether a failure is this deviation."""
        match self.answer:
            case None:
                return True
            case {"crash": _}:
                return "crash" in verdict.got
            case {"error": kind}:
                return bool(verdict.got.get("error") == kind)
            case {"ok": value}:
                return "ok" in verdict.got and _same_answer(vector, value, verdict.got["ok"])
        return False


def _same_answer(vector: Vector, stated: Any, got: Any) -> bool:
    if vector.operation.answer_violation(stated) or vector.operation.answer_violation(got):
        return comparison.same_json(stated, got)
    try:
        return not vector.operation.compare(vector.args, stated, got)
    except comparison.Undecodable:  # a wrong answer need not be a value of the type
        return comparison.same_json(stated, got)


@frozen
class Expectations:
    """The deviations of a file or folder."""

    deviations: tuple[Deviation, ...] = ()
    file: str = ""

    def for_adapter(self, adapter: str, started: StartAnswer) -> ExpectedDeviations:
        """Return the deviations that are expected of one adapter.

        Raises:
            UsageError: two deviations are about the same vector of this engine and version.
        """
        by_id: dict[str, Deviation] = {}
        for deviation in self.deviations:
            if deviation.applies_to(adapter, started):
                for id_ in deviation.vectors:
                    if by_id.setdefault(id_, deviation) is not deviation:
                        raise UsageError(f"{self.file}: two deviations of {started} are about the vector {id_}")
        borrowed = {id_ for id_, deviation in by_id.items() if deviation.is_shared_with(adapter)}
        return ExpectedDeviations(by_id, frozenset(borrowed), frozenset(started.format_versions))

    def check_engines(self, ran: Iterable[tuple[str, StartAnswer]], known: Collection[str]) -> None:
        """Check that each deviation names a known engine.

        Args:
            ran: the adapters that ran.
            known: the names of the engines that come with the tool.

        Raises:
            UsageError: a deviation names an engine that neither ran nor comes with the tool, so that it can never
                apply.
        """
        names = set(known) | {name for one, started in ran for name in _names(one, started)}
        for index, deviation in enumerate(self.deviations):
            if deviation.engine not in names:
                what = f"unknown engine {deviation.engine!r}: neither an adapter of this run nor an engine of the tool"
                raise UsageError(f"{self.file}: /deviation/{index}/engine: {what}")


def _names(adapter: str, started: StartAnswer) -> tuple[str, ...]:
    """Return the names by which a deviation can name an adapter that ran."""
    return adapter, adapter.partition("@")[0], started.implementation


@frozen
class ExpectedDeviations:
    """The expected deviations of one adapter, by vector id."""

    by_id: dict[str, Deviation]
    shared_vectors: frozenset[str] = frozenset()
    """Vectors whose deviation is listed under another adapter of the same implementation."""

    format_versions: frozenset[int] = frozenset()
    """The format versions that the release has; empty for all. A deviation of several releases may be about others."""

    def status(self, vector: Vector, verdict: Verdict) -> tuple[str, Deviation | None, str | None]:
        """Return the status of a result, its known deviation, and how it differs from the expectation, if it does."""
        deviation = self.by_id.get(vector.id)
        outcome = verdict.outcome
        if deviation is None:
            return outcome.value, None, None
        match outcome:
            case Outcome.PASSED | Outcome.UNSUPPORTED if deviation.sometimes:
                return outcome.value, None, None
            case Outcome.PASSED:
                return "unexpected-pass", deviation, f"{vector.id}: known deviation now passes; remove it"
            case Outcome.UNSUPPORTED if vector.id in self.shared_vectors or self._concerns_other_release(
                vector, deviation
            ):
                return outcome.value, None, None
            case Outcome.UNSUPPORTED:
                return outcome.value, None, f"{vector.id}: known deviation is now unsupported; remove it"
            case _ if deviation.matches(vector, verdict):
                return "known", deviation, None
            case _:
                stated = dump_json(deviation.answer)
                return outcome.value, None, f"{vector.id}: the failure differs from the known deviation {stated}"

    def _concerns_other_release(self, vector: Vector, deviation: Deviation) -> bool:
        """Return whether a deviation of several releases concerns only others: this one lacks the format versions."""
        lacks = bool(self.format_versions) and self.format_versions.isdisjoint(vector.versions)
        return lacks and len(deviation.versions) > 1


@cache
def _schema() -> jsonschema_rs.Validator:
    text = (Path(__file__).parents[1] / "schemas" / "expectations.json").read_text(encoding="utf-8")
    return jsonschema_rs.validator_for(json.loads(text))


def load_deviations(name: str | Path, ids: Collection[str] | None = None) -> Expectations:
    """Load a file of known deviations, all ``*.toml`` files of a folder, or those that come with the tool.

    Args:
        name: a path, or `SHIPPED`.
        ids: the ids of all vectors, whether or not they are selected; None for no check that the vectors exist.

    Raises:
        UsageError: a file cannot be read, has a wrong form, or names a vector that does not exist.
    """
    if str(name) == SHIPPED:
        of_engines = shipped_entries("deviation")
        return Expectations(
            tuple(
                one for path, content in of_engines for one in _check_vectors(path, _parse_content(path, content), ids)
            ),
            SHIPPED,
        )
    files = deviation_files(name)
    if not files:
        raise UsageError(f"{name}: the folder has no *.toml files")
    return Expectations(
        tuple(one for file in files for one in _check_vectors(file, read_deviations(file), ids)), str(Path(name))
    )


def deviation_files(name: str | Path) -> list[Path]:
    """Return the caller's files that `load_deviations` reads; none for `SHIPPED`.

    Args:
        name: a file or a folder, or `SHIPPED`.
    """
    path = Path(name)
    if str(name) == SHIPPED:
        return []
    return sorted(one for one in path.glob("*.toml") if one.name not in OTHER_LISTS) if path.is_dir() else [path]


def read_deviations(path: Path, text: str | None = None) -> tuple[Deviation, ...]:
    """Read the deviations of one file, whether or not their vectors exist.

    Args:
        path: the file.
        text: its content, if that is known.

    Raises:
        UsageError: the file cannot be read, or has a wrong form.
    """
    try:
        content = rtoml.loads(path.read_text(encoding="utf-8") if text is None else text)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: not known deviations: {error}") from None
    return _parse_content(path, content)


def _parse_content(path: Path, content: dict[str, Any]) -> tuple[Deviation, ...]:
    wrong = next(iter(_schema().iter_errors(content)), None)
    if wrong is not None:
        raise UsageError(f"{path}: not known deviations: {pointer_prefix(wrong.instance_path)}{shorten(wrong.message)}")
    return tuple(_deviation(path, index, row) for index, row in enumerate(content.get("deviation", ())))


def _check_vectors(path: Path, deviations: tuple[Deviation, ...], ids: Collection[str] | None) -> tuple[Deviation, ...]:
    """Return the deviations of a file, after a check that their vectors exist."""
    if ids is None:
        return deviations
    for index, deviation in enumerate(deviations):
        for id_ in deviation.vectors:
            if id_ not in ids:
                raise UsageError(f"{path}: not known deviations: /deviation/{index}/vectors: unknown vector {id_!r}")
    return deviations


def _deviation(path: Path, index: int, row: dict[str, Any]) -> Deviation:
    answer = row.get("answer")
    if isinstance(answer, str):
        try:
            answer = parse_json(answer.encode())
        except ValueError as error:
            raise UsageError(f"{path}: not known deviations: /deviation/{index}/answer: {error}") from None
    if answer is not None and (not isinstance(answer, dict) or len(answer) != 1 or not answer.keys() & _ANSWERS):
        allowed = "one of ok, error and crash"
        raise UsageError(f"{path}: not known deviations: /deviation/{index}/answer: expected {allowed}")
    return Deviation(
        engine=row["engine"],
        vectors=tuple(row["vectors"]),
        reason=row["reason"],
        versions=tuple(row.get("versions", ())),
        does=row.get("does", ""),
        answer=answer,
        evidence=row.get("evidence", ""),
        sometimes=row.get("sometimes", False),
        id=row.get("id", ""),
        kind=DeviationKind(row.get("kind", DeviationKind.DEVIATION.value)),
        requirements=tuple(row.get("requirements", ())),
        points=tuple(row.get("points", ())),
        counter=row.get("counter", ""),
        upstream=tuple(row.get("upstream", ())),
    )


_ANSWERS = {"ok", "error", "crash"}
