"""Convert predicates to the older JSON form, which corresponds to the predicates of today's engines.

Engines compare a column, or a transform of one, with constants, and do not read the current form. A predicate in the
current form is rewritten if the older form can express it, so that an engine can evaluate it. A pass does not show that
the engine reads this JSON.
"""

from __future__ import annotations

from typing import Any

from conformance.adapter_sdk.serve import Unsupported
from conformance.core.moved_modules import renamed_member

MIRRORED = {"lt": "gt", "lt-eq": "gt-eq", "gt": "lt", "gt-eq": "lt-eq", "eq": "eq", "not-eq": "not-eq"}
"""The equivalent comparison with its sides exchanged."""

TERMS = ("reference", "apply", "transform")


def to_legacy_form(predicate: Any, fields: list[dict[str, Any]]) -> Any:
    """Return the predicate in the older form; JSON in neither form is returned unchanged, for the engine to refuse.

    Args:
        predicate: its JSON, in either form.
        fields: the columns of the schema, by whose ids the current form can name them.

    Raises:
        Unsupported: the older form cannot express the predicate.
    """
    if not isinstance(predicate, dict):
        return predicate
    match predicate.get("type"):
        case "not":
            return predicate | {"child": to_legacy_form(predicate.get("child"), fields)}
        case "and" | "or":
            return predicate | {side: to_legacy_form(predicate.get(side), fields) for side in ("left", "right")}
        case str(name) if "left" in predicate and "right" in predicate and name in MIRRORED:
            left, right = predicate["left"], predicate["right"]
            if _is_term(left) and _is_term(right):
                raise Unsupported("engines compare with constants only")
            if not _is_term(left):
                name, left, right = MIRRORED[name], right, left
            return {"type": name, "term": _term(left, fields), "value": _constant(right)}
        case str(name) if "child" in predicate:
            rewritten = {"type": name, "term": _term(predicate["child"], fields)}
            if "values" in predicate:
                values = predicate["values"]
                values = values.get("values") if isinstance(values, dict) else values
                rewritten["values"] = [_constant(value) for value in values] if isinstance(values, list) else values
            elif "value" in predicate:
                rewritten["value"] = _constant(predicate["value"])
            return rewritten
    return predicate


def _is_term(expression: Any) -> bool:
    return isinstance(expression, dict) and expression.get("type") in TERMS


def _constant(expression: Any) -> Any:
    """Return a constant without its type, because engines convert constants to the column's type."""
    return expression.get("value") if isinstance(expression, dict) else expression


def _term(expression: Any, fields: list[dict[str, Any]]) -> Any:
    match expression:
        case {"type": "reference", "name": str(name)}:
            return name
        case {"type": "reference", "id": int(wanted)}:
            found = [field["name"] for field in fields if field["id"] == wanted]
            if found:
                return found[0]
        case {"type": "apply", "function": {"identifier": [str(name)]}, "arguments": [int(width), argument]}:
            return {"type": "transform", "transform": f"{name}[{width}]", "term": _term(argument, fields)}
        case {"type": "apply", "function": {"identifier": [str(name)]}, "arguments": [argument]}:
            return {"type": "transform", "transform": name, "term": _term(argument, fields)}
    raise Unsupported("engines have predicates of columns and of transforms of columns only")


_RENAMED = {"older_form": "to_legacy_form"}


def __getattr__(name: str) -> Any:
    """Return a member by its old name; deprecated for one release."""
    return renamed_member(__name__, _RENAMED, name)
