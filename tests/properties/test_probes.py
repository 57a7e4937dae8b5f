"""What a writer does not support is found out before scripts are drawn for it."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.adapter_sdk.serve import Unsupported
from conformance.engines.reference import adapter as reference
from conformance.properties.errors import NotSupported
from conformance.properties.probes import CHANGING, MODES, find_supported, probes, probes_together
from conformance.properties.script_maker import PROPERTIES, Size, usual_partition_name
from conformance.properties.scripts import EXCLUDABLE, make_script
from conformance.properties.values import NESTED_WORDS, WITH_ARGUMENTS
from conformance.runner.adapter_interface import InProcess
from conformance.scripts.model import check_script


@pytest.fixture(autouse=True)
def _without_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _descriptor: None)


def _writer(*lacks: str) -> InProcess:
    operations: dict[str, Any] = reference.operations()
    right = operations["table.write"]

    def write(args: dict[str, Any]) -> Any:
        for one in args["script"]["operations"]:
            words = (one["op"], one.get("mode"), one.get("properties", {}).get("write.format.default"))
            found = sorted(set(lacks) & {word for word in words if word is not None})
            if found:
                raise Unsupported(f"no {found[0]}")
        return right(args)

    return InProcess("shy", reference.implementation(), {**operations, "table.write": write}, reference.REFUSALS)


def test_probes_are_scripts_that_make_sense() -> None:
    words = [word for word, _ in probes(2)]
    assert set(words) <= EXCLUDABLE | {"long"}
    assert len(set(words)) == len(words)
    assert set(words) >= {*WITH_ARGUMENTS, *NESTED_WORDS, *PROPERTIES}
    assert set(words) >= {"sort-transforms", "several-changes", "evolve-items", "remove-properties"}
    for _, operations in probes(2):
        check_script({"operations": operations})


def test_what_a_writer_lacks_is_left_out() -> None:
    found = find_supported(_writer("merge", "orc", "merge-on-read"), frozenset({"v1"}))
    assert found.reasons == {"merge": "no merge", "orc": "no orc", "merge-on-read": "no merge-on-read"}
    assert found.exclude == {"v1", *found.reasons}


def test_a_writer_that_deletes_nothing_gets_odd_names() -> None:
    found = find_supported(_writer("delete"), frozenset({"v1"}))
    assert found.reasons.keys() == {"delete", *MODES}


def test_what_a_writer_lacks_on_some_tables_alone_is_left_out_there() -> None:
    operations: dict[str, Any] = reference.operations()
    right = operations["table.write"]

    def write(args: dict[str, Any]) -> Any:
        create, *others = args["script"]["operations"]
        types = [one["type"] for one in create["schema"]["fields"]]
        if "time" in types and "merge" in [one["op"] for one in others]:
            raise Unsupported("no merge of times")
        return right(args)

    writer = InProcess("shy", reference.implementation(), {**operations, "table.write": write}, reference.REFUSALS)
    found = find_supported(writer)
    assert found.reasons == {"time+merge": "no merge of times"}
    for seed in range(60):
        create, *others = make_script(seed, found.exclude, Size(operations=10))["operations"]
        if "time" in [one["type"] for one in create["schema"]["fields"]]:
            columns = {one["name"] for one in create["schema"]["fields"] if one["type"] == "time"}
            changes = [change for one in others for change in one.get("changes", ())]
            if not columns & {change["name"] for change in changes}:
                assert "merge" not in [one["op"] for one in others]


def test_a_writer_that_chooses_the_names_of_partition_fields_gets_no_others() -> None:
    operations: dict[str, Any] = reference.operations()
    right = operations["table.write"]

    def added(operations: list[Any]) -> list[Any]:
        create, *others = operations
        changes = [change for one in others if one["op"] == "alter-spec" for change in one["changes"]]
        return [*create.get("partition", ()), *(change for change in changes if change["op"] == "add")]

    def write(args: dict[str, Any]) -> Any:
        for part in added(args["script"]["operations"]):
            if part["name"] != usual_partition_name(part["source"], part["transform"]):
                raise Unsupported("no names")
        return right(args)

    writer = InProcess("shy", reference.implementation(), {**operations, "table.write": write}, reference.REFUSALS)
    found = find_supported(writer)
    assert found.reasons == {"partition-names": "no names"}
    scripts = [make_script(seed, found.exclude, Size(operations=10))["operations"] for seed in range(150)]
    for part in (part for one in scripts for part in added(one)):
        assert part["name"] == usual_partition_name(part["source"], part["transform"])
    changes = [change for script in scripts for one in script if one["op"] == "alter-spec" for change in one["changes"]]
    assert {change["op"] for change in changes} == {"add", "remove"}


@pytest.mark.parametrize(
    ("transform", "name"),
    [
        ("identity", "c"),
        ("bucket[4]", "c_bucket"),
        ("truncate[10]", "c_trunc"),
        ("day", "c_day"),
        ("void", "c_null"),
    ],
)
def test_the_usual_names_of_partition_fields(transform: str, name: str) -> None:
    assert usual_partition_name("c", transform) == name


def test_the_probes_of_what_lacks_together_make_sense() -> None:
    for word in ("partition", "time", "long", "timestamp_ns"):
        check_script({"operations": probes_together(3, word, CHANGING)})


def test_a_writer_of_nothing_is_refused() -> None:
    with pytest.raises(NotSupported, match=r"version 2: .*no create"):
        find_supported(_writer("create"))
