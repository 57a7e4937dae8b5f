"""Predicates, schemas and partition specs in the vectors' form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from tools.derive.vector import Vector


@dataclass(frozen=True)
class SchemaVector(Vector):
    """A vector whose arguments include a schema."""

    def versions(self) -> list[int]:
        """Return the format versions that support all types of the schema."""
        new = ("_ns", "unknown", "variant", "geometry", "geography")
        return [3] if any(word in json.dumps(self.args["schema"]) for word in new) else [1, 2, 3]


def schema(**types: Any) -> dict[str, Any]:
    """Return optional columns with the ids 1, 2, ... in order."""
    fields = [
        {"id": id_, "name": name, "required": False, "type": type_}
        for id_, (name, type_) in enumerate(types.items(), 1)
    ]
    return {"type": "struct", "schema-id": 0, "fields": fields}


def leaf(operation: str, *value: Any, term: Any = "x") -> dict[str, Any]:
    """Return a predicate of the column x, or of a term, in the form with terms."""
    predicate: dict[str, Any] = {"type": operation, "term": term}
    if value:
        predicate["values" if operation in ("in", "not-in") else "value"] = value[0]
    return predicate


def not_(child: Any) -> dict[str, Any]:
    """Return the negation of a predicate."""
    return {"type": "not", "child": child}


def and_(left: Any, right: Any) -> dict[str, Any]:
    """Return the conjunction of two predicates."""
    return {"type": "and", "left": left, "right": right}


def or_(left: Any, right: Any) -> dict[str, Any]:
    """Return the disjunction of two predicates."""
    return {"type": "or", "left": left, "right": right}
