"""Faults of manifests and manifest lists that engines had."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.adapter_sdk.serve import Arguments
from spec_ref.core.errors import SpecError
from spec_ref.core.json_types import JsonObject
from tests.faulty_adapters import Fault, Operation

Wrong = Callable[[Arguments, Operation], Any]


def entries(change: Callable[[JsonObject, Arguments], None]) -> Wrong:
    """A fault that changes each entry that was read."""

    def wrong(args: Arguments, right: Operation) -> Any:
        answer = right(args)
        for entry in answer["entries"]:
            change(entry, args)
        return answer

    return wrong


def files(change: Callable[[JsonObject], None]) -> Wrong:
    """A fault that changes each data file that was read."""
    return entries(lambda entry, _: change(entry["data_file"]))


def listed(change: Callable[[JsonObject], None]) -> Wrong:
    """A fault that changes each manifest of a list that was read."""

    def wrong(args: Arguments, right: Operation) -> Any:
        answer = right(args)
        for manifest in answer["manifests"]:
            change(manifest)
        return answer

    return wrong


def tolerant(answer: Any) -> Wrong:
    """A fault that takes a file that is damaged, for one that has nothing."""

    def wrong(args: Arguments, right: Operation) -> Any:
        try:
            return right(args)
        except SpecError:
            return answer

    return wrong


def _guessed(entry: JsonObject, args: Arguments) -> None:
    for name in ("sequence_number", "file_sequence_number"):
        entry.setdefault(name, args["manifest_file"]["sequence_number"])


def _always_inherited(entry: JsonObject, args: Arguments) -> None:
    for name in ("sequence_number", "file_sequence_number"):
        entry[name] = args["manifest_file"]["sequence_number"]


def _snapshot_of_the_list(entry: JsonObject, args: Arguments) -> None:
    entry["snapshot_id"] = args["manifest_file"]["added_snapshot_id"]


def _live_only(args: Arguments, right: Operation) -> Any:
    answer = right(args)
    answer["entries"] = [entry for entry in answer["entries"] if entry["status"] != 2]
    return answer


def _row_ids_of_all(args: Arguments, right: Operation) -> Any:
    """Row ids that count every file before, also those that have theirs."""
    answer = right(args)
    first = args["manifest_file"].get("first_row_id")
    for entry in answer["entries"] if first is not None else ():
        file = entry["data_file"]
        if file.get("first_row_id") is not None:
            file["first_row_id"] = first
        first = str(int(first) + int(file["record_count"]))
    return answer


def _falsy_partition(file: JsonObject) -> None:
    file["partition"] = {key: value for key, value in file["partition"].items() if value}


def _doubles(entry: JsonObject, _: Arguments) -> None:
    if "snapshot_id" in entry:
        entry["snapshot_id"] = str(int(float(entry["snapshot_id"])))


def _no_zero(manifest: JsonObject) -> None:
    if manifest.get("min_sequence_number") == "0":
        manifest["min_sequence_number"] = manifest["sequence_number"]


def _zero_counts(manifest: JsonObject) -> None:
    for kind in ("added", "existing", "deleted"):
        manifest.setdefault(f"{kind}_files_count", 0)


def _header_decides(args: Arguments, right: Operation) -> Any:
    """The content of the header in place of the list's."""
    answer = right(args)
    if b"deletes" in bytes.fromhex(args["bytes"])[:6000] and not args["manifest_file"]["content"]:
        for entry in answer["entries"]:
            entry["data_file"]["content"] = 1
    return answer


def _first_block(args: Arguments, right: Operation) -> Any:
    answer = right(args)
    answer["entries"] = answer["entries"][:2]
    return answer


def without(*codes: str) -> Wrong:
    """A fault of a validator that does not know some rules."""
    return lambda args, right: [code for code in right(args) if code not in codes]


def _row_ids_for_deletes(args: Arguments, right: Operation) -> Any:
    manifests = [{**one, "content": 0} for one in args["manifests"]]
    return right({**args, "manifests": manifests})


def _own_number_for_all(args: Arguments, right: Operation) -> Any:
    manifests = [{**one, "sequence_number": args["sequence_number"]} for one in args["manifests"]]
    return right({**args, "manifests": manifests})


