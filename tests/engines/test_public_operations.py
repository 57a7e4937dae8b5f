"""The page on the library functions that the adapters in Go and Rust call, and their known deviations."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from shipped_vectors import shipped_vectors

from conformance.engine_setup import built, find_engine
from conformance.operations.registry import OPERATIONS

ROOT = Path(__file__).parents[2]
DECLARED = {
    "iceberg-go": ("main.go", r'^\t"([a-z-]+(?:\.[a-z-]+)?)":\s+asked\('),
    "iceberg-rust": ("src/main.rs", r'^    \("([a-z-]+(?:\.[a-z-]+)?)", '),
}
"""Where each adapter names its operations, and how a line of that looks."""


def table(first: str) -> list[list[str]]:
    """The cells of the table of the page whose first head is this one, its head among them."""
    _, found, text = (ROOT / "docs" / "go-and-rust.md").read_text("utf-8").partition(f"| {first} | ")
    assert found
    lines = (found + text).partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| ")]


def known(engine: str) -> set[str]:
    """The vectors that an engine is known to answer otherwise each time: a race shows no bug of the page."""
    content = tomllib.loads((find_engine(engine).folder / "deviations.toml").read_text("utf-8"))
    return {vector for entry in content["deviation"] if not entry.get("sometimes") for vector in entry["vectors"]}


def test_every_operation_is_reported_once() -> None:
    assert sorted(row[0] for row in table("operation")[1:]) == sorted(f"`{name}`" for name in OPERATIONS)


@pytest.mark.parametrize(("place", "name"), [(1, "iceberg-go"), (2, "iceberg-rust")])
def test_what_is_not_reported_to_be_missing_is_what_the_adapter_has(place: int, name: str) -> None:
    engine, rows = find_engine(name), table("operation")
    assert rows[0][place] == table("bug")[0][place + 1] == f"{name} {engine.version}"
    file, form = DECLARED[name]
    declared = re.findall(form, (built.source_folder(engine) / file).read_text("utf-8"), flags=re.M)
    assert len(declared) == len(set(declared))
    fields = {row[0].strip("`"): re.split(r"[ :]", row[place])[0] for row in rows[1:]}
    assert set(fields.values()) == {"yes", "part", "no"}
    assert sorted(name for name, cell in fields.items() if cell != "no") == sorted(declared)
    assert [row[0] for row in rows[1:] if row[place] in ("no", "part")] == []  # each has its reason


@pytest.mark.parametrize(("place", "name"), [(2, "iceberg-go"), (3, "iceberg-rust")])
def test_a_bug_that_is_still_there_is_a_known_deviation_and_one_that_is_fixed_is_not(place: int, name: str) -> None:
    deviations = known(name)
    ids = {vector.id for vector in shipped_vectors()}
    for row in table("bug")[1:]:
        shown = {cell.strip("` ") for cell in row[4].split(",")}
        assert shown <= ids, row[0]
        expected = {"still": shown, "fixed": set(), "-": shown & deviations}[row[place]]
        assert shown & deviations == expected, row[0]
