"""The derivations of vectors agree with independent ones, and the files equal their results."""

import ast
import importlib
import json
import struct
import sys
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema
import mmh3
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
VECTORS = ROOT / "vectors"
MODEL = {"conformance.scripts.expected", "conformance.scripts.model"}
SUITES = ("hashing", "transforms", "single-values-binary", "single-values-json", "bounds", "types")


def module(name: str) -> Any:
    """A module of tools.derive."""
    return importlib.import_module(f"tools.derive.{name}")


def documents() -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes()) for suite in SUITES for path in sorted((VECTORS / suite).glob("*.json"))]


@cache
def vectors() -> dict[str, dict[str, Any]]:
    return {row["id"]: row for document in documents() for row in document["vectors"]}


def test_the_files_are_what_the_tables_give() -> None:
    assert module("build").main(["--check"]) == 0


def test_derivations_share_nothing_with_what_they_check() -> None:
    """The model of tables is the one part of the product that they use (tests/scripts/test_writing_vectors.py)."""
    imported = set()
    for path in (ROOT / "tools" / "derive").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            imported |= {name if name in MODEL else name.split(".")[0] for name in names}
    assert imported - sys.stdlib_module_names == {"tools", *MODEL}


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads((VECTORS / "vectors.schema.json").read_bytes()))


def test_a_third_of_the_vectors_ask_for_a_refusal() -> None:
    values = {"hashing", "transforms", "single-values-binary", "single-values-json"}
    rows = [
        (document["suite"], row)
        for document in documents()
        if document["suite"] in values
        for row in document["vectors"]
        if "awkward" not in row["id"]  # sound values, by which the table of them asks for as many as there are
    ]
    refused = [suite for suite, row in rows if next(iter(row["expect"])) == "error"]
    assert set(refused) == values
    assert len(refused) * 3 >= len(rows)


def test_every_file_asks_for_one_operation_of_its_suite() -> None:
    operations = {(document["suite"], document["operation"].split(".")[0]) for document in documents()}
    assert operations == {
        ("hashing", "hash"),
        ("transforms", "transform"),
        ("single-values-binary", "single-value"),
        ("single-values-json", "json-value"),
        ("bounds", "bound"),
        ("types", "type"),
    }


# The values that the text prints, read from it once more: Appendix B, Truncate Transform Details, Schema Evolution.
PRINTED = {
    "hash-int-34": 2017239379,
    "hash-long-34": 2017239379,
    "hash-decimal-14-20": -500754589,
    "hash-date-2017-11-16": -653330422,
    "hash-time-22-31-08": -662762989,
    "hash-timestamp-2017-11-16": -2047944441,
    "hash-timestamp-2017-11-16-1us": -1207196810,
    "hash-timestamptz-2017-11-16": -2047944441,
    "hash-timestamptz-2017-11-16-1us": -1207196810,
    "hash-timestamp-ns-2017-11-16": -2047944441,
    "hash-timestamp-ns-2017-11-16-1001ns": -1207196810,
    "hash-timestamptz-ns-2017-11-16": -2047944441,
    "hash-timestamptz-ns-2017-11-16-1001ns": -1207196810,
    "hash-string-iceberg": 1210000089,
    "hash-string-34": -427558391,
    "hash-uuid-spec": 1488055340,
    "hash-fixed-00010203": -188683207,
    "hash-binary-00010203": -188683207,
    "hash-boolean-true": 1392991556,
    "hash-float-1": -142385009,
    "hash-double-1": -142385009,
    "hash-float-0": 1669671676,
    "hash-float-minus-0": 1669671676,
    "hash-double-0": 1669671676,
    "hash-double-minus-0": 1669671676,
    "truncate10-int-1": 0,
    "truncate10-int-minus-1": -10,
    "truncate10-long-1": "0",
    "truncate10-long-minus-1": "-10",
    "truncate50-decimal-10-65": "10.50",
    "truncate3-string-iceberg": "ice",
    "truncate3-binary-0102030405": "010203",
}


