"""Random types, values and predicates, for all random tables and scripts.

Everything is JSON: types in the form of Appendix C with field ids, values in exchange form, predicates as in the
protocol. A struct is an object by the names of its fields, as in scripts
(`conformance.operations.writing.literals`).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from spec_ref.core.json_types import Json

Struct = dict[str, Any]

LOW, BELOW = "00000000-0000-0000-0000-000000000001", "7fffffff-ffff-ffff-ffff-ffffffffffff"
MIDDLE, HIGH = "80000000-0000-0000-0000-000000000000", "f79c3e09-677c-4bbd-a479-3f349cb785e7"

VALUES: dict[str, tuple[Json, ...]] = {
    "boolean": (False, True),
    "int": (-(2**31), -1, 0, 1, 34, 2**31 - 1),
    "long": (str(-(2**63)), "-1", "0", "1", "34", str(2**63 - 1)),
    "float": ("NaN", "-Infinity", -1.5, -0.0, 0.0, 1.5, "Infinity"),
    "double": ("NaN", "-Infinity", -1.5, -0.0, 0.0, 1.5, "Infinity"),
    "decimal(9, 2)": ("-14.20", "-0.01", "0.00", "0.01", "14.20"),
    "date": ("1600-02-29", "1968-12-31", "1969-12-31", "1970-01-01", "2017-11-16"),
    "time": ("00:00:00.000000", "00:00:00.000001", "12:34:56.000001", "23:59:59.999999"),
    "timestamp": (
        "1600-02-29T12:00:00.000000",
        "1969-12-31T22:59:59.999999",
        "1969-12-31T23:59:59.999999",
        "1970-01-01T00:00:00.000000",
        "2017-11-16T22:31:08.000001",
    ),
    "timestamptz": (
        "1600-02-29T12:00:00.000000+00:00",
        "1969-12-31T22:59:59.999999+00:00",
        "1969-12-31T23:59:59.999999+00:00",
        "1970-01-01T00:00:00.000000+00:00",
        "2017-11-16T22:31:08.000001+00:00",
    ),
    "string": ("", "a", "ab", "abc", "\u00e9", "\uffff", "\U0001f600", "sixteen letters.x", "sixteen letters.y"),
    "uuid": (LOW, BELOW, MIDDLE, HIGH),
    "fixed[3]": ("000000", "0080FF", "7F8081", "FFFFFF"),
    "binary": ("", "00", "00FF", "7F", "80", "FF" * 17),
}
"""Values of each primitive type of all versions, in exchange form, chosen near known bugs of implementations."""

NEW_VALUES: dict[str, tuple[Json, ...]] = {
    "timestamp_ns": (
        "1969-12-31T23:59:59.999999999",
        "1970-01-01T00:00:00.000000000",
        "1970-01-01T00:00:00.000000001",
        "2017-11-16T22:31:08.000001001",
    ),
    "timestamptz_ns": (
        "1969-12-31T23:59:59.999999999+00:00",
        "1970-01-01T00:00:00.000000000+00:00",
        "2017-11-16T22:31:08.000001001+00:00",
    ),
}
"""Values of primitive types that were added in version 3."""

OPAQUE_VALUES: dict[str, tuple[Json, ...]] = {
    "unknown": (None,),
    "geometry": ("POINT (1 2)", "POINT (-180 90)"),
    "geography": ("POINT (1 2)",),
    "variant": ({"metadata": "010000", "value": "0C22"}, {"metadata": "010000", "value": "0568"}),
}
"""Values of types that were added in version 3 and that no predicate, partition, sort order or equality delete can use:
points, and variants of the int8 34 and of the string ``h``."""

PARAMETERIZED = (
    "decimal(1, 0)",
    "decimal(9, 9)",
    "decimal(10, 3)",
    "decimal(19, 0)",
    "decimal(38, 38)",
    "fixed[1]",
    "fixed[16]",
    "fixed[20]",
)
"""Types with other arguments than those of `VALUES`, which only scripts have."""

OPAQUE_PARAMETERIZED = ("geometry(srid:3857)", "geography(srid:4269, karney)", "geography(OGC:CRS84, vincenty)")
"""The same for types of `OPAQUE_VALUES`."""

WITH_ARGUMENTS = (*PARAMETERIZED, *OPAQUE_PARAMETERIZED)

_DECIMAL = re.compile(r"decimal\((\d+), (\d+)\)")
_FIXED = re.compile(r"fixed\[(\d+)\]")

TRANSFORMS: dict[str, tuple[str, ...]] = {
    "boolean": ("identity",),
    "int": ("identity", "bucket[4]", "truncate[10]"),
    "long": ("identity", "bucket[4]", "truncate[10]"),
    "float": ("identity",),
    "double": ("identity",),
    "decimal(9, 2)": ("identity", "bucket[4]", "truncate[50]"),
    "date": ("identity", "bucket[4]", "year", "month", "day"),
    "time": ("identity", "bucket[4]"),
    "timestamp": ("identity", "bucket[4]", "year", "month", "day", "hour"),
    "timestamptz": ("identity", "bucket[4]", "year", "month", "day", "hour"),
    "string": ("identity", "bucket[4]", "truncate[2]"),
    "uuid": ("identity", "bucket[4]"),
    "fixed[3]": ("bucket[4]",),
    "binary": ("bucket[4]", "truncate[1]"),
    "timestamp_ns": ("bucket[4]", "year", "month", "day", "hour"),
    "timestamptz_ns": ("bucket[4]", "year", "month", "day", "hour"),
}
"""The transforms of partition fields by the type of the column."""

ODD_NAMES: dict[str, tuple[str, ...]] = {
    "odd-names": (
        "a.b",
        "a b",
        'a"b',
        "a'b",
        "a`b",
        "a/b",
        "a=b&c%20",
        "1st",
        "\u00e4\u00df",
        "\u65e5\u672c",
        "\U0001f600",
        "select",
        "element",
        "key",
        "value",
        "keys",
        "file_path",
        "pos",
    ),
    "case-names": ("ID", "Id", "X", "Y"),
    "metadata-names": ("_file", "_pos", "_deleted", "_spec_id", "_partition"),
}
"""Names of columns that need escaping, differ from others only in case, or are those of metadata columns."""

NESTED_WORDS = frozenset({"nested-required", "struct-keys", *ODD_NAMES, *PARAMETERIZED})
"""The features of types that only scripts have, not other random tables."""

LEAST = frozenset({-(2**31), str(-(2**63))})
"""Values that cannot be truncated, as the result is less than the least value of the type (contradiction C6)."""

COMPARISONS = ("lt", "lt-eq", "gt", "gt-eq", "eq", "not-eq")

NOT_FINITE = ("NaN", "Infinity", "-Infinity")

_FLOATS = ("float", "double")

PARAMETERIZED_SHARE = 0.12
ODD_SHARE = 0.05


@frozen
class Chance:
    """A seeded source of types, values and predicates, with options for what it leaves out."""

    random: random.Random
    exclude: frozenset[str] = frozenset()
    """``null``, ``nan``, ``zero``, ``nested`` and names of types; see `conformance.properties.tables.EXCLUDABLE`."""

    nulls: float = 0.2
    """The share of optional values that are null."""

    features: frozenset[str] = frozenset()
    """The features of `NESTED_WORDS` that types may have."""

    def draws_feature(self, feature: str, share: float) -> bool:
        """Draw whether to use a feature, with a given probability; False if it is not in `features` or is excluded."""
        return feature in self.features and feature not in self.exclude and self.random.random() < share

    def kinds(self, version: int = 2) -> list[str]:
        """Return the primitive types that may be used."""
        new = NEW_VALUES if version >= 3 else {}
        return [kind for kind in (*VALUES, *new) if kind not in self.exclude]

    def primitive(self, version: int) -> str:
        """Draw a primitive type."""
        able = [kind for kind in PARAMETERIZED if kind in self.features and kind not in self.exclude]
        if able and self.random.random() < PARAMETERIZED_SHARE:
            return self.random.choice(able)
        return self.random.choice(self.kinds(version))

    def odd_name(self, used: Iterable[str]) -> str | None:
        """Draw a name that is odd in some way; None for most columns."""
        words = [word for word in ODD_NAMES if self.draws_feature(word, ODD_SHARE)]
        names = [name for word in words for name in ODD_NAMES[word] if name not in used]
        return self.random.choice(names) if names else None

    def type(
        self, ids: Iterator[int], *, version: int = 2, depth: int = 2, nested: float = 0.25, nested_inside: float = 0.25
    ) -> Json:
        """Draw a type, primitive or nested to a depth, with these shares; nested fields take ids from ``ids``."""
        if not depth or "nested" in self.exclude or self.random.random() >= nested:
            return self.primitive(version)
        match self.random.choice(("struct", "struct", "list", "map")):
            case "struct":
                return self._struct(ids, version, depth - 1)
            case "list":
                return {
                    "type": "list",
                    "element-id": next(ids),
                    "element-required": self.random.random() < 0.3,
                    "element": self.type(
                        ids, version=version, depth=depth - 1, nested=nested_inside, nested_inside=nested_inside
                    ),
                }
        return {
            "type": "map",
            "key-id": next(ids),
            "key": self._key(ids, version),
            "value-id": next(ids),
            "value-required": self.random.random() < 0.3,
            "value": self.type(
                ids, version=version, depth=depth - 1, nested=nested_inside, nested_inside=nested_inside
            ),
        }

    def _struct(self, ids: Iterator[int], version: int, depth: int) -> Json:
        names = list("xyz"[: self.random.randint(1, 3)])
        names[-1] = self.odd_name(names) or names[-1]
        return {
            "type": "struct",
            "fields": [
                {
                    "id": next(ids),
                    "name": name,
                    "required": self.draws_feature("nested-required", 0.25),
                    "type": self.type(ids, version=version, depth=depth),
                }
                for name in names
            ],
        }

    def _key(self, ids: Iterator[int], version: int) -> Json:
        kinds = [kind for kind in self.kinds(version) if kind not in _FLOATS] or ["string"]
        if not self.draws_feature("struct-keys", 0.2):
            return self.random.choice(kinds)
        return {
            "type": "struct",
            "fields": [
                {"id": next(ids), "name": name, "required": required, "type": self.random.choice(kinds)}
                for name, required in (("x", True), ("y", False))
            ],
        }

    def value(self, type_: Json, *, required: bool = False) -> Json:
        """Draw a value of a type, or null."""
        if not required and self.random.random() < self.nulls:
            return None
        if isinstance(type_, str):
            return self.random.choice(self.pool(type_))
        match type_["type"]:
            case "struct":
                return {one["name"]: self.value(one["type"], required=one["required"]) for one in type_["fields"]}
            case "list":
                return self._items(type_["element"], required=type_["element-required"])
        keys = self._keys(type_["key"])
        values = [self.value(type_["value"], required=type_["value-required"]) for _ in keys]
        return {"keys": keys, "values": values}

    def _keys(self, type_: Json) -> list[Json]:
        if isinstance(type_, str):
            return self.random.sample(pool := self.pool(type_), min(len(pool), self.random.randint(0, 3)))
        drawn = [self.value(type_, required=True) for _ in range(self.random.randint(0, 3))]
        return list({json.dumps(key): key for key in drawn}.values())

    def _items(self, type_: Json, *, required: bool) -> list[Json]:
        return [self.value(type_, required=required) for _ in range(self.random.randint(0, 3))]

    def pool(self, kind: str) -> list[Json]:
        """Return the values of a primitive type that may be used."""
        return [value for value in value_pool(kind) if not is_excluded(value, self.exclude)]

    def constants(self, kind: str) -> list[Json]:
        """Return the constants that columns of a type are compared with, in the spec's JSON."""
        return [json_constant(kind, value) for value in self.pool(kind) if value not in NOT_FINITE]

    def predicate(
        self, leaves: Sequence[tuple[str, str]], depth: int, present: Mapping[str, Sequence[Json]] | None = None
    ) -> Json:
        """Draw a predicate on columns that have primitive types.

        Args:
            leaves: the full names of columns, each with its type.
            depth: the depth of ``and``, ``or`` and ``not``.
            present: values in the rows, as constants by the full names of columns; used more often than others.
        """
        if depth and self.random.random() < 0.4:
            kind = self.random.choice(("and", "or", "not"))
            if kind == "not":
                return {"type": "not", "child": self.predicate(leaves, depth - 1, present)}
            sides = {side: self.predicate(leaves, depth - 1, present) for side in ("left", "right")}
            return {"type": kind, **sides}
        name, type_ = self.random.choice(leaves)
        leaf = self._leaf(name, type_, (present or {}).get(name, ()))
        if "null" in self.exclude and leaf["type"] not in ("is-null", "not-null"):
            return {"type": "and", "left": guard(leaf), "right": leaf}
        return leaf

    def _leaf(self, name: str, kind: str, present: Sequence[Json]) -> Json:
        kinds = ["is-null", "not-null", "in", "not-in", *COMPARISONS, *COMPARISONS]
        if kind in _FLOATS:
            kinds += ["is-nan", "not-nan"]
        if kind == "string":
            kinds += ["starts-with", "not-starts-with"]
        test = self.random.choice(kinds)
        if test in ("is-null", "not-null", "is-nan", "not-nan"):
            return {"type": test, "term": name}
        pool = self.constants(kind)
        if present and self.random.random() < 0.7:
            pool = list(present)
        if not pool:
            return {"type": "not-null", "term": name}
        if test in ("in", "not-in"):
            return {"type": test, "term": name, "values": self.random.sample(pool, self.random.randint(1, len(pool)))}
        return {"type": test, "term": name, "value": self.random.choice(pool)}


