"""The features that engines support, counted from the published results, for "Can I use" and the pages of engines."""

from __future__ import annotations

import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from attrs import field, frozen

from conformance.core.spec_links import areas
from conformance.engine_setup.folders import engine_folders
from conformance.interop.cells import GOLDEN, Matrix, ProducedTable, TableOutcome
from conformance.operations.protocol import Ok
from conformance.vectors import Vector
from tools.docs.engines import OURS
from tools.docs.findings import all_vectors, deviations, tables
from tools.docs.results import CHOSE, PASSED, EngineResult, published_matrix, vector_results

FEATURES = Path(__file__).with_name("features.toml")
READS, WRITES = "reads", "writes"

RIGHT, WRONG, REFUSED, CRASHED, UNSUPPORTED = "right", "wrong", "refused", "crashed", "unsupported"
_BY_LETTER = {PASSED: RIGHT, CHOSE: RIGHT, "w": WRONG, "r": REFUSED, "c": CRASHED, "u": UNSUPPORTED}
_BY_OUTCOME = {
    TableOutcome.PASSED: RIGHT,
    TableOutcome.INVALID: WRONG,
    TableOutcome.FAILED: WRONG,
    TableOutcome.REJECTED: REFUSED,
    TableOutcome.CRASHED: CRASHED,
    TableOutcome.UNSUPPORTED: UNSUPPORTED,
}

GOLDEN_TABLE = re.compile(r"/tables/([^/]+)/")


@frozen
class Feature:
    """One row of "Can I use"."""

    title: str
    group: str
    since: int = 1
    """The format version that added it."""

    rules: str = ""
    """The area of requirements that it belongs to."""

    golden: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()
    versions: tuple[int, ...] = ()
    formats: tuple[str, ...] = ()
    """File formats; if empty, only tables whose files are all Parquet count, so that an engine without ORC lacks ORC
    and no other feature."""

    metadata_columns: bool = False
    """Whether only vectors that select reserved columns, such as ``_row_id``, count."""

    @property
    def slug(self) -> str:
        """The anchor of the feature on the page."""
        return "feature-" + re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-")

    def is_about_golden(self, table: str) -> bool:
        """Return whether a golden table uses the feature."""
        if not self.formats and table.endswith(("-orc", "-avro")):
            return False
        return any(fnmatchcase(table, pattern) for pattern in self.golden)

    def counts_vector(self, vector: Vector) -> bool:
        """Return whether a vector that reads such a golden table counts."""
        return self.metadata_columns == any(name.startswith("_") for name in vector.args.get("select", ()))

    def is_about(self, table: ProducedTable) -> bool:
        """Return whether a table of the matrix uses the feature: it matches at least one value of each selector."""
        asked = [
            (self.features, any(one in table.features for one in self.features)),
            (self.scripts, any(fnmatchcase(table.name, pattern) for pattern in self.scripts)),
            (self.versions, table.format_version in self.versions),
        ]
        selected = [holds for wanted, holds in asked if wanted]
        wanted_format = table.file_format in (self.formats or ("parquet",))
        return bool(selected or self.formats) and wanted_format and all(selected)


@frozen
class Cause:
    """A finding that explains a failure."""

    id: str
    engine: str
    title: str

    @property
    def address(self) -> str:
        """The address of the finding on the page of the engine."""
        return f"findings-{self.engine}.html#finding-{self.id.lower()}"


@frozen
class Support:
    """The support of one feature by one engine, in reading or in writing."""

    counts: Counter[str] = field(factory=Counter)
    causes: Counter[Cause] = field(factory=Counter)

    @property
    def verdict(self) -> str:
        """The verdict, one of `VERDICTS`."""
        counts = self.counts
        bad, missing = counts[WRONG] + counts[CRASHED], counts[REFUSED] + counts[UNSUPPORTED]
        if not counts.total():
            return "untested"
        if not counts[RIGHT]:
            return "wrong" if bad else "no"
        if bad:
            return "traps"
        return "partly" if missing else "yes"

    @property
    def summary(self) -> str:
        """The counts as text."""
        if not self.counts.total():
            return "not tested"
        rest = [f"{self.counts[one]} {one}" for one in (WRONG, CRASHED, REFUSED, UNSUPPORTED) if self.counts[one]]
        return ", ".join([f"{self.counts[RIGHT]} of {self.counts.total()} right", *rest])


VERDICTS = {
    "yes": ("✔", "all tested cases are right"),
    "partly": ("◐", "some cases are right; the others are refused or not supported"),
    "traps": ("⚠", "some cases are right; some are wrong or crash"),
    "wrong": ("✖", "no case is right; some are wrong or crash"),
    "no": ("–", "refused or not supported"),
    "untested": ("·", "not tested: no case of this feature was run with the engine"),
}
"""The verdicts, with their signs and meanings."""


@cache
def features() -> tuple[Feature, ...]:
    """Return the features of "Can I use", in order.

    Raises:
        ValueError: a feature names an area of requirements that does not exist.
    """
    content = tomllib.loads(FEATURES.read_text(encoding="utf-8"))
    found = []
    for group in content["group"]:
        for row in group["feature"]:
            lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
            found.append(Feature(**{**row, **lists}, group=group["title"]))
    unknown = [one.rules for one in found if one.rules and one.rules not in areas()]
    if unknown:
        raise ValueError(f"{FEATURES.name}: there is no area {unknown[0]}")
    return tuple(found)


