"""Vectors of snapshot retention (Snapshot Retention Policy), and an independent version of the policy's five steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tools.derive.metadata import Document, topic_files
from tools.derive.metadata_bases import DAY, LOCATION, V2_MINIMAL
from tools.derive.vector import Vector, VectorFile, any_of, ok

NOW = 1_700_000_000_000
STEPS = "derivation: the steps of Snapshot Retention Policy"
COUNT, AGE, REF_AGE = "min-snapshots-to-keep", "max-snapshot-age-ms", "max-ref-age-ms"
PREFIX = "history.expire."
NEVER = 9223372036854775807
"""An age that no snapshot reaches: the table's references do not expire unless a case says so."""


def _snapshot(snapshot_id: int, parent: int | None, age_ms: int, number: int) -> Document:
    around = {} if parent is None else {"parent-snapshot-id": parent}
    return {
        "snapshot-id": snapshot_id,
        **around,
        "sequence-number": number,
        "timestamp-ms": NOW - age_ms,
        "manifest-list": f"{LOCATION}/metadata/s{snapshot_id}.avro",
        "summary": {"operation": "append"},
    }


def table(
    ages: Mapping[int, tuple[int | None, int]], refs: Document, current: int | None, properties: Document
) -> Document:
    """Return a table of snapshots, given as id to parent and age; ids grow with the time of the commit."""
    snapshots = [_snapshot(key, parent, age, place + 1) for place, (key, (parent, age)) in enumerate(ages.items())]
    changes: Document = {"last-sequence-number": len(snapshots), "last-updated-ms": NOW, "snapshots": snapshots}
    if properties:
        changes["properties"] = {f"{PREFIX}{name}": str(value) for name, value in properties.items()}
    if refs:
        changes["refs"] = refs
    if current is not None:
        changes["current-snapshot-id"] = current
        changes["snapshot-log"] = [{"timestamp-ms": NOW, "snapshot-id": current}]
    return {**V2_MINIMAL, **changes}


def expire(document: Document, now: int, defaults: Mapping[str, int] | None = None) -> tuple[set[int], set[str]]:
    """Return the snapshots and references that are kept, by the steps of the text."""
    properties = {name.removeprefix(PREFIX): int(value) for name, value in document.get("properties", {}).items()}
    policy = {**(defaults or {}), **properties}
    snapshots = {snapshot["snapshot-id"]: snapshot for snapshot in document["snapshots"]}
    refs: Document = dict(document.get("refs", {}))
    if "current-snapshot-id" in document:
        refs.setdefault("main", {"snapshot-id": document["current-snapshot-id"], "type": "branch"})

    def older(snapshot_id: int, age: int) -> bool:
        return bool(now - snapshots[snapshot_id]["timestamp-ms"] > age)

    # 1. An empty set. 2. References to snapshots that are older than max-ref-age-ms are removed, except for main.
    kept: set[int] = set()
    stay = {
        name: ref
        for name, ref in refs.items()
        if name == "main" or not older(ref["snapshot-id"], ref.get(REF_AGE, policy[REF_AGE]))
    }
    for ref in stay.values():
        # 3. The snapshot of each branch and tag stays.
        kept.add(ref["snapshot-id"])
        if ref["type"] != "branch":
            continue
        # 4. Ancestors stay until one is older than max-snapshot-age-ms and not one of the first min-snapshots-to-keep.
        place, at = 0, ref["snapshot-id"]
        while at in snapshots:
            if older(at, ref.get(AGE, policy[AGE])) and place >= ref.get(COUNT, policy[COUNT]):
                break
            kept.add(at)
            place, at = place + 1, snapshots[at].get("parent-snapshot-id")
    return kept, set(stay)  # 5. All others expire.