def value_pool(kind: str) -> tuple[Json, ...]:
    """Return the values of a primitive type, in exchange form."""
    for values in (VALUES, NEW_VALUES, OPAQUE_VALUES):
        if kind in values:
            return values[kind]
    decimal, fixed = _DECIMAL.fullmatch(kind), _FIXED.fullmatch(kind)
    if decimal:
        return tuple(_decimal(digits, int(decimal[2])) for digits in _digits(int(decimal[1])))
    if fixed:
        return tuple(byte * int(fixed[1]) for byte in ("00", "7F", "80", "FF"))
    return OPAQUE_VALUES.get(kind.partition("(")[0], ())


def _digits(precision: int) -> tuple[str, ...]:
    """Return the unscaled values of a decimal, but not the least one, as truncating it would leave the range."""
    return "-" + "8" * precision, "-1", "0", "1", "9" * precision


def _decimal(unscaled: str, scale: int) -> str:
    sign, digits = unscaled[: -len(unscaled.lstrip("-"))], unscaled.lstrip("-").rjust(scale + 1, "0")
    return f"{sign}{digits[:-scale]}.{digits[-scale:]}" if scale else f"{sign}{digits}"


def partition_transforms(kind: str) -> tuple[str, ...]:
    """Return the transforms of partition fields of a primitive type."""
    if kind in TRANSFORMS:
        return TRANSFORMS[kind]
    if kind.startswith("decimal"):
        return ("identity", "bucket[4]")
    return ("bucket[4]",) if kind.startswith("fixed") else ()


