"""``iceberg-conformance explain``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from conformance import vectors
from conformance.failures import ExitStatus, UsageError
from spec_ref.requirements import Requirement, register


def explain(
    code: Annotated[str, Parameter(name="CODE")],
    /,
    *,
    format: Literal["text", "json"] = "text",
    vectors_: Annotated[Path | None, Parameter(name="--vectors")] = None,
) -> int:
    """Tell what a requirement asks for, whom it binds, and which vectors prove it.

    Args:
        code: The code of a requirement, such as HSH002, or its slug.
        format: Text for people, or JSON.
        vectors_: A folder of vectors other than the one that comes with the tool.
    """
    rule = find(code)
    proofs = [vector for vector in vectors.load(vectors_ or vectors.shipped()) if rule.code in vector.requirements]
    if format == "json":
        ids = [vector.id for vector in proofs]
        sys.stdout.write(json.dumps({**requirement_json(rule), "vectors": ids}, indent=2) + "\n")
        return ExitStatus.CONFORMANT
    print(f"{rule.code} {rule.slug}")
    print(f"    {rule.text}")
    print()
    print(f"    section      {rule.section} ({rule.document})")
    print(f"    level        {rule.level.value}, {_versions(rule)}, binds {', '.join(rule.binds)}")
    if rule.rules is not None:
        print(f"    writers      {', '.join(f'v{version}: {what.value}' for version, what in rule.rules.items())}")
    print(f"    shown by     {', '.join(rule.observable)}")
    print(f"    vectors      {len(proofs)}")
    for vector in proofs:
        print(f"        {vector.id}{f' - {vector.note}' if vector.note else ''}")
    return ExitStatus.CONFORMANT


def find(code: str) -> Requirement:
    """The requirement of a code or slug, in any case.

    Raises:
        UsageError: there is none.
    """
    rules = register()
    by_name = {name.lower(): rule for rule in rules.values() for name in (rule.slug, rule.code)}
    found = by_name.get(code.lower())
    if found is None:
        from difflib import get_close_matches

        near = get_close_matches(code.lower(), by_name, 3)
        hint = f"; did you mean {', '.join(near)}?" if near else ""
        raise UsageError(f"no requirement {code!r}{hint}")
    return found


def requirement_json(rule: Requirement) -> dict[str, Any]:
    """A requirement as JSON."""
    return {
        "code": rule.code,
        "slug": rule.slug,
        "document": rule.document,
        "section": rule.section,
        "level": rule.level.value,
        "versions": [int(version) for version in rule.versions],
        "binds": list(rule.binds),
        "observable": list(rule.observable),
        "text": rule.text,
        "status": rule.status.value,
        **({"rules": {f"v{version}": what.value for version, what in rule.rules.items()}} if rule.rules else {}),
    }


def _versions(rule: Requirement) -> str:
    return " ".join(f"v{version}" for version in rule.versions) or rule.status.value