def unreferenced(document: Document, now: int, stay: set[str]) -> set[int]:
    """Return the snapshots without a branch or tag that are not older than the age limit of the table (C13)."""
    snapshots = {snapshot["snapshot-id"]: snapshot for snapshot in document["snapshots"]}
    age = int(document.get("properties", {}).get(f"{PREFIX}{AGE}", 0))
    reached: set[int] = set()
    refs = {"main": {"snapshot-id": document.get("current-snapshot-id"), "type": "branch"}, **document.get("refs", {})}
    for ref in (refs[name] for name in stay):
        at = ref["snapshot-id"]
        while at in snapshots and at not in reached:
            reached.add(at)
            at = snapshots[at].get("parent-snapshot-id") if ref["type"] == "branch" else None
    return {key for key in snapshots.keys() - reached if now - snapshots[key]["timestamp-ms"] <= age}


def _answer(kept: set[int], refs: set[str]) -> dict[str, Any]:
    return ok({"snapshots": [str(key) for key in sorted(kept)], "refs": sorted(refs)})


def case(name: str, codes: tuple[str, ...], document: Document, note: str, now: int = NOW) -> Vector:
    """Return a vector whose outcome the steps give; young snapshots without a reference may stay, too."""
    kept, refs = expire(document, now)
    more = unreferenced(document, now, refs) - kept
    expect = any_of(_answer(kept, refs), _answer(kept | more, refs))
    why = ("C13",) if more else ()
    return Vector(f"retention-{name}", codes, {"metadata": document, "now_ms": now}, expect, STEPS, note, why, (2,))


# Combinations of references, ages and counts: a chain of five snapshots, one each day, the last one now.

