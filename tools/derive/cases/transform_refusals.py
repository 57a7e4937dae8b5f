"""Sources, parameters and values that transforms refuse (Partition Transforms; Partition Specs)."""

from __future__ import annotations

from tools.derive.cases.transform_kit import (
    ALL_PRIMITIVES,
    BUCKET,
    CODES,
    GENERAL,
    OTHER_SOURCES,
    SOURCES,
    TRUNCATE,
    TRUNCATE_CODES,
    base_type,
    codes_for,
    type_slug,
)
from tools.derive.cases.values import BAD_VALUES, MALFORMED
from tools.derive.vector import INVALID, Vector, refusals


def _source_refusals(name: str) -> list[Vector]:
    base = name.split("[")[0]
    codes = ("TRN005",) if base == "truncate" else (CODES[base][0],)
    rows = [
        (
            f"{base}-of-{type_slug(type_)}",
            {"transform": name, "type": type_, "value": value},
            f"{base} has no source type {type_}",
        )
        for type_, value in ALL_PRIMITIVES.items()
        if type_ not in SOURCES[name]
    ] + [
        (f"{base}-of-{slug}", {"transform": name, "type": type_, "value": value}, f"{base} has no source type {slug}")
        for slug, (type_, value) in OTHER_SOURCES.items()
    ]
    return refusals("transform-source", codes, rows, "spec: Partition Transforms, source types")


PARAMETERS = [
    ("bucket-0", "bucket[0]", "int", 34, "TRN017", "no bucket to put the value in"),
    ("bucket-minus-1", "bucket[-1]", "int", 34, "TRN017", "a negative number of buckets"),
    ("bucket-empty", "bucket[]", "int", 34, "PAR021", "the number is missing"),
    ("bucket-bare", "bucket", "int", 34, "PAR021", "the number is missing"),
    ("bucket-word", "bucket[x]", "int", 34, "PAR021", "not a number"),
    ("bucket-fraction", "bucket[1.5]", "int", 34, "PAR021", "not an integer"),
    ("bucket-open", "bucket[16", "int", 34, "PAR021", "the bracket is not closed"),
    ("bucket-trailing", "bucket[16]x", "int", 34, "PAR021", "text after the bracket"),
    ("bucket-parentheses", "bucket(16)", "int", 34, "PAR021", "the JSON form has square brackets"),
    ("bucket-two-numbers", "bucket[16,2]", "int", 34, "PAR021", "one number, not two"),
    ("truncate-0", "truncate[0]", "int", 34, "TRN017", "no remainder modulo 0"),
    ("truncate-0-string", "truncate[0]", "string", "iceberg", "TRN017", "a width is positive"),
    ("truncate-minus-10", "truncate[-10]", "int", 34, "TRN017", "a negative width"),
    ("truncate-minus-3-string", "truncate[-3]", "string", "iceberg", "TRN017", "a negative width"),
    ("truncate-empty", "truncate[]", "int", 34, "PAR021", "the number is missing"),
    ("truncate-bare", "truncate", "int", 34, "PAR021", "the number is missing"),
    ("truncate-word", "truncate[ten]", "int", 34, "PAR021", "not a number"),
    ("truncate-open", "truncate[10", "int", 34, "PAR021", "the bracket is not closed"),
    ("year-with-number", "year[1]", "date", "2017-11-16", "PAR021", "year takes no number"),
    ("day-with-number", "day[1]", "date", "2017-11-16", "PAR021", "day takes no number"),
    ("identity-with-number", "identity[1]", "int", 34, "PAR021", "identity takes no number"),
    ("empty", "", "int", 34, "PAR021", "no transform"),
    ("zorder", "zorder", "int", 34, "PAR007", "no data is written with an unknown transform"),
    ("minute", "minute", "timestamp", "2017-11-16T22:31:08.000000", "PAR007", "there is no minute transform"),
    ("week", "week", "date", "2017-11-16", "PAR007", "there is no week transform"),
    ("zorder-with-number", "zorder[4]", "int", 34, "PAR007", "an unknown transform with a number"),
]


def _refusal_topic(vector: Vector) -> tuple[str, str]:
    """Return the file and the section of a refusal; the section of a requirement about transforms, if any."""
    codes = set(vector.requirements)
    if "TRN017" in codes:
        return "refusals", GENERAL
    if codes & {"TRN003", "TRN004"}:
        return "refusals-bucket", BUCKET
    if codes & {"TRN005", *TRUNCATE_CODES.values()}:
        return "refusals-truncate", TRUNCATE
    if any(code.startswith("TRN") for code in codes):
        return "refusals", GENERAL
    return ("refusals-unknown", "Partitioning") if "PAR007" in codes else ("refusals-texts", "Partition Specs")


def refused_by_topic() -> dict[tuple[str, str], list[Vector]]:
    """Return all refusals by the topic and the section of their file."""
    geo = [
        (slug, {"transform": "identity", "type": type_, "value": value}, f"identity has no source type {slug}")
        for slug, (type_, value) in OTHER_SOURCES.items()
    ]
    refused = [vector for name in SOURCES if name not in ("void", "identity") for vector in _source_refusals(name)]
    refused += refusals("transform-source-identity-of", ("TRN002",), geo, "spec: Partition Transforms, source types")
    refused += [
        Vector(
            f"transform-parameter-{slug}",
            (code, *codes_for(name, "")[:1]) if name.split("[")[0] in CODES else (code,),
            {"transform": name, "type": type_, "value": value},
            INVALID,
            "spec: the formulas divide by N and W" if code == "TRN017" else "spec: Partition Specs, transforms",
            note,
            ("E15",) if code == "TRN017" else (),
        )
        for slug, name, type_, value, code, note in PARAMETERS
    ] + [
        Vector(
            f"transform-value-{name.split('[')[0]}-{slug}",
            (code, codes_for(name, type_)[0]),
            {"transform": name, "type": type_, "value": value},
            INVALID,
            "spec: Primitive Types",
            note,
            tags=MALFORMED,
        )
        for name, sources in SOURCES.items()
        if name != "void"
        for slug, type_, value, code, note in BAD_VALUES
        if base_type(type_) in map(base_type, sources)
    ]
    topics: dict[tuple[str, str], list[Vector]] = {}
    for vector in refused:
        topics.setdefault(_refusal_topic(vector), []).append(vector)
    return topics
