"""Faults of lower and upper bounds (Appendix D, Bound serialization; Schema Evolution; Data File Fields)."""

from __future__ import annotations

from typing import Any

from conformance.adapter_sdk.serve import Arguments
from spec_ref.data_types.types import Type
from spec_ref.schemas.type_json import type_from_json
from tests.faulty_adapters import Fault, Operation
from tests.faulty_adapters.single_values import Wrong, encoded, kind


def _upper_not_incremented(arguments: Arguments, right: Operation) -> Any:
    return right({**arguments, "side": "lower"})


def _upper_never_given(arguments: Arguments, right: Operation) -> Any:
    return right(arguments) if arguments["side"] == "lower" or _short(arguments) else None


def _upper_always_given(arguments: Arguments, right: Operation) -> Any:
    answer = right(arguments)
    return right({**arguments, "side": "lower"}) if answer is None else answer


def _upper_incremented_when_whole(arguments: Arguments, right: Operation) -> Any:
    """Increments a value that was not cut."""
    value = arguments["value"]
    if (
        arguments["side"] == "upper"
        and _short(arguments)
        and arguments["type"] == "string"
        and value[-1:].isascii()
        and value
    ):
        return arguments["value"][:-1] + chr(ord(arguments["value"][-1]) + 1)
    return right(arguments)


def _short(arguments: Arguments) -> bool:
    size = len(arguments["value"]) // (1 if arguments["type"] == "string" else 2)
    return size <= int(arguments["width"])


def _cut_by_bytes(arguments: Arguments, right: Operation) -> Any:
    if arguments["type"] != "string":
        return right(arguments)
    cut = arguments["value"].encode()[: arguments["width"]].decode("utf-8", "ignore")
    return (
        right({**arguments, "value": cut, "width": max(1, len(cut))})
        if arguments["side"] == "lower"
        else right(arguments)
    )


def _cut_by_utf16_units(arguments: Arguments, right: Operation) -> Any:
    if arguments["type"] != "string" or arguments["side"] != "lower":
        return right(arguments)
    return arguments["value"].encode("utf-16-le")[: 2 * arguments["width"]].decode("utf-16-le", "ignore")


def _surrogate_skipped_wrongly(arguments: Arguments, right: Operation) -> Any:
    """Has no successor for U+D7FF, and gives up where it should go to U+E000."""
    answer = right(arguments)
    return None if isinstance(answer, str) and arguments["side"] == "upper" and answer.endswith("\ue000") else answer


def _carry_missed(arguments: Arguments, right: Operation) -> Any:
    """Looks at the last place alone: no upper bound when it cannot grow."""
    if arguments["side"] == "lower" or _short(arguments):
        return right(arguments)
    answer = right(arguments)
    unit = 1 if arguments["type"] == "string" else 2
    return None if answer is not None and len(answer) < arguments["width"] * unit else answer


def _binary_carry_kept(arguments: Arguments, right: Operation) -> Any:
    """Turns a byte FF into 00 and keeps it, instead of dropping it."""
    answer = right(arguments)
    if arguments["type"] == "string" or not isinstance(answer, str) or _short(arguments):
        return answer
    return answer.ljust(2 * arguments["width"], "0")


def widened(*types: str) -> Wrong:
    """Make a fault that refuses or misreads a bound from before a promotion: it wants the full width."""

    def wrong(arguments: Arguments, right: Operation) -> Any:
        if kind(type_from_json(arguments["type"])) in types and len(arguments["bytes"]) == 8:
            return right({**arguments, "bytes": arguments["bytes"] + "00000000"})
        return right(arguments)

    return wrong


def _any_length(arguments: Arguments, right: Operation) -> Any:
    type_ = kind(type_from_json(arguments["type"]))
    if type_ in ("int", "date") and len(arguments["bytes"]) == 16:
        return right({**arguments, "bytes": arguments["bytes"][:8]})
    return right(arguments)


def _date_promoted_to_zoned(arguments: Arguments, right: Operation) -> Any:
    names = {"timestamptz": "timestamp", "timestamptz_ns": "timestamp_ns"}
    name = str(type_from_json(arguments["type"]))
    if name not in names or len(arguments["bytes"]) != 8:
        return right(arguments)
    return right({**arguments, "type": names[name]}) + "+00:00"


@encoded("geometry", "geography")
def _swapped(data: bytes, _value: Any, _: Type) -> bytes:
    return data[8:16] + data[:8] + data[16:]


@encoded("geometry", "geography")
def _always_four(data: bytes, _value: Any, _: Type) -> bytes:
    return data.ljust(32, b"\0")


@encoded("geometry", "geography")
def _m_in_place_of_z(data: bytes, value: Any, _: Type) -> bytes:
    return data[:16] + data[24:] if value.z is None and value.m is not None else data


@encoded("geometry", "geography")
def _geo_big_endian(data: bytes, _value: Any, _: Type) -> bytes:
    return b"".join(data[at : at + 8][::-1] for at in range(0, len(data), 8))


FAULTS = (
    tuple(
        Fault(f"bound-{name}", "bound.truncate", wrong)
        for name, wrong in {
            "upper-not-incremented": _upper_not_incremented,
            "upper-never-given": _upper_never_given,
            "upper-always-given": _upper_always_given,
            "upper-incremented-when-whole": _upper_incremented_when_whole,
            "lower-cut-by-bytes": _cut_by_bytes,
            "lower-cut-by-utf16-units": _cut_by_utf16_units,
            "surrogates-not-skipped": _surrogate_skipped_wrongly,
            "carry-missed": _carry_missed,
            "binary-carry-kept": _binary_carry_kept,
        }.items()
    )
    + tuple(
        Fault(f"bound-{name}", "bound.decode", wrong)
        for name, wrong in {
            "promoted-long-misread": widened("long"),
            "promoted-double-misread": widened("double"),
            "promoted-date-misread": widened("timestamp", "timestamp_ns"),
            "long-bound-of-int-accepted": _any_length,
            "date-promoted-to-zoned": _date_promoted_to_zoned,
        }.items()
    )
    + tuple(
        Fault(f"bound-{name}", "bound.encode", wrong)
        for name, wrong in {
            "point-swapped": _swapped,
            "point-always-four-coordinates": _always_four,
            "point-m-in-place-of-z": _m_in_place_of_z,
            "point-big-endian": _geo_big_endian,
        }.items()
    )
)