def json_constant(kind: str, value: Json) -> Json:
    """Convert a value to the spec's JSON, where a long is a number."""
    return int(value) if kind == "long" else value


def is_excluded(value: Json, exclude: frozenset[str]) -> bool:
    """Return whether a value is NaN or minus zero, and excluded."""
    is_minus_zero = isinstance(value, float) and value == 0 and str(value) == "-0.0"
    return (value == "NaN" and "nan" in exclude) or (is_minus_zero and "zero" in exclude)


def guard(leaf: Json) -> Json:
    """Add a condition that excludes null to a comparison."""
    return {"type": "not-null", "term": leaf.get("term")}


def predicate_leaves(fields: Iterable[Struct], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield the columns that predicates may name, with their types: primitive ones, also inside structs."""
    for field in fields:
        name, type_ = prefix + field["name"], field["type"]
        if isinstance(type_, str):
            if type_.partition("(")[0] not in OPAQUE_VALUES:
                yield name, type_
        elif type_["type"] == "struct":
            yield from predicate_leaves(type_["fields"], f"{name}.")


# Shrinking values and predicates.


def simpler_predicates(predicate: Json, *, guarded: bool) -> Iterator[Json]:
    """Yield predicates with one part less; conditions that exclude null stay if ``guarded``."""
    if not isinstance(predicate, dict):
        return
    if guarded and predicate["type"] == "and" and predicate["left"] == guard(predicate["right"]):
        yield from ({**predicate, "right": inner} for inner in simpler_predicates(predicate["right"], guarded=guarded))
        return
    for side in ("child", "left", "right"):
        if side in predicate:
            yield predicate[side]
            yield from ({**predicate, side: inner} for inner in simpler_predicates(predicate[side], guarded=guarded))
    if len(predicate.get("values", ())) > 1:
        for place in range(len(predicate["values"])):
            yield {**predicate, "values": predicate["values"][:place] + predicate["values"][place + 1 :]}
