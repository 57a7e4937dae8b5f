"""Timestamps of ORC files are decoded as pyarrow does, which decodes those near to now, and beyond (ORC003, ORC007)."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.orc as orc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.data_files import orc_timestamps
from spec_ref.data_files.orc_footer import read_stripes
from spec_ref.data_files.orc_reader import open_orc
from spec_ref.data_files.orc_timestamps import read_timestamps
from spec_ref.data_files.writer import open_writer
from spec_ref.data_types.types import (
    LONG,
    TIMESTAMP,
    TIMESTAMP_NS,
    TIMESTAMPTZ,
    TIMESTAMPTZ_NS,
    NestedField,
    StructType,
)
from spec_ref.manifests.data_file import FileFormat

NANOS = st.integers(-(1 << 62), 1 << 62)
SECOND = 1_000_000_000


def write_file(values: list[int | None], zone: str | None = None, **options: Any) -> bytes:
    out = io.BytesIO()
    orc.write_table(
        pa.table({"a": list(range(len(values))), "t": pa.array(values, pa.timestamp("ns", zone))}), out, **options
    )
    return out.getvalue()


def decoded(data: bytes, type_: Any = TIMESTAMP_NS) -> list[int | None]:
    arrays = [read_timestamps(data, stripe, 2, type_) for stripe in read_stripes(data)]
    return pa.concat_arrays(arrays).cast(pa.int64()).to_pylist()


def by_pyarrow(data: bytes) -> list[int | None]:
    return orc.ORCFile(io.BytesIO(data)).read().column("t").cast(pa.int64()).to_pylist()


@st.composite
def columns(draw: st.DrawFn) -> list[int | None]:
    """Runs, steps, steps of several sizes, anything, and a few large values among small ones: every encoding."""
    made: list[int | None] = []
    for _ in range(draw(st.integers(1, 3))):
        start, count = draw(NANOS), draw(st.integers(1, 40))
        match draw(st.sampled_from(["repeat", "fixed", "growing", "any", "patched", "seconds", "null"])):
            case "repeat":
                made += [start] * count
            case "fixed":
                made += [start + n * draw(st.just(SECOND)) for n in range(count)]
            case "growing":
                made += [start - n * n * SECOND for n in range(count)]
            case "patched":
                made += [(n % 7) * SECOND + (1 << 61 if n % 23 == 11 else 0) for n in range(max(30, count))]
            case "seconds":
                made += [
                    n * SECOND + draw(st.sampled_from([0, 1, 10, 999_999, 1_000_000, 999_999_999]))
                    for n in range(count)
                ]
            case "null":
                made += [None] * count
            case _:
                made += draw(st.lists(NANOS, max_size=count))
    return made or [0]


@given(columns(), st.sampled_from(["uncompressed", "zlib", "zstd", "snappy", "lz4"]))
def test_values_are_those_that_pyarrow_reads(values: list[int | None], compression: str) -> None:
    # ORC007: milliseconds that were counted twice, or not at all, would make other values.
    data = write_file(values, compression=compression)
    assert decoded(data) == by_pyarrow(data)


def test_long_runs_and_many_stripes() -> None:
    rng = np.random.default_rng(3)
    parts = [
        np.full(5000, 7),
        np.arange(5000) * SECOND,
        rng.integers(-(1 << 62), 1 << 62, 5000),
        rng.integers(0, 99, 600),
    ]
    values = np.concatenate(parts).tolist()
    values[11] = values[7000] = None
    data = write_file(values, stripe_size=1 << 16)
    assert decoded(data) == by_pyarrow(data)


def test_every_encoding_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = set()
    for name in ("_short_repeat", "_direct", "_patched_base", "_delta"):
        whole = getattr(orc_timestamps, name)

        def noted(*args: Any, name: str = name, whole: Any = whole) -> Any:
            seen.add(name)
            return whole(*args)

        monkeypatch.setattr(orc_timestamps, name, noted)
    rng = np.random.default_rng(5)
    values = [5 * SECOND] * 5 + [n * SECOND for n in range(50)] + (rng.integers(0, 1 << 60, 60)).tolist()
    small = rng.integers(1_500_000_000, 1_500_000_060, 512).tolist()
    patched = [(n + (1 << 29 if at % 97 == 13 else 0)) * SECOND for at, n in enumerate(small)]
    for column in (values, patched):
        data = write_file(column)
        assert decoded(data) == by_pyarrow(data) == column
    assert seen == {"_short_repeat", "_direct", "_patched_base", "_delta"}


@pytest.mark.parametrize("type_", [TIMESTAMP, TIMESTAMPTZ, TIMESTAMPTZ_NS])
def test_types_have_their_unit_and_zone(type_: Any) -> None:
    zone = None if type_ == TIMESTAMP else "UTC"
    data = write_file([1_999, -1, None], zone)
    unit = 1 if type_ == TIMESTAMPTZ_NS else 1000
    read = read_timestamps(data, read_stripes(data)[0], 2, type_)
    # What was written 1 ns before 1970 cannot be distinguished from 1 ns before 1970-01-01T00:00:01.
    assert read.cast(pa.int64()).to_pylist() == [
        value if value is None else value // unit for value in by_pyarrow(data)
    ]
    assert (read.type.unit, read.type.tz) == ("ns" if unit == 1 else "us", zone)


def first_stripe(data: bytes) -> Any:
    return read_stripes(data)[0]


def test_writers_in_other_zones_and_old_encodings_are_refused() -> None:
    data = write_file([1])
    with pytest.raises(SpecError, match=r"ORC008: .*; found 'Europe/Paris'"):
        read_timestamps(data, evolve(first_stripe(data), timezone="Europe/Paris"), 2, TIMESTAMP)
    assert read_timestamps(data, evolve(first_stripe(data), timezone="Europe/Paris"), 2, TIMESTAMPTZ).null_count == 0
    with pytest.raises(SpecError, match=r"ORC008: .*; found \[0\]"):
        read_timestamps(data, evolve(first_stripe(data), encodings=(0, 0, 0)), 2, TIMESTAMP)


def test_nanoseconds_beyond_the_type_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = write_file([0])
    monkeypatch.setattr(orc_timestamps, "EPOCH", -(10**10))
    assert read_timestamps(data, first_stripe(data), 2, TIMESTAMP).cast(pa.int64()).to_pylist() == [
        -11_420_070_400 * 10**6
    ]
    with pytest.raises(SpecError, match=r"^ORC003: "):
        read_timestamps(data, first_stripe(data), 2, TIMESTAMP_NS)


@given(st.data())
def test_damaged_streams_are_reported(data: st.DataObject) -> None:
    """Any bytes are values of any kind, or a SpecError; never another error, nor a wait."""
    whole = bytearray(write_file([n * n * SECOND + n for n in range(50)], compression="uncompressed"))
    stripe = first_stripe(bytes(whole))
    stream = data.draw(st.sampled_from([one for one in stripe.streams if one.column == 2 and one.kind < 6]))
    at = stream.start + data.draw(st.integers(0, stream.length - 1))
    whole[at] = data.draw(st.integers(0, 255))
    try:
        assert len(read_timestamps(bytes(whole), stripe, 2, TIMESTAMP)) == 50
    except SpecError as error:
        assert error.violation.requirement in ("ORC008", "ORC003")  # noqa: PT017


FAR = 253_402_300_799_999_999
"""The last microsecond of the year 9999, which 64 bits of nanoseconds do not have."""


def test_far_timestamps_in_structs_are_those_of_their_columns() -> None:
    pair = StructType((NestedField(4, "y", required=False, type=LONG), NestedField(5, "z", required=False, type=LONG)))
    inner = (
        NestedField(3, "x", required=False, type=pair),
        NestedField(6, "t", required=False, type=TIMESTAMP),
        NestedField(7, "u", required=False, type=TIMESTAMP),
    )
    outer = (
        NestedField(1, "a", required=False, type=LONG),
        NestedField(2, "s", required=False, type=StructType(inner)),
        NestedField(8, "v", required=False, type=TIMESTAMP),
    )
    moments = {"t": [FAR, None, None], "u": [-FAR, None, FAR - 1], "v": [7, 8, -FAR]}
    t, u, v = (pa.array(moments[name], pa.timestamp("us")) for name in "tuv")
    x = pa.array([{"y": 1, "z": 2}, None, {"y": 3, "z": None}], pa.struct([("y", pa.int64()), ("z", pa.int64())]))
    struct = pa.StructArray.from_arrays([x, t, u], ["x", "t", "u"])
    out = io.BytesIO()
    writer = open_writer(out, StructType(outer), FileFormat.ORC)
    writer.write(pa.record_batch({"a": [1, 2, 3], "s": struct, "v": v}))
    writer.close()
    _, batches = open_orc(io.BytesIO(out.getvalue()), None)
    (found,) = batches(["a", "s", "v"], 10)
    read = {name: found.column("s").field(name) for name in "xtu"} | {"v": found.column("v")}
    assert read["x"].to_pylist() == x.to_pylist()
    assert {name: read[name].cast(pa.int64()).to_pylist() for name in "tuv"} == moments


LIMITS = [-(1 << 63), -(1 << 63) + 1, (1 << 63) - 2, (1 << 63) - 1]


@pytest.mark.parametrize(("type_", "unit"), [(TIMESTAMP, "us"), (TIMESTAMP_NS, "ns")])
def test_a_type_is_read_up_to_its_first_and_last_value(type_: Any, unit: str) -> None:
    out = io.BytesIO()
    column = pa.array([LIMITS[0], None, *LIMITS[1:]], pa.timestamp(unit))
    orc.write_table(pa.table({"a": [0] * 5, "t": column}), out)
    assert decoded(out.getvalue(), type_) == [LIMITS[0], None, *LIMITS[1:]]


@pytest.mark.parametrize("micros", [-(1 << 63) - 1, 1 << 63])
def test_what_stands_one_further_is_refused(micros: int) -> None:
    second, rest = divmod(micros, 1_000_000)
    seconds, fraction = np.array([second]), np.array([rest * 1000])
    with pytest.raises(SpecError, match="ORC003"):
        orc_timestamps._array(TIMESTAMP, seconds, fraction, np.ones(1, bool))
