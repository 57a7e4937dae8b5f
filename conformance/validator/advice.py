"""What to do about a finding, by its check or aspect, else by its code, else by the area of that (`advice.toml`)."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from importlib import resources

import attrs

from spec_ref.requirements import check_id


@attrs.frozen
class Advice:
    """What there is to do, from the most specific to the three letters of an area."""

    by_check: Mapping[str, str]
    by_aspect: Mapping[str, str]
    by_code: Mapping[str, str]
    by_area: Mapping[str, str]


@functools.cache
def known() -> Advice:
    """All advice."""
    text = resources.files("conformance.validator").joinpath("advice.toml").read_text(encoding="utf-8")
    found: dict[str, dict[str, str]] = {"checks": {}, "aspects": {}, "codes": {}, "areas": {}}
    for row in tomllib.loads(text)["advice"]:
        for kind, told in found.items():
            for name in row.get(kind, ()):
                if name in told:
                    raise AssertionError(f"{name} has advice twice")
                told[name] = " ".join(row["text"].split())
    return Advice(found["checks"], found["aspects"], found["codes"], found["areas"])


def own_advice(code: str) -> str | None:
    """What to do about a broken requirement, where there is something that is of this requirement or its area."""
    return known().by_code.get(code) or known().by_area.get(code[:3])


def advice(code: str, aspect: str = "") -> str:
    """What to do about a finding.

    Args:
        code: the requirement that is broken.
        aspect: the part of it, which with the code names the check.
    """
    mine = known().by_check.get(check_id(code, aspect)) or known().by_aspect.get(aspect)
    return mine or own_advice(code) or "Tell the writer's maintainers; `explain` tells the rule."