@pytest.mark.parametrize("id_", PRINTED)
def test_values_that_the_text_prints(id_: str) -> None:
    row = vectors()[id_]
    assert row["expect"] == {"ok": PRINTED[id_]}
    assert row["origin"].startswith("spec: ")


@given(st.binary(max_size=300), st.integers(0, 2**32 - 1))
def test_murmur3_is_that_of_mmh3(data: bytes, seed: int) -> None:
    assert module("murmur3").murmur3_x86_32(data, seed) == mmh3.hash(data, seed)


@given(st.integers(-(10**38) + 1, 10**38 - 1))
def test_minimal_big_endian_reads_back_and_cannot_be_shorter(number: int) -> None:
    data = module("encoding").minimal_big_endian(number)
    assert int.from_bytes(data, "big", signed=True) == number
    assert len(data) == 1 or int.from_bytes(data[1:], "big", signed=True) != number


@given(st.dates())
def test_dates_are_those_of_numpy(date: Any) -> None:
    instants = module("instants")
    text = date.isoformat()
    day = int(np.datetime64(text, "D").astype("int64"))
    months = int(np.datetime64(text, "M").astype("int64"))
    assert instants.days(text) == day
    assert instants.date_text(day) == text
    year, month = instants.year_month(day)
    assert (year - 1970) * 12 + month - 1 == months


@given(st.integers(-(2**31), 2**31 - 1))
def test_every_day_reads_back(day: int) -> None:
    instants = module("instants")
    assert instants.days(instants.date_text(day)) == day


@given(st.datetimes())
def test_timestamps_are_those_of_numpy(moment: Any) -> None:
    text = moment.isoformat(timespec="microseconds")
    assert module("instants").since_epoch(text, 6) == int(np.datetime64(text, "us").astype("int64"))


@given(st.integers(-(2**31), 2**31 - 1), st.integers(1, 2**31 - 1))
def test_truncation_is_the_multiple_just_below(value: int, width: int) -> None:
    result, _ = module("transforms").transform(f"truncate[{width}]", "int", value)
    assert result % width == 0
    assert result <= value < result + width


@given(st.integers(-(10**20), 10**20), st.integers(1, 1000))
def test_truncation_of_decimals_is_that_of_the_unscaled_value(unscaled: int, width: int) -> None:
    text = format(Decimal(unscaled).scaleb(-2), "f")
    result, _ = module("transforms").transform(f"truncate[{width}]", "decimal(38, 2)", text)
    assert module("encoding").unscaled("decimal(38, 2)", result) == unscaled // width * width


SHORT = st.text(alphabet="a\x7f\u07ff\ud7ff\uffff\U0010ffff", max_size=5)


@given(SHORT, SHORT, st.integers(1, 3))
def test_a_shortened_upper_bound_is_not_below_any_text_with_the_beginning(text: str, tail: str, width: int) -> None:
    truncate = module("bounds").truncate
    upper, lower = truncate("string", text, width, "upper"), truncate("string", text, width, "lower")
    assert lower.encode() <= text.encode()
    assert len(lower) <= width
    if upper is not None and len(text) > width:
        assert (text[:width] + tail).encode() < upper.encode()
        assert len(upper) <= width


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_every_form_of_a_float_is_the_float(value: float) -> None:
    forms = module("json_value").json_forms("float", value)
    assert all(struct.pack("<f", form) == struct.pack("<f", value) for form in forms)


def test_wkb_of_the_standards_example() -> None:
    # The point (30 10) as shown for well-known binary: byte order, type 1, X, Y.
    assert module("wkb").point(">", "", (30.0, 10.0)).hex() == "0000000001403e0000000000004024000000000000"
    assert module("wkb").point("<", "", (30.0, 10.0)).hex() == "01010000000000000000003e400000000000002440"
