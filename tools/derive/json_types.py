"""The types of JSON as Python reads it, for annotations; derivations share no code with the code that they test."""

from __future__ import annotations

from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A value as a JSON parser returns it: None, bool, int, float, str, list, or dict with str keys."""

JsonObject: TypeAlias = dict[str, Any]
"""A JSON object: a dict with str keys."""