@cache
def engines() -> tuple[EngineResult, ...]:
    """Return the engines with results of reading or writing tables, those of this project last."""
    shown = [one for one in vector_results().engines if any(not _is_empty(one, feature) for feature in features())]
    titles = {one.name: title(one) for one in shown}
    return tuple(sorted(shown, key=lambda one: (one.engine in OURS, titles[one.name].lower(), one.version)))


def _is_empty(engine: EngineResult, feature: Feature) -> bool:
    found = [support(engine.name, feature, side) for side in (READS, WRITES)]
    return all(set(one.counts) <= {UNSUPPORTED} for one in found)


@cache
def _titles() -> dict[str, str]:
    return {one.name: one.title for one in engine_folders()}


def title(engine: EngineResult) -> str:
    """Return the title of an engine."""
    named = _titles().get(engine.name) or _titles().get(engine.engine) or engine.engine
    return f"T{named[1:]}" if named.startswith("this ") else named


@cache
def support(name: str, feature: Feature, side: str) -> Support:
    """Return the support of a feature by an engine.

    Args:
        name: the name of the engine, with its version if it is not the current one.
        feature: the feature.
        side: ``reads`` or ``writes``.
    """
    found = Support()
    if side == READS:
        for golden, vector, letter in _golden_reads(name):
            if feature.is_about_golden(golden) and feature.counts_vector(vector):
                _count(found, _BY_LETTER[letter.lower()], vector_causes(name, vector.id))
    matrix = published_matrix()
    if matrix is not None:
        for state, known_id in _matrix_states(matrix, name, feature, side):
            cause = _table_causes().get(known_id)
            _count(found, state, [] if cause is None else [cause])
    return found


def _count(found: Support, state: str, causes: Iterable[Cause]) -> None:
    found.counts[state] += 1
    if state in (WRONG, CRASHED, REFUSED):
        found.causes.update(causes)


@cache
def golden_vectors() -> dict[str, list[Vector]]:
    """Return the vectors that read valid golden tables, by table."""
    found: dict[str, list[Vector]] = defaultdict(list)
    for vector in all_vectors().values():
        if vector.operation.name == "table.read" and any(isinstance(one, Ok) for one in vector.permitted):
            table = GOLDEN_TABLE.search(str(vector.args.get("table", "")))
            if table:
                found[table[1]].append(vector)
    return dict(found)


@cache
def _golden_reads(name: str) -> list[tuple[str, Vector, str]]:
    letters = vector_results().letters_of_engine(name)
    return [
        (table, vector, letters[vector.id])
        for table, members in golden_vectors().items()
        for vector in members
        if vector.id in letters
    ]


def _matrix_states(matrix: Matrix, name: str, feature: Feature, side: str) -> Iterator[tuple[str, str]]:
    tables_ = {(one.producer, one.name): one for one in matrix.tables if not one.producer.startswith(GOLDEN)}
    if side == WRITES:
        for one in tables_.values():
            if one.producer == name and feature.is_about(one):
                yield _BY_OUTCOME[one.outcome], one.known_id
        return
    if feature.metadata_columns:  # the tables of the matrix are read without metadata columns
        return
    for cell in matrix.cells:
        table = tables_.get((cell.producer, cell.table))
        if cell.consumer == name and table is not None and feature.is_about(table):
            yield _BY_OUTCOME[cell.outcome], cell.known_id


@cache
def _causes_by_vector() -> dict[tuple[str, str], list[tuple[tuple[str, ...], Cause]]]:
    found: dict[tuple[str, str], list[tuple[tuple[str, ...], Cause]]] = defaultdict(list)
    for one in deviations():
        cause = Cause(one.id, one.engine, one.does or one.reason)
        for id_ in one.vectors:
            found[one.engine, id_].append((one.versions, cause))
    return dict(found)


def tested_engine(name: str) -> EngineResult:
    """Return the run of the engine with a name."""
    return next(one for one in vector_results().engines if one.name == name)


def vector_causes(name: str, id_: str) -> list[Cause]:
    """Return the findings about an engine, at the tested version, that a vector shows.

    Args:
        name: the name of the engine.
        id_: the id of the vector.
    """
    engine = tested_engine(name)
    found = _causes_by_vector().get((engine.engine, id_), [])
    return [cause for versions, cause in found if not versions or engine.version in versions]


@cache
def _table_causes() -> dict[str, Cause]:
    return {one.id: Cause(one.id, one.adapter.partition("@")[0], one.reason) for one in tables()}


def unmatched(selected: Sequence[Feature]) -> list[str]:
    """Return the patterns of features that select neither a golden table nor a script; each is a mistake.

    Args:
        selected: the features.
    """
    from conformance.interop.catalogue import variants

    names = [one.name for one in variants()]
    wrong = []
    for feature in selected:
        wrong += [one for one in feature.golden if not any(fnmatchcase(table, one) for table in golden_vectors())]
        wrong += [one for one in feature.scripts if not any(fnmatchcase(name, one) for name in names)]
    return wrong
