"""Vectors of upgrades: nothing is rewritten, and the numbers that the new version adds start at 0 (Appendix E)."""

from __future__ import annotations

from collections.abc import Iterator

from tools.derive.metadata import apply_edits, canonical, select_members
from tools.derive.metadata_bases import BASES, UUID
from tools.derive.vector import INVALID, Vector, ok

STEPS = ((1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3))

KEPT = (
    "table-uuid",
    "location",
    "last-column-id",
    "schemas",
    "current-schema-id",
    "partition-specs",
    "default-spec-id",
    "last-partition-id",
    "sort-orders",
    "default-sort-order-id",
    "properties",
    "current-snapshot-id",
    "snapshots",
    "refs",
    "snapshot-log",
    "metadata-log",
)
"""The members that an upgrade does not change (VER003, LIN013)."""


def upgrades() -> Iterator[Vector]:
    """Yield cases of upgrades: nothing is rewritten, and the numbers that the new version adds start at 0."""
    for old, new in STEPS:
        bases = {"rich": f"v{old}-rich"} if old == 3 else {"rich": f"v{old}-rich", "nested": "v2-nested"}
        if old == 1:
            bases = {"rich": "v1-rich"}
        for label, base in bases.items():
            document = BASES[base]
            form = canonical(document)
            row = "0" if old < 3 <= new else form.get("next-row-id")
            expected = {
                **select_members(form, KEPT),
                "format-version": new,
                "last-sequence-number": form["last-sequence-number"],
                "next-row-id": row,
            }
            kept = tuple(name for name in KEPT if name != "metadata-log")
            names = ("format-version", "last-sequence-number", "next-row-id", *kept)
            codes = ("LIN013", "UPG003") if new == 3 > old else ("UPG003", "VER003") if old < new else ("VER003",)
            answer = {name: expected[name] for name in names if expected.get(name) is not None}
            yield Vector(
                f"upgrade-v{old}-to-v{new}-{label}",
                codes,
                {"metadata": document, "format_version": new, "select": list(names)},
                ok(answer),
                "spec: Appendix E; Row Lineage for Upgraded Tables",
                "everything stays; sequence numbers and row ids start at 0"
                if old < new
                else "a table that has the version stays as it is",
                only=tuple(sorted({max(new, 2)})),
            )
    for member, base, code in (
        ("schemas", "v1-minimal", "TMD008"),
        ("partition-specs", "v1-minimal", "TMD011"),
        ("sort-orders", "v1-minimal", "TMD019"),
    ):
        document = apply_edits(BASES[base], {"/table-uuid": UUID})
        for new in (2, 3):
            yield Vector(
                f"upgrade-v1-to-v{new}-fills-{member}",
                (code, "UPG003"),
                {"metadata": document, "format_version": new, "select": [member]},
                ok(select_members(canonical(document), (member,))),
                "spec: Appendix E, Version 2",
                f"{member} is required from v2 and made of what v1 has",
                only=(new,),
            )
    for base in ("v1-snapshots", "v2-small"):
        document = apply_edits(BASES[base], {"/table-uuid": UUID})
        yield Vector(
            f"upgrade-{base}-to-v3-snapshots",
            ("LIN013", "SNP010"),
            {"metadata": document, "format_version": 3, "select": ["snapshots", "next-row-id"]},
            ok({"snapshots": canonical(document)["snapshots"], "next-row-id": "0"}),
            "spec: Row Lineage for Upgraded Tables",
            "existing snapshots get no row ids",
            only=(3,),
        )
    yield Vector(
        "upgrade-v1-to-v2-manifests",
        ("UPG005", "VER003"),
        {
            "metadata": apply_edits(BASES["v1-snapshots"], {"/table-uuid": UUID}),
            "format_version": 2,
            "select": ["snapshots"],
        },
        ok({"snapshots": canonical(BASES["v1-snapshots"])["snapshots"]}),
        "spec: Appendix E, Version 2",
        "a snapshot without a manifest list keeps its manifests",
        only=(2,),
    )
    for old, new in ((2, 1), (3, 1), (3, 2)):
        yield Vector(
            f"upgrade-v{old}-to-v{new}",
            ("VER003",),
            {"metadata": BASES[f"v{old}-minimal"], "format_version": new},
            INVALID,
            "derivation: a lower version has no place for what the table has and requires, by hand",
            "no table goes to a lower version",
            only=(2, 3),
        )
