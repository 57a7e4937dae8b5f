"""Table metadata with awkward names, texts and default values, which must be read, written and upgraded unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tools.derive import awkward
from tools.derive.json_value import json_forms
from tools.derive.metadata import Document, apply_edits, canonical, select_members, topic_files
from tools.derive.metadata_bases import BASES, FIRST, ID, LOCATION, SECOND, V2_SMALL
from tools.derive.metadata_retention import AGE, CHAIN, COUNT, NEVER, REF_AGE, table
from tools.derive.metadata_retention import case as expiry
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

ORIGIN = "derivation: names and texts have no form but their own"
NAMES = (*awkward.NAMES, "dot.ted")

COLUMNS: list[Document] = [
    ID,
    *(
        {"id": id_, "name": name, "required": False, "type": "int", "doc": name}
        for id_, name in enumerate(awkward.NAMES, 2)
    ),
]
FIELDS: list[Document] = [
    {"source-id": 1, "field-id": id_, "name": f"{name}_bucket", "transform": f"bucket[{id_}]"}
    for id_, name in enumerate(NAMES, 1000)
]
NAMED: Document = apply_edits(
    V2_SMALL,
    {
        "/last-column-id": 1 + len(awkward.NAMES),
        "/schemas": [{"type": "struct", "schema-id": 0, "fields": COLUMNS}],
        "/partition-specs": [{"spec-id": 0, "fields": FIELDS}],
        "/last-partition-id": 999 + len(FIELDS),
        "/properties": {name: f"={name}" for name in NAMES},
        "/refs": {
            "main": {"snapshot-id": SECOND, "type": "branch"},
            **{name: {"snapshot-id": FIRST, "type": "tag"} for name in NAMES},
        },
    },
)
"""A table whose columns, properties and references have names that engines easily alter."""

MEMBERS = (
    ("columns", "TYP002", ("schemas",)),
    ("partition-fields", "TMD011", ("partition-specs",)),
    ("properties", "TMD014", ("properties",)),
    ("refs", "TMD021", ("refs",)),
)
"""The parts of metadata that have names: the part, its requirement, and the members of the document."""

TEXTS: Document = apply_edits(V2_SMALL, {"/properties": awkward.TEXTS})
"""A table whose properties have values that are easily changed."""


ASKED = ("boolean-true", "decimal-zeros-at-the-end", "int-max")
"""Default values that valid neighbours of broken documents already have (`metadata-default-*-valid`)."""


def _names() -> Iterator[tuple[str, str, Document, Document]]:
    """Yield the part, the requirement, the arguments of the request and the expected members of each part."""
    for name, code, document, members in (
        *((name, code, NAMED, members) for name, code, members in MEMBERS),
        ("texts", "TMD014", TEXTS, ("properties",)),
    ):
        yield name, code, {"metadata": document, "select": list(members)}, select_members(canonical(document), members)


def reads() -> Iterator[Vector]:
    """Yield cases of names, texts and paths of documents that are read."""
    for name, code, args, form in _names():
        yield Vector(
            f"metadata-read-awkward-{name}",
            (code,),
            args,
            ok(form),
            ORIGIN,
            "names and texts are not trimmed, folded or normalised",
            only=(2,),
        )
    for number, name in enumerate(NAMES):
        document = apply_edits(V2_SMALL, {"/location": f"{LOCATION}/{name}"})
        yield Vector(
            f"metadata-read-awkward-location-{number}",
            ("TMD003",),
            {"metadata": document, "select": ["location"]},
            ok({"location": f"{LOCATION}/{name}"}),
            ORIGIN,
            "a location is used as it is",
            only=(2,),
        )


def defaults() -> Iterator[Vector]:
    """Yield cases of columns with an awkward default value that JSON can represent."""
    for name, type_, value, note in awkward.EVERY_ROW:
        if value in ("NaN", "Infinity", "-Infinity") or name in ASKED:
            continue
        default = json_forms(type_, value)[0]
        field = {
            "id": 2,
            "name": "data",
            "required": False,
            "type": type_,
            "initial-default": default,
            "write-default": default,
        }
        document = apply_edits(BASES["v3-minimal"], {"/schemas/0/fields/1": field})
        form = select_members(canonical(document), ("schemas",))
        far = awkward.is_far(name, type_)  # a year that does not have four digits
        yield Vector(
            f"metadata-read-awkward-default-{name}",
            ("JSC008", "DEF001"),
            {"metadata": document, "select": ["schemas"]},
            any_of(ok(form), INVALID) if far else ok(form),
            "derivation: the default is the JSON single value that is there",
            note,
            ("E4",) if far else (),
            (3,),
        )


def writes() -> Iterator[Vector]:
    """Yield cases of names and texts of documents that are written."""
    for name, code, args, _ in _names():
        form = {member: args["metadata"][member] for member in args["select"]}
        yield Vector(
            f"metadata-write-awkward-{name}",
            (code,),
            {**args, "format_version": 2},
            ok(form),
            ORIGIN,
            "names and texts are not trimmed, folded or normalised",
            only=(2,),
        )


def upgrades() -> Iterator[Vector]:
    """Yield cases of names and texts of documents that are upgraded."""
    for name, _, args, form in _names():
        yield Vector(
            f"upgrade-awkward-{name}",
            ("VER003",),
            {**args, "format_version": 3},
            ok(form),
            ORIGIN,
            "everything stays",
            only=(3,),
        )


def expiries() -> Iterator[Vector]:
    """Yield cases of references with awkward names, every other one of which has expired."""
    refs: dict[str, Any] = {
        name: {"snapshot-id": 3, "type": "tag", **({"max-ref-age-ms": 1} if number % 2 else {})}
        for number, name in enumerate(NAMES)
    }
    main = {"main": {"snapshot-id": 5, "type": "branch"}}
    document = table(CHAIN, {**main, **refs}, 5, {COUNT: 1, AGE: 1, REF_AGE: NEVER})
    yield expiry("awkward-names", ("REF005",), document, "each name is that of one reference")


def files() -> Iterator[VectorFile]:
    """Derive the vector files of awkward table metadata."""
    read = [*reads(), *defaults()]
    yield from topic_files("table-metadata/read-awkward", "metadata.read", read)
    yield from topic_files("table-metadata/write-awkward", "metadata.write", list(writes()))
    yield from topic_files("upgrades/upgrade-awkward", "metadata.upgrade", list(upgrades()))
    yield from topic_files("snapshot-retention/awkward", "retention.expire", list(expiries()))