def _deleted_stay(args: Arguments, right: Operation) -> Any:
    rows = [{**row, "status": 0} if row["status"] == 2 else row for row in args["entries"]]
    return right({**args, "entries": rows})


def _without_metrics(args: Arguments, right: Operation) -> Any:
    rows = []
    for row in args["entries"]:
        file = {name: value for name, value in row["data_file"].items() if not name.endswith(("_counts", "_bounds"))}
        rows.append({**row, "data_file": file})
    return right({**args, "entries": rows})


def _explicit_numbers(args: Arguments, right: Operation) -> Any:
    """A file whose existing entries leave their numbers to be inherited, as long as the writer lets them."""
    rows = [{**row, "status": 1} if row["status"] == 0 else row for row in args["entries"]]
    return right({**args, "entries": rows})


FAULTS = (
    *(
        Fault(f"manifest-{name}", "manifest.read", wrong)
        for name, wrong in {
            "existing-entries-inherit": entries(_guessed),
            "explicit-numbers-replaced": entries(_always_inherited),
            "snapshot-id-of-the-list": entries(_snapshot_of_the_list),
            "snapshot-ids-as-doubles": entries(_doubles),
            "deleted-entries-left-out": _live_only,
            "row-ids-count-all-files": _row_ids_of_all,
            "row-ids-not-read": files(lambda file: file.pop("first_row_id", None)),
            "zero-and-empty-partitions-as-null": files(_falsy_partition),
            "equality-ids-not-read": files(lambda file: file.pop("equality_ids", None)),
            "deletion-vectors-not-read": files(lambda file: file.pop("content_offset", None)),
            "content-as-data": files(lambda file: file.update(content=0)),
            "formats-as-written": files(lambda file: file.update(file_format=file["file_format"].upper())),
            "bounds-cut": files(lambda file: file.update(lower_bounds={})),
            "header-decides-on-content": _header_decides,
            "first-block-only": _first_block,
            "damaged-as-empty": tolerant({"entries": []}),
        }.items()
    ),
    *(
        Fault(f"manifest-list-{name}", "manifest-list.read", wrong)
        for name, wrong in {
            "zero-as-unknown": listed(_no_zero),
            "unknown-counts-as-zero": listed(_zero_counts),
            "content-as-data": listed(lambda manifest: manifest.update(content=0)),
            "row-ids-not-read": listed(lambda manifest: manifest.pop("first_row_id", None)),
            "key-metadata-not-read": listed(lambda manifest: manifest.pop("key_metadata", None)),
            "summaries-reversed": listed(lambda manifest: manifest.get("partitions", []).reverse()),
            "damaged-as-empty": tolerant({"manifests": []}),
        }.items()
    ),
    *(
        Fault(f"manifest-write-{name}", "manifest.write", wrong)
        for name, wrong in {
            "deleted-entries-as-existing": _deleted_stay,
            "existing-entries-as-added": _explicit_numbers,
            "metrics-left-out": _without_metrics,
            "anything": tolerant(""),
        }.items()
    ),
    *(
        Fault(f"manifest-list-write-{name}", "manifest-list.write", wrong)
        for name, wrong in {
            "row-ids-for-delete-manifests": _row_ids_for_deletes,
            "own-number-for-all": _own_number_for_all,
            "row-ids-not-assigned": lambda args, right: right({**args, "first_row_id": None}),
        }.items()
    ),
    Fault(
        "manifest-check-nothing-of-the-header",
        "manifest.check",
        without(*(f"MAN{number:03}" for number in range(5, 11))),
    ),
    Fault("manifest-check-nothing-of-vectors", "manifest.check", without("DFL023", "DFL024", "DFL025")),
    Fault("manifest-check-nothing-of-numbers", "manifest.check", without("MAN022", "SEQ005")),
    Fault("manifest-check-finds-too-much", "manifest.check", lambda args, right: sorted({*right(args), "MAN006"})),
    Fault("manifest-list-check-nothing-of-row-ids", "manifest-list.check", without("LIN026", "LIN027")),
    Fault("manifest-list-check-nothing-repeated", "manifest-list.check", without("MLS003")),
)
