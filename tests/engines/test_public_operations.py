"""The page that tells what the adapters in Go and Rust ask of their libraries, and what these do not make public."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.engines import built, find_engine
from conformance.operations import OPERATIONS

PAGE = Path(__file__).parents[2] / "docs" / "go-and-rust.md"
DECLARED = {
    "iceberg-go": ("main.go", r'^\t"([a-z-]+(?:\.[a-z-]+)?)":\s+asked\('),
    "iceberg-rust": ("src/main.rs", r'^    \("([a-z-]+(?:\.[a-z-]+)?)", '),
}
"""Where each adapter names its operations, and how a line of that looks."""


def rows() -> list[list[str]]:
    """The cells of the page's table, its head among them, without code marks around the first."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def test_every_operation_is_told_in_its_order() -> None:
    assert [row[0] for row in rows()[1:]] == [f"`{name}`" for name in OPERATIONS]


@pytest.mark.parametrize(("place", "name"), [(1, "iceberg-go"), (2, "iceberg-rust")])
def test_what_is_not_told_to_be_missing_is_what_the_adapter_has(place: int, name: str) -> None:
    engine = find_engine(name)
    assert rows()[0][place] == f"{name} {engine.version}"
    file, form = DECLARED[name]
    declared = re.findall(form, (built.sources(engine) / file).read_text("utf-8"), flags=re.M)
    assert len(declared) == len(set(declared))
    told = {row[0].strip("`"): re.split(r"[ :]", row[place])[0] for row in rows()[1:]}
    assert set(told.values()) == {"yes", "part", "no"}
    assert sorted(name for name, cell in told.items() if cell != "no") == sorted(declared)
    without_reason = [row[0] for row in rows()[1:] if re.fullmatch("no|part", row[place])]
    assert without_reason == []
