"""Coverage of awkward values: which operation gets which values in the vectors.

A cell is an operation, a type and a class of values, as listed in ``awkward_values.toml``. It is covered if a
vector's request or one of its permitted answers contains a value of the class.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import rtoml
from attrs import field, frozen

from conformance.operations.wire import to_exchange
from conformance.vectors import shipped
from spec_ref.core.errors import SpecError
from spec_ref.schemas.type_json import type_from_json
from spec_ref.single_value.binary import from_binary

TABLE = Path(__file__).with_suffix(".toml")

TypedValue = tuple[str, Any]
"""A value in the exchange form, and the name of its type without parameters."""


@frozen(order=True)
class CoverageCell:
    """A class of values of a type that an operation must get in some vector."""

    operation: str
    type: str
    value_class: str

    def __str__(self) -> str:
        return f"{self.operation} / {self.type} / {self.value_class}"


@frozen
class Explanation:
    """The reason why no vector can cover some cells."""

    cells: re.Pattern[str]
    reason: str


@frozen
class AwkwardValues:
    """The table: classes by type, types by operation, and the cells that cannot be covered."""

    classes: Mapping[str, Mapping[str, re.Pattern[str]]] = field(hash=False)
    operations: Mapping[str, tuple[str, ...]] = field(hash=False)
    explained: tuple[Explanation, ...]

    def cells(self) -> Iterator[CoverageCell]:
        """Yield every operation with every class of each of its types."""
        for operation, types in self.operations.items():
            for type_ in types:
                for value_class in self.classes[type_]:
                    yield CoverageCell(operation, type_, value_class)


@cache
def awkward_values(path: Path = TABLE) -> AwkwardValues:
    """Load the table from a file."""
    document = rtoml.loads(path.read_text(encoding="utf-8"))
    return AwkwardValues(
        {
            type_: {name: re.compile(pattern) for name, pattern in classes.items()}
            for type_, classes in document["types"].items()
        },
        {operation: tuple(types) for operation, types in document["operations"].items()},
        tuple(Explanation(re.compile(row["cells"]), row["reason"]) for row in document["explained"]),
    )


def covered_cells(table: AwkwardValues, vectors: Iterable[tuple[str, Mapping[str, Any]]]) -> set[CoverageCell]:
    """Return the cells that vectors cover.

    Args:
        table: classes and operations.
        vectors: vectors in JSON, each with the name of its operation.
    """
    operations: dict[tuple[str, str], set[str]] = {}  # those that get a value, by its type and text
    for operation, vector in vectors:
        extract = EXTRACTORS.get(operation)
        if extract is None:
            continue
        for name, type_, value in extract(vector["args"], list(_answers(vector["expect"]))):
            if type_ in table.operations.get(name, ()):
                operations.setdefault((type_, str(value)), set()).add(name)
    return {
        CoverageCell(name, type_, value_class)
        for (type_, text), names in operations.items()
        for value_class, pattern in table.classes[type_].items()
        if pattern.search(text)
        for name in names
    }


def uncovered_cells(vectors: Iterable[tuple[str, Mapping[str, Any]]], table: AwkwardValues) -> list[str]:
    """Return a message for each cell that no vector covers and no reason explains, and for each unneeded reason.

    Args:
        vectors: all vectors, each with the name of its operation.
        table: classes, operations and reasons.
    """
    covered = covered_cells(table, vectors)
    used: set[Explanation] = set()
    found = []
    for cell in table.cells():
        reasons = [one for one in table.explained if one.cells.fullmatch(str(cell))]
        if cell in covered:
            continue
        used.update(reasons)
        if not reasons:
            found.append(f"no vector covers {cell}")
    found += [
        f"the reason for {one.cells.pattern!r} is not needed: every cell is covered"
        for one in table.explained
        if one not in used
    ]
    return found


def _answers(expect: Mapping[str, Any]) -> Iterator[Any]:
    for one in expect.get("any_of", (expect,)):
        if "ok" in one:
            yield one["ok"]


# What vectors contain: (operation or a part of it, type, value).

Extracted = Iterator[tuple[str, str, Any]]


def _base(type_: str) -> str:
    return re.split(r"[\[(]", type_, maxsplit=1)[0].strip()


def _typed_values(type_: Any, value: Any, path: str = "column") -> Iterator[TypedValue]:
    """Yield the primitive values in a value, and its nulls and empty collections."""
    if value is None:
        yield "nested", f"{path}: null"
        yield "null", value
        return
    if not isinstance(type_, dict):
        yield (_base(type_), value) if isinstance(type_, str) else ("", value)
        return
    kind = type_["type"]
    if kind == "struct" and isinstance(value, dict):
        for member in type_["fields"]:
            for key in (member["name"], str(member.get("id"))):
                if key in value:
                    yield from _typed_values(member["type"], value[key], f"{path}/field")
    elif kind == "list" and isinstance(value, list):
        if not value:
            yield "nested", f"{path}: empty list"
        for one in value:
            yield from _typed_values(type_["element"], one, f"{path}/element")
    elif kind == "map" and isinstance(value, dict):
        if not value.get("keys"):
            yield "nested", f"{path}: empty map"
        for one in value.get("keys", ()):
            yield from _typed_values(type_["key"], one, f"{path}/key")
        for one in value.get("values", ()):
            yield from _typed_values(type_["value"], one, f"{path}/value")


def _named_values(operation: str, values: Iterable[TypedValue]) -> Extracted:
    for type_, value in values:
        yield operation, type_, value
        if type_ == "binary":
            yield operation, "very-long-binary", value


def _request_values(operation: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract values of operations whose request has a type: from the request, or from the answers if it has bytes."""

    def extract(args: Any, answers: list[Any]) -> Extracted:
        type_ = args["type"]
        values = [args[name] for name in ("value", "json") if name in args] + args.get("values", [])
        if "bytes" in args:
            values += answers
            if isinstance(type_, str):
                yield operation, f"{_base(type_)}-bytes", args["bytes"]
        for value in values:
            yield from _named_values(operation, _typed_values(type_, value))

    return extract


