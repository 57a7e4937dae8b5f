"""Vectors of partition evolution (Partition Evolution; Partitioning)."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive import awkward
from tools.derive.metadata import Document, topic_files
from tools.derive.metadata_bases import NESTED, SPEC
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

SECTION = "spec: Partitioning; Partition Evolution"
SCHEMA: Document = {"type": "struct", "schema-id": 0, "fields": NESTED}
EMPTY: Document = {"spec-id": 0, "fields": []}
DAY, BUCKET = SPEC["fields"]
NEW = 2
"""Stands for any id that the table has not given to a spec."""


def _field(source: int, field_id: int, name: str, transform: str) -> Document:
    return {"source-id": source, "field-id": field_id, "name": name, "transform": transform}


def _add(source: int, transform: str, name: str) -> Document:
    return {"op": "add", "source": [source], "transform": transform, "name": name}


def _args(changes: list[Document], version: int, default: int = 1, last: int = 1001) -> Document:
    return {
        "schema": SCHEMA,
        "format_version": version,
        "partition_specs": [EMPTY, SPEC],
        "default_spec_id": default,
        "last_partition_id": last,
        "changes": changes,
    }


def _made(fields: list[Document], last: int = 1001, spec_id: int = NEW) -> Document:
    return {"spec-id": spec_id, "fields": fields, "last-partition-id": last}


REMOVE_DAY: Document = {"op": "remove", "name": "ts_day"}
REMOVE_BUCKET: Document = {"op": "remove", "name": "id_bucket"}

# name, codes, changes, default spec, answer, note

GOOD: list[tuple[str, tuple[str, ...], list[Document], int, Document, str]] = [
    (
        "add",
        ("PAR010", "PAR013"),
        [_add(2, "identity", "data")],
        1,
        _made([DAY, BUCKET, _field(2, 1002, "data", "identity")], 1002),
        "a new field has an id above the last",
    ),
    (
        "add-nested",
        ("PAR010", "PAR013"),
        [_add(5, "truncate[10]", "x")],
        1,
        _made([DAY, BUCKET, _field(5, 1002, "x", "truncate[10]")], 1002),
        "the source is a field of a struct",
    ),
    (
        "add-two",
        ("PAR010", "PAR013"),
        [_add(2, "identity", "data"), _add(3, "hour", "ts_hour")],
        1,
        _made([DAY, BUCKET, _field(2, 1002, "data", "identity"), _field(3, 1003, "ts_hour", "hour")], 1003),
        "two new fields",
    ),
    (
        "add-to-unpartitioned",
        ("PAR010", "PAR013"),
        [_add(2, "bucket[4]", "data_bucket")],
        0,
        _made([_field(2, 1002, "data_bucket", "bucket[4]")], 1002),
        "ids are above those of every spec",
    ),
    (
        "add-void",
        ("PAR010", "TRN015"),
        [_add(2, "void", "nothing")],
        1,
        _made([DAY, BUCKET, _field(2, 1002, "nothing", "void")], 1002),
        "void takes any source",
    ),
    ("remove-last", ("PAR012", "PAR010"), [REMOVE_BUCKET], 1, _made([DAY]), "the other field keeps its id"),
    ("remove-first", ("PAR012", "PAR010"), [REMOVE_DAY], 1, _made([BUCKET]), "the other field keeps its id"),
    (
        "rename",
        ("PAR012", "PAR010"),
        [{"op": "rename", "name": "ts_day", "to": "day"}],
        1,
        _made([{**DAY, "name": "day"}, BUCKET]),
        "a renamed field keeps its id",
    ),
    (
        "move",
        ("PAR012", "PAR010"),
        [{"op": "move", "name": "ts_day", "after": "id_bucket"}],
        1,
        _made([BUCKET, DAY]),
        "reordered fields keep their ids",
    ),
    (
        "move-first",
        ("PAR012", "PAR010"),
        [{"op": "move", "name": "id_bucket", "after": None}],
        1,
        _made([BUCKET, DAY]),
        "reordered fields keep their ids",
    ),
    (
        "remove-all",
        ("PAR008",),
        [REMOVE_DAY, REMOVE_BUCKET],
        1,
        _made([], spec_id=0),
        "the table already has the unpartitioned spec",
    ),
    (
        "same-again",
        ("PAR008",),
        [_add(3, "day", "ts_day"), _add(1, "bucket[16]", "id_bucket")],
        0,
        _made([DAY, BUCKET], spec_id=1),
        "the table already has an equivalent spec",
    ),
    (
        "rename-back",
        ("PAR008",),
        [{"op": "rename", "name": "ts_day", "to": "day"}, {"op": "rename", "name": "day", "to": "ts_day"}],
        1,
        _made([DAY, BUCKET], spec_id=1),
        "the spec does not change",
    ),
    (
        "field-again",
        ("PAR009",),
        [_add(1, "bucket[16]", "id_bucket")],
        0,
        _made([BUCKET]),
        "a field that an older spec has keeps its id",
    ),
    (
        "remove-and-add",
        ("PAR009",),
        [REMOVE_DAY, _add(3, "day", "ts_day")],
        1,
        _made([BUCKET, DAY]),
        "a field that was removed comes back with its id",
    ),
    (
        "other-parameter",
        ("PAR009", "PAR013"),
        [REMOVE_BUCKET, _add(1, "bucket[32]", "id_bucket")],
        1,
        _made([DAY, _field(1, 1002, "id_bucket", "bucket[32]")], 1002),
        "a different transform makes a different field",
    ),
    (
        "other-source",
        ("PAR009", "PAR013"),
        [REMOVE_BUCKET, _add(5, "bucket[16]", "id_bucket")],
        1,
        _made([DAY, _field(5, 1002, "id_bucket", "bucket[16]")], 1002),
        "a different source makes a different field",
    ),
]

BAD: list[tuple[str, tuple[str, ...], list[Document], str]] = [
    ("missing-source", ("PAR004",), [_add(99, "identity", "p")], "no column has the id"),
    ("element", ("PAR004",), [_add(8, "identity", "p")], "the source is the element of a list"),
    ("key", ("PAR004",), [_add(10, "identity", "p")], "the source is the key of a map"),
    ("value", ("PAR004",), [_add(11, "identity", "p")], "the source is the value of a map"),
    ("struct", ("PAR004",), [_add(4, "identity", "p")], "the source is a struct"),
    ("bucket-of-double", ("TRN003",), [_add(6, "bucket[16]", "p")], "bucket does not take a double"),
    ("truncate-of-timestamptz", ("TRN005",), [_add(3, "truncate[16]", "p")], "truncate does not take a timestamptz"),
    ("year-of-string", ("TRN010",), [_add(2, "year", "p")], "year does not take a string"),
    ("month-of-long", ("TRN011",), [_add(1, "month", "p")], "month does not take a long"),
    ("day-of-long", ("TRN012",), [_add(1, "day", "p")], "day does not take a long"),
    ("hour-of-string", ("TRN014",), [_add(2, "hour", "p")], "hour does not take a string"),
    ("bucket-0", ("TRN017",), [_add(1, "bucket[0]", "p")], "the parameter is positive"),
    ("truncate-negative", ("TRN017",), [_add(1, "truncate[-1]", "p")], "the parameter is positive"),
    ("remove-missing", ("PAR010",), [{"op": "remove", "name": "nothing"}], "no field has the name"),
    ("remove-by-column", ("PAR010",), [{"op": "remove", "name": "ts"}], "a column's name is not the field's"),
    ("rename-missing", ("PAR010",), [{"op": "rename", "name": "nothing", "to": "p"}], "no field has the name"),
]


def evolution() -> Iterator[Vector]:
    """Yield cases of changes of specs in v2 and v3."""
    for name, codes, changes, default, answer, note in GOOD:
        for version in (2, 3):
            yield Vector(
                f"spec-v{version}-{name}",
                codes,
                _args(changes, version, default),
                ok(answer),
                SECTION,
                note,
                only=(version,),
            )
    yield Vector(
        "spec-v2-add-above-dropped-ids",
        ("PAR013",),
        _args([_add(2, "identity", "data")], 2, last=1010),
        ok(_made([DAY, BUCKET, _field(2, 1011, "data", "identity")], 1011)),
        SECTION,
        "an id is not given twice, although no spec has it now",
        only=(2,),
    )
    added = [(f"bucket[{width}]", name) for width, name in enumerate((*awkward.NAMES, "dot.ted"), 100)]
    named = [_field(1, id_, name, transform) for id_, (transform, name) in enumerate(added, 1002)]
    yield Vector(
        "spec-v2-awkward-names",
        ("PAR001", "PAR010"),
        _args([_add(1, transform, name) for transform, name in added], 2),
        ok(_made([DAY, BUCKET, *named], 1001 + len(named))),
        SECTION,
        "names are not trimmed, folded or normalised",
        only=(2,),
    )
    twice = [DAY, BUCKET, _field(2, 1002, "ts_day", "identity")]
    yield Vector(
        "spec-v2-name-twice",
        ("PAR002",),
        _args([_add(2, "identity", "ts_day")], 2),
        any_of(INVALID, ok(_made(twice, 1002))),
        SECTION,
        "two fields of a spec have the same name",
        ("C25",),
        (2,),
    )
    alias = [DAY, BUCKET, _field(1, 1002, "other", "bucket[16]")]
    yield Vector(
        "spec-v2-same-under-another-name",
        ("PAR009",),
        _args([_add(1, "bucket[16]", "other")], 2),
        any_of(ok(_made(alias, 1002)), INVALID),
        SECTION,
        "a second field with the same source and transform",
        ("C25",),
        (2,),
    )
    again: list[Document] = [{"op": "rename", "name": "ts_day", "to": "day"}, _add(3, "day", "ts_day")]
    both = [{**DAY, "name": "day"}, BUCKET, _field(3, 1002, "ts_day", "day")]
    for version in (2, 3):
        yield Vector(
            f"spec-v{version}-renamed-field-again",
            ("PAR025", "PAR009"),
            _args(again, version),
            any_of(ok(_made(both, 1002)), INVALID),
            SECTION,
            "a field of an older spec comes back, but another field of the new spec has its id",
            ("C25",),
            (version,),
        )


def refusals() -> Iterator[Vector]:
    """Yield cases of changes that no version allows."""
    for name, codes, changes, note in BAD:
        for version in (1, 2, 3):
            yield Vector(
                f"spec-v{version}-{name}", codes, _args(changes, version), INVALID, SECTION, note, only=(version,)
            )


def first_version() -> Iterator[Vector]:
    """Yield cases of changes of specs in v1, where ids are counted by position."""
    void = {**DAY, "transform": "void"}
    recommended = "spec: Partition Evolution, the rules that are recommended for v1"
    counted = {**BUCKET, "field-id": 1000}
    yield Vector(
        "spec-v1-add",
        ("PAR014", "PAR010"),
        _args([_add(2, "identity", "data")], 1),
        ok(_made([DAY, BUCKET, _field(2, 1002, "data", "identity")], 1002)),
        SECTION,
        "a new field is added at the end with the next id",
        only=(1,),
    )
    yield Vector(
        "spec-v1-remove-first",
        ("PAR015", "TRN016"),
        _args([REMOVE_DAY], 1),
        any_of(ok(_made([void, BUCKET])), ok(_made([counted]))),
        recommended,
        "void in place of the field keeps the id of the next",
        ("E19",),
        (1,),
    )
    last_void = {**BUCKET, "transform": "void"}
    yield Vector(
        "spec-v1-remove-last",
        ("PAR015", "TRN016"),
        _args([REMOVE_BUCKET], 1),
        any_of(ok(_made([DAY, last_void])), ok(_made([DAY]))),
        recommended,
        "void in place of the last field, too",
        ("E19",),
        (1,),
    )
    moved: list[Document] = [{"op": "move", "name": "ts_day", "after": "id_bucket"}]
    yield Vector(
        "spec-v1-move",
        ("PAR015", "PAR010"),
        _args(moved, 1),
        any_of(INVALID, ok(_made([counted, {**DAY, "field-id": 1001}]))),
        recommended,
        "reordering changes what the ids stand for",
        ("E19",),
        (1,),
    )
    yield Vector(
        "spec-v1-rename",
        ("PAR010", "PAR012"),
        _args([{"op": "rename", "name": "ts_day", "to": "day"}], 1),
        ok(_made([{**DAY, "name": "day"}, BUCKET])),
        SECTION,
        "a name does not change an id",
        only=(1,),
    )
    stored = {**_args([_add(2, "identity", "data")], 1), "partition_specs": [EMPTY, {**SPEC, "fields": [BUCKET]}]}
    yield Vector(
        "spec-v1-add-after-a-stored-id",
        ("PAR025", "PAR014"),
        stored,
        any_of(
            ok(_made([BUCKET, _field(2, 1002, "data", "identity")], 1002)),
            ok(_made([counted, _field(2, 1001, "data", "identity")], 1001)),
            INVALID,
        ),
        SECTION,
        "the first field has 1001, where ids of v1 count up from 1000; no two fields get one id",
        ("E18",),
        (1,),
    )


def files() -> Iterator[VectorFile]:
    """Yield the files of partition evolution."""
    for topic, vectors in (("evolve", evolution()), ("refusals", refusals()), ("v1", first_version())):
        yield from topic_files(f"partition-evolution/{topic}", "partition-spec.evolve", list(vectors))
