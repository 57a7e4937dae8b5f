"""The vectors of broken documents: reading, the complete check, and the same for the nearest valid document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from tools.derive import metadata_cases, metadata_cases_history, metadata_cases_schemas, metadata_cases_specs
from tools.derive.metadata import Document, apply_edits, canonical, select_members, topic_files
from tools.derive.metadata_bases import BASES
from tools.derive.metadata_cases import EITHER, REFUSED, TEXTS, Case
from tools.derive.vector import INVALID, Vector, VectorFile, any_of, ok

ORIGIN = "derivation: a valid document with one change, by hand, that the requirement rules out"
VALID = "derivation: what the field tables and Appendix C give every member, by hand"
REQUESTED = ("format-version", "location")
"""The members that are requested from a document that a reader may accept, only to show that it does."""

GROUPS = {
    "fields": metadata_cases,
    "schemas": metadata_cases_schemas,
    "specs": metadata_cases_specs,
    "history": metadata_cases_history,
}


def all_cases() -> Iterator[tuple[str, Case]]:
    """Yield every case with its group."""
    for group, module in GROUPS.items():
        for case in module.cases():
            yield group, case


def _codes(case: Case) -> tuple[str, ...]:
    """Return the requirements: the broken ones, then the others that the case is about."""
    return (*case.codes, *(code for code in case.further_codes if code not in case.codes))


def _version(document: Document, base: str) -> tuple[int, ...]:
    stated = document.get("format-version")
    return (stated,) if type(stated) is int and stated in (1, 2, 3) else (BASES[base]["format-version"],)


@cache
def _names() -> dict[str, str]:
    """Return the ids of the valid documents, by their text."""
    return {json.dumps(document): f"metadata-{name}" for _, name, _, document, _ in _neighbours()}


def _note(case: Case) -> str:
    """Return the note: what is broken, and which vector has the nearest valid document."""
    return (
        f"{case.note}; valid counterpart: {_names()[json.dumps(apply_edits(BASES[case.base], case.valid_edits or {}))]}"
    )


def _read_vector(case: Case) -> Vector:
    document = apply_edits(BASES[case.base], case.edits)
    asked = REQUESTED if "/location" not in case.edits else ("format-version", "table-uuid")
    args: Document = {"metadata": document, "select": list(asked)}
    taken = ok(select_members(canonical(BASES[case.base]), asked))
    why: tuple[str, ...] = case.contradictions
    if case.outcome == REFUSED:
        expect: Any = INVALID
    elif case.outcome == EITHER:
        expect, why = any_of(INVALID, taken), why or ("E17",)
    else:
        expect = taken
    return Vector(
        f"metadata-{case.id}", _codes(case), args, expect, ORIGIN, _note(case), why, _version(document, case.base)
    )


def _check_vector(case: Case) -> Vector:
    document = apply_edits(BASES[case.base], case.edits)
    return Vector(
        f"metadata-check-{case.id}",
        _codes(case),
        {"metadata": document},
        ok(sorted(case.codes)),
        ORIGIN,
        _note(case),
        only=_version(document, case.base),
    )


def _neighbours() -> Iterator[tuple[str, str, tuple[str, ...], Document, str]]:
    """Yield the valid documents: group, name, requirements, document, note; each document once."""
    seen: set[str] = set()
    for name, document in BASES.items():
        seen.add(json.dumps(document))
        has_key = any("key-id" in snapshot for snapshot in document.get("snapshots", ()))
        codes = ("SNP012", "TMD029") if has_key else ("TMD029",)
        yield "bases", f"base-{name}", codes, document, f"the valid document {name}, from which others are made"
    for group, case in all_cases():
        if case.valid_edits is None:
            continue
        document = apply_edits(BASES[case.base], case.valid_edits)
        text = json.dumps(document)
        if text not in seen:
            seen.add(text)
            yield group, f"{case.id}-valid", _codes(case), document, f"the valid counterpart of metadata-{case.id}"


def _requested_members(base: Document, document: Document) -> tuple[str, ...]:
    """Return the members in which a neighbour differs from the document from which it was made."""
    before, after = canonical(base), canonical(document)
    return tuple(name for name in after if after[name] != before.get(name)) or REQUESTED


def _select_all(document: Document) -> tuple[str, ...]:
    """Return () to select all members; for a v1 table without a UUID, all others, as a reader may generate the UUID."""
    return () if "table-uuid" in document else tuple(canonical(document))


def files() -> Iterator[VectorFile]:
    """Yield the files of broken documents and of their valid neighbours."""
    reads: dict[str, list[Vector]] = {group: [] for group in ("texts", *GROUPS)}
    checks: dict[str, list[Vector]] = {group: [] for group in ("texts", *GROUPS)}
    for name, text, outcome, note, why in TEXTS:
        assert outcome == REFUSED
        args: dict[str, Any] = {"metadata": text}
        reads["texts"].append(
            Vector(f"metadata-text-{name}", ("TMD029",), args, INVALID, "spec: Appendix C", note, why)
        )
        checks["texts"].append(
            Vector(f"metadata-check-text-{name}", ("TMD029",), args, ok(["TMD029"]), "spec: Appendix C", note, why)
        )
    for group, case in all_cases():
        reads[group].append(_read_vector(case))
        checks[group].append(_check_vector(case))
    near_reads: dict[str, list[Vector]] = {}
    near_checks: dict[str, list[Vector]] = {}
    bases = {case.id: BASES[case.base] for _, case in all_cases()}
    for group, name, codes, document, note in _neighbours():
        version = (document["format-version"],)
        asked = (
            _requested_members(bases[name.removesuffix("-valid")], document)
            if group != "bases"
            else _select_all(document)
        )
        args = {"metadata": document, **({"select": list(asked)} if asked else {})}
        form = select_members(canonical(document), asked) if asked else canonical(document)
        near_reads.setdefault(group, []).append(
            Vector(f"metadata-{name}", codes, args, ok(form), VALID, note, only=version)
        )
        near_checks.setdefault(group, []).append(
            Vector(f"metadata-check-{name}", codes, {"metadata": document}, ok([]), VALID, note, only=version)
        )
    for group, vectors in reads.items():
        yield from topic_files(f"table-metadata/broken-{group}", "metadata.read", vectors)
        yield from topic_files(f"table-metadata/check-{group}", "metadata.check", checks[group])
    for group, vectors in near_reads.items():
        yield from topic_files(f"table-metadata/valid-{group}", "metadata.read", vectors)
        yield from topic_files(f"table-metadata/check-valid-{group}", "metadata.check", near_checks[group])