CHAIN: dict[int, tuple[int | None, int]] = {
    1: (None, 4 * DAY),
    2: (1, 3 * DAY),
    3: (2, 2 * DAY),
    4: (3, DAY),
    5: (4, 0),
}
WITH_BRANCH: dict[int, tuple[int | None, int]] = {
    1: (None, 4 * DAY),
    2: (1, 3 * DAY),
    3: (2, 2 * DAY),
    6: (3, 3 * DAY // 2),
    4: (3, DAY),
    7: (6, DAY // 2),
    5: (4, 0),
}
"""The chain, and a branch of two snapshots that begins at the third."""

AGES = {
    "half-day": DAY // 2,
    "day": DAY,
    "two-days": 2 * DAY,
    "below-two-days": 2 * DAY - 1,
    "above-two-days": 2 * DAY + 1,
    "ten-days": 10 * DAY,
}
COUNTS = (1, 2, 3, 5, 9)


def grid() -> Iterator[Vector]:
    """Yield every combination of references, ages and counts; some ages are exactly that of a snapshot."""
    policy: Document = {COUNT: 1, AGE: 1, REF_AGE: NEVER}
    for label, age in AGES.items():
        for count in COUNTS:
            main = {"snapshot-id": 5, "type": "branch", COUNT: count, AGE: age}
            tag = {"snapshot-id": 1, "type": "tag"}
            dev = {"snapshot-id": 7, "type": "branch", COUNT: 2, AGE: DAY}
            for refs, ages in (
                ({"main": main}, CHAIN),
                ({"main": main, "t": tag}, CHAIN),
                ({"main": main, "dev": dev}, WITH_BRANCH),
            ):
                names = "-".join(refs)
                yield case(
                    f"{names}-{label}-{count}",
                    ("RET004", "RET003"),
                    table(ages, refs, 5, policy),
                    f"main keeps {count} snapshot{'s' * (count > 1)} and all that are at most {age} ms old",
                )
            yield case(
                f"properties-{label}-{count}",
                ("RET004", "REF003", "REF004"),
                table(CHAIN, {}, 5, {COUNT: count, AGE: age, REF_AGE: NEVER}),
                "the table's properties hold for references without limits",
            )


def references() -> Iterator[Vector]:
    """Yield cases of references of different ages."""
    policy: Document = {COUNT: 1, AGE: 1, REF_AGE: NEVER}
    main: Document = {"main": {"snapshot-id": 5, "type": "branch"}}
    limits = (("below", 2 * DAY - 1), ("equal", 2 * DAY), ("above", 2 * DAY + 1))
    for kind in ("tag", "branch"):
        for label, limit in limits:
            note = f"a snapshot of two days, an age {label} that" if label != "equal" else "exactly the age, not older"
            yield case(
                f"{kind}-age-{label}",
                ("RET002", "REF005"),
                table(CHAIN, {**main, "r": {"snapshot-id": 3, "type": kind, REF_AGE: limit}}, 5, policy),
                note,
            )
            yield case(
                f"{kind}-age-{label}-by-property",
                ("RET002", "REF005"),
                table(CHAIN, {**main, "r": {"snapshot-id": 3, "type": kind}}, 5, {**policy, REF_AGE: limit}),
                note,
            )
    old = {key: (parent, age + 100 * DAY) for key, (parent, age) in CHAIN.items()}
    for label, refs in (("listed", main), ("implied", {})):
        yield case(
            f"main-{label}-never-expires",
            ("REF006", "RET002"),
            table(old, refs, 5, {**policy, REF_AGE: 1}),
            "main stays however old it is",
        )
    aged = {"main": {"snapshot-id": 5, "type": "branch", REF_AGE: 1}}
    yield case("main-with-age", ("REF006", "RET002"), table(old, aged, 5, policy), "an age of main has no effect")
    yield case(
        "tag-keeps-no-ancestors",
        ("RET003",),
        table(CHAIN, {**main, "t": {"snapshot-id": 3, "type": "tag"}}, 5, policy),
        "a tag keeps its snapshot alone",
    )
    off = {1: (None, 4 * DAY), 2: (1, 3 * DAY), 3: (2, 2 * DAY), 5: (1, 0)}
    yield case(
        "tag-off-main-keeps-no-ancestors",
        ("RET003",),
        table(off, {**main, "t": {"snapshot-id": 3, "type": "tag"}}, 5, {**policy, COUNT: 3}),
        "a count of snapshots to keep is for branches: a tag keeps its snapshot alone",
    )
    yield case(
        "tag-at-head",
        ("RET003",),
        table(CHAIN, {**main, "t": {"snapshot-id": 5, "type": "tag"}}, 5, policy),
        "a tag and a branch at one snapshot",
    )
    yield case(
        "tag-of-head-expires",
        ("RET002", "RET004"),
        table(old, {**main, "t": {"snapshot-id": 5, "type": "tag", REF_AGE: 1}}, 5, policy),
        "a tag expires, its snapshot stays as main's",
    )
    yield case(
        "expired-branch",
        ("RET002", "RET005"),
        table(WITH_BRANCH, {**main, "dev": {"snapshot-id": 7, "type": "branch", COUNT: 9, REF_AGE: 1}}, 5, policy),
        "the snapshots of a branch that is gone expire",
    )
    yield case(
        "expired-tag-in-chain",
        ("RET002", "RET004"),
        table(
            CHAIN,
            {
                "main": {"snapshot-id": 5, "type": "branch", COUNT: 5},
                "t": {"snapshot-id": 2, "type": "tag", REF_AGE: 1},
            },
            5,
            policy,
        ),
        "the snapshot of a tag that is gone stays as one of main's",
    )


def branches() -> Iterator[Vector]:
    """Yield cases of several branches, chains with gaps, and clocks that disagree."""
    policy: Document = {COUNT: 1, AGE: 1, REF_AGE: NEVER}
    main: Document = {"main": {"snapshot-id": 5, "type": "branch"}}
    for count in (1, 2, 3, 4, 5, 6):
        yield case(
            f"branch-counts-shared-ancestors-{count}",
            ("RET004",),
            table(WITH_BRANCH, {**main, "dev": {"snapshot-id": 7, "type": "branch", COUNT: count}}, 5, policy),
            f"the first {count} of a branch, ancestors that it has in common with main included",
        )
    yield case(
        "branches-each-their-own",
        ("RET004",),
        table(
            WITH_BRANCH,
            {
                "main": {"snapshot-id": 5, "type": "branch", COUNT: 2},
                "dev": {"snapshot-id": 7, "type": "branch", AGE: 3 * DAY},
            },
            5,
            policy,
        ),
        "one branch keeps by count, the other by age",
    )
    gap = {key: (None if parent == 2 else parent, age) for key, (parent, age) in CHAIN.items() if key != 2}
    gone = {key: value if key != 3 else (2, 2 * DAY) for key, value in gap.items()}
    yield case(
        "parent-gone",
        ("RET004", "RET005"),
        table(gone, main, 5, {**policy, COUNT: 9}),
        "the parent of snapshot 3 has expired before, and snapshot 1 is not reached",
    )
    yield case(
        "no-parent",
        ("RET004", "RET005"),
        table(gap, main, 5, {**policy, COUNT: 9}),
        "snapshot 3 has no parent, and snapshot 1 is not reached",
    )
    skewed = {**CHAIN, 3: (2, 9 * DAY), 2: (1, DAY // 2)}
    yield case(
        "older-between-younger",
        ("RET004",),
        table(skewed, main, 5, {**policy, AGE: 4 * DAY}),
        "the first that is too old ends the chain, although its parent is younger",
    )
    yield case(
        "older-among-first",
        ("RET004",),
        table(skewed, main, 5, {**policy, AGE: 4 * DAY, COUNT: 3}),
        "one that is too old is among the first, and its younger parent stays",
    )
    same = {key: (parent, DAY) for key, (parent, _) in CHAIN.items()}
    for label, age in (("equal", DAY), ("older", DAY - 1)):
        yield case(
            f"one-time-{label}",
            ("RET004",),
            table(same, main, 5, {**policy, AGE: age}),
            "all snapshots have the same time",
        )
    ahead = {**CHAIN, 5: (4, -DAY)}
    yield case(
        "snapshot-of-tomorrow",
        ("RET004",),
        table(ahead, main, 5, {**policy, AGE: DAY}),
        "a clock that was ahead makes no snapshot old",
    )
    yield case(
        "rolled-back",
        ("RET004", "RET005"),
        table(CHAIN, {"main": {"snapshot-id": 3, "type": "branch"}}, 3, {**policy, COUNT: 2}),
        "the snapshots after the current one are not reached",
    )
    staged = {**CHAIN, 6: (5, DAY)}
    for label, age in (("young", 2 * DAY), ("equal", DAY), ("old", DAY - 1)):
        yield case(
            f"unreferenced-{label}",
            ("RET005",),
            table(staged, main, 5, {**policy, AGE: age}),
            "a snapshot that no reference leads to, staged or left by a rollback",
        )
    yield case("one-snapshot", ("RET003",), table({1: (None, 100 * DAY)}, {}, 1, policy), "the current snapshot stays")
    yield case(
        "head-counts",
        ("RET004",),
        table(CHAIN, {"main": {"snapshot-id": 5, "type": "branch", COUNT: 1}}, 5, policy),
        "the head is one of the first",
    )
    unlogged = {name: member for name, member in table(CHAIN, main, 5, policy).items() if name != "snapshot-log"}
    yield case("no-snapshot-log", ("RET004", "TMD017"), unlogged, "the log is optional, and no step asks for it")
    over = {"main": {"snapshot-id": 5, "type": "branch", COUNT: 1, AGE: 1}}
    yield case(
        "reference-wins",
        ("REF003", "REF004"),
        table(CHAIN, over, 5, {COUNT: 9, AGE: 10 * DAY, REF_AGE: NEVER}),
        "the limits of a reference take precedence over those of the table",
    )


def without_properties() -> Iterator[Vector]:
    """Yield cases of tables without properties of retention, for which the spec has no numbers."""
    java = {COUNT: 1, AGE: 5 * DAY, REF_AGE: NEVER}
    old = {key: (parent, age + 3 * DAY) for key, (parent, age) in CHAIN.items()}
    everything = _answer(set(old), {"main"})
    document = table(old, {}, 5, {})
    yield Vector(
        "retention-no-properties",
        ("REF003", "REF004"),
        {"metadata": document, "now_ms": NOW},
        any_of(_answer(*expire(document, NOW, java)), everything),
        STEPS,
        "the text names no defaults: those of Iceberg-Java are 1 snapshot and 5 days",
        ("B24",),
        (2,),
    )


def files() -> Iterator[VectorFile]:
    """Yield the files of snapshot retention."""
    for topic, vectors in (
        ("grid", grid()),
        ("references", references()),
        ("branches", branches()),
        ("defaults", without_properties()),
    ):
        yield from topic_files(f"snapshot-retention/{topic}", "retention.expire", list(vectors))