def _transform(args: Any, answers: list[Any]) -> Extracted:
    operation = f"transform {_base(args['transform'])}"
    if isinstance(args["type"], str) and answers:
        yield operation, "null" if args["value"] is None else _base(args["type"]), args["value"]


def _literals(predicate: Any, types: Mapping[str, Any]) -> Iterator[TypedValue]:
    """Yield the constants of a predicate, each with the type of the column with which it is compared."""
    if not isinstance(predicate, dict):
        return
    for name in ("left", "right", "child"):
        yield from _literals(predicate.get(name), types)
    term = predicate.get("term")
    if isinstance(term, str):
        yield "name", term
        if predicate["type"] == "is-null":
            yield "null", None
        constants = predicate.get("values", [predicate["value"]] if "value" in predicate else [])
        for constant in constants:
            if isinstance(types.get(term), str) and constant is not None:
                yield _base(types[term]), constant


def _column_types(schema: Any) -> dict[str, Any]:
    return {member["name"]: member["type"] for member in schema["fields"]}


def _bound(type_: str, digits: str) -> Iterator[TypedValue]:
    """Yield the value of a bound in hexadecimal; nothing if it has none, like one from before a promotion."""
    try:
        type_of_bound = type_from_json(type_)
        value = from_binary(type_of_bound, bytes.fromhex(digits))
    except (SpecError, ValueError):
        return
    yield _base(type_), to_exchange(type_of_bound, value)


def _partition_type(source: str, transform: str) -> str:
    name = _base(transform)
    if name in ("identity", "truncate"):
        return source
    return "date" if name == "day" else "int"


