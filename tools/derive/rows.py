"""The rows that match a predicate, from the text of Expressions: a derivation on values in the exchange form.

It covers what the vectors of reading use: predicates in the form with terms, on columns and fields of structs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from tools.derive.instants import DIGITS, count

Row = dict[str, Any]


def matches(predicate: Any, row: Row, types: dict[str, Any]) -> bool:
    """Return whether a row matches; comparisons with null are false (EXP008, EXP012)."""
    kind: str = predicate["type"]
    if kind == "not":
        return not matches(predicate["child"], row, types)
    if kind in ("and", "or"):
        sides = (matches(predicate[side], row, types) for side in ("left", "right"))
        return all(sides) if kind == "and" else any(sides)
    type_, value = _find(predicate["term"], row, types)
    if kind == "is-null":
        return value is None
    if kind == "not-null":
        return value is not None
    own = _comparable(type_, value)
    if kind in ("is-nan", "not-nan"):
        return _is_nan(own) == (kind == "is-nan")
    if kind in ("in", "not-in"):
        among = any(_equal(own, _comparable(type_, constant)) for constant in predicate["values"])
        return among == (kind == "in")
    constant = _comparable(type_, predicate["value"])
    if kind in ("eq", "not-eq"):
        return _equal(own, constant) == (kind == "eq")
    if kind in ("starts-with", "not-starts-with"):
        begins = own is not None and own.startswith(constant)
        return begins == (kind == "starts-with")
    if own is None or _is_nan(own):
        return False
    orders = {"lt": own < constant, "lt-eq": own <= constant, "gt": own > constant, "gt-eq": own >= constant}
    return bool(orders[kind])


def filter_rows(predicate: Any, rows: Iterable[Row], types: dict[str, Any]) -> list[Row]:
    """Return the rows that match."""
    return [row for row in rows if matches(predicate, row, types)]


def _find(term: str, row: Row, types: dict[str, Any]) -> tuple[Any, Any]:
    if term in types:
        return types[term], row[term]
    name, _, inner = term.partition(".")
    fields = {field["name"]: field for field in types[name]["fields"]}
    struct = row[name] or {}
    values = {inside: struct.get(str(field["id"])) for inside, field in fields.items()}
    return _find(inner, values, {inside: field["type"] for inside, field in fields.items()})


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _equal(value: Any, constant: Any) -> bool:
    return value is not None and bool(value == constant)


def _comparable(type_: Any, value: Any) -> Any:
    """Return a value whose order in Python is the spec's (EXP011, EXP019).

    Dates, times and timestamps are ordered by their distance from the epoch; text by code points, which is the order of
    its UTF-8 bytes; hexadecimal digits of one case are ordered as their bytes are.
    """
    if value is None:
        return None
    if type_ in ("int", "long"):
        return int(value)
    if type_ in ("float", "double"):
        return float(value)
    if type_.startswith("decimal"):
        return Decimal(value)
    if type_ == "date" or type_ in DIGITS:
        return count(type_, value)
    if type_ == "binary" or type_.startswith("fixed"):
        return bytes.fromhex(value)
    return value