def _predicate(operation: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract values of operations that evaluate a predicate: its constants, and the rows, bounds and partitions.

    ``projection.evaluate`` has a part for each transform.
    """

    def extract(args: Any, answers: list[Any]) -> Extracted:
        del answers
        types = _column_types(args["schema"])
        fields = args.get("spec", {}).get("fields", ())
        name = f"{operation} {_base(fields[0]['transform'])}" if operation == "projection.evaluate" else operation
        yield from _named_values(name, _literals(args["predicate"], types))
        by_id = {str(member["id"]): member["type"] for member in args["schema"]["fields"]}
        if "row" in args:
            yield from _named_values(name, _typed_values(args["schema"], args["row"]))
        for kind in ("lower_bounds", "upper_bounds"):
            for id_, digits in args.get("metrics", {}).get(kind, {}).items():
                yield from _named_values(name, _bound(by_id[id_], digits))
        for position, member in enumerate(fields):
            type_ = _partition_type(by_id.get(str(member.get("source-id")), ""), member["transform"])
            if "partition" in args:
                value = args["partition"].get(str(member["field-id"]))
                yield name, "null" if value is None else _base(type_), value
            for summary in args.get("summaries", ())[position : position + 1]:
                for kind in ("lower_bound", "upper_bound"):
                    if kind in summary:
                        yield from _named_values(name, _bound(type_, summary[kind]))

    return extract


def _manifest(operation: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract values of manifests: the partition values and the paths of entries."""

    def extract(args: Any, answers: list[Any]) -> Extracted:
        types = {member["id"]: member["type"] for member in args["schema"]["fields"]}
        fields = {
            str(one["field-id"]): _partition_type(types[one["source-id"]], one["transform"])
            for spec in args.get("specs", [args.get("spec")])
            for one in spec["fields"]
            if isinstance(types.get(one.get("source-id")), str) and "field-id" in one
        }
        yield operation, "manifest-bytes", args.get("bytes", "")
        entries = args.get("entries") or [one for answer in answers for one in answer.get("entries", ())]
        for entry in entries:
            file = entry["data_file"]
            yield operation, "name", file.get("file_path", "")
            partition = file.get("partition") or {}
            for id_, type_ in fields.items():
                yield operation, "null" if partition.get(id_) is None else _base(type_), partition.get(id_)

    return extract


def _table_read(args: Any, answers: list[Any]) -> Extracted:
    types = args.get("types", {})
    yield "table.read", "table", args["table"]
    yield from _named_values("table.read filter", _literals(args.get("filter"), types))
    for answer in answers:
        for row in answer["rows"]:
            for name, value in row.items():
                yield "table.read", "name", name
                yield from _named_values("table.read", _typed_values(types.get(name), value))


@cache
def _golden_types(table: str) -> Mapping[str, Any]:
    """Return the column types of a golden table; empty if its index does not list rows."""
    index = json.loads((shipped() / "golden" / "tables" / table / "index.json").read_text(encoding="utf-8"))
    types: Mapping[str, Any] = index["states"][-1]["types"] if "states" in index else {}
    return types


def _plan(args: Any, answers: list[Any]) -> Extracted:
    """Extract values of scan plans: the constants of the filter, with the types of the golden table."""
    del answers
    if "filter" in args:
        name = args["table"].partition("/tables/")[2].partition("/")[0]
        yield from _named_values("scan.plan", _literals(args["filter"], _golden_types(name)))


def _script(operation_name: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract values of scripts: the rows that they write."""

    def extract(args: Any, answers: list[Any]) -> Extracted:
        del answers
        types: dict[str, Any] = {}
        for operation in args["base" if "base" in args else "script"]["operations"]:
            if "schema" in operation:
                types |= _column_types(operation["schema"])
            for change in operation.get("changes", ()):
                if "name" in change and "type" in change:
                    types[change["name"]] = change["type"]
            for row in operation.get("rows", ()):
                for name, value in row.items():
                    yield operation_name, "name", name
                    yield from _named_values(operation_name, _typed_values(types.get(name), value))

    return extract


def _names(operation: str, *members: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract values of operations on names: strings in some members, at any depth, of requests and answers."""

    def texts(document: Any, wanted: bool) -> Iterator[TypedValue]:
        if isinstance(document, dict):
            for name, member in document.items():
                if name in ("properties", "refs") and name in members and isinstance(member, dict):
                    yield from (("name", one) for one in member)
                    values = [one for one in member.values() if isinstance(one, str)]
                    yield from ((kind, one) for one in values for kind in ("name", "property"))
                yield from texts(member, name in members)
        elif isinstance(document, list):
            for one in document:
                yield from texts(one, wanted)
        elif wanted and isinstance(document, str):
            yield "name", document

    def extract(args: Any, answers: list[Any]) -> Extracted:
        for document in (args, *answers):
            yield from _named_values(operation, texts(document, wanted=False))

    return extract


def _members(document: Any, name: str) -> list[Any]:
    """Return a list member of a possibly invalid document; an empty list if there is none."""
    found = document.get(name) if isinstance(document, dict) else None
    return found if isinstance(found, list) else []


def _metadata(operation: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract values of table metadata: names, and the default values of columns."""
    named = _names(operation, "name", "location", "properties", "refs")

    def extract(args: Any, answers: list[Any]) -> Extracted:
        yield from named(args, answers)
        metadata = args["metadata"]
        for schema in _members(metadata, "schemas"):
            for member in _members(schema, "fields"):
                if isinstance(member, dict) and "initial-default" in member:
                    yield from _named_values(operation, _typed_values(member.get("type"), member["initial-default"]))

    return extract


def _positions(operation: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract the ends of the ranges of positions in deletion vectors."""

    def extract(args: Any, answers: list[Any]) -> Extracted:
        for document in (args, *answers):
            for ends in document.get("ranges", ()) if isinstance(document, dict) else ():
                yield from ((operation, kind, one) for one in ends for kind in ("position", "last-position"))

    return extract


def _plaintext(operation: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract the unencrypted bytes of AES GCM streams."""

    def extract(args: Any, answers: list[Any]) -> Extracted:
        for document in answers if operation == "gcm.decrypt" else [args] if answers else []:
            yield operation, "plaintext", document["bytes"]

    return extract


_LISTED_LONGS = ("manifest_length", "added_snapshot_id", "sequence_number", "added_rows_count")


def _list_values(operation: str) -> Callable[[Any, list[Any]], Extracted]:
    """Extract values of manifest lists: paths, numbers, bounds and key metadata."""

    def extract(args: Any, answers: list[Any]) -> Extracted:
        read = [answer for answer in answers if isinstance(answer, dict)]
        manifests = args.get("manifests") or [one for answer in read for one in answer["manifests"]]
        for one in manifests:
            yield operation, "name", one.get("manifest_path")
            yield operation, "int", one.get("added_files_count")
            yield from ((operation, "long", one.get(name)) for name in _LISTED_LONGS)
            yield operation, "binary", one.get("key_metadata")
            for summary in one.get("partitions") or ():
                yield operation, "binary", summary.get("lower_bound")

    return extract


EXTRACTORS: dict[str, Callable[[Any, list[Any]], Extracted]] = {
    **{
        name: _request_values(name)
        for name in (
            "hash",
            "single-value.encode",
            "single-value.decode",
            "json-value.encode",
            "json-value.decode",
            "json-value.round-trip",
            "bound.encode",
            "bound.decode",
            "bound.truncate",
            "theta.encode",
        )
    },
    "transform": _transform,
    **{
        name: _predicate(name)
        for name in (
            "expression.evaluate",
            "metrics.evaluate",
            "projection.evaluate",
            "residual.evaluate",
            "summaries.evaluate",
        )
    },
    "manifest.write": _manifest("manifest.write"),
    "manifest.read": _manifest("manifest.read"),
    "table.read": _table_read,
    "scan.plan": _plan,
    "table.write": _script("table.write"),
    "table.change": _script("table.change"),
    "name-mapping.apply": _names("name-mapping.apply", "name", "names"),
    "schema.evolve": _names("schema.evolve", "name"),
    "partition-spec.evolve": _names("partition-spec.evolve", "name"),
    **{name: _positions(name) for name in ("dv.encode", "dv.decode")},
    **{name: _plaintext(name) for name in ("gcm.encrypt", "gcm.decrypt")},
    "type.parse": _names("type.parse", "name"),
    **{name: _metadata(name) for name in ("metadata.read", "metadata.write", "metadata.upgrade", "retention.expire")},
    "puffin.read": _names("puffin.read", "properties"),
    "puffin.write": _names("puffin.write", "properties"),
    "manifest-list.read": _list_values("manifest-list.read"),
    "manifest-list.write": _list_values("manifest-list.write"),
}
"""For each operation, the function that extracts the values in its vectors."""
