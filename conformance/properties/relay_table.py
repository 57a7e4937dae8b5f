"""The table of a relay: its operations, versions and checks."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from attrs import Factory, define, frozen

from conformance.adapter_sdk.table_requests import local_path, metadata
from conformance.core.counts import plural
from conformance.properties.errors import Broken
from conformance.properties.table_checks import TableChecks
from conformance.runner.adapter_interface import Request
from conformance.scripts import ScriptError
from conformance.scripts.model import MAIN, ModelTable
from spec_ref.core.json_types import Json

Op = dict[str, Json]


@frozen
class Version:
    """A version of the table of a relay."""

    engine: str
    """The engine that wrote it."""

    operation: str
    model: ModelTable
    checks: TableChecks
    """The checks that it passed."""


@define
class SharedTable:
    """The table of a relay: its location, and the operations so far."""

    folder: Path
    operations: list[Op] = Factory(list)
    location: str = ""
    engine: str = ""
    """The engine that wrote the current version of the table."""

    history: list[str | None] = Factory(list)
    """The snapshot of the branch main after each operation."""

    versions: list[Version] = Factory(list)
    model: ModelTable = Factory(ModelTable)
    checks: TableChecks = Factory(lambda self: TableChecks(str(self.folder), warnings=False), takes_self=True)

    def request(self, operation: Op) -> Request:
        """Return the request for the next operation."""
        if not self.operations:
            args: Json = {"table": str(self.folder), "script": {"operations": [operation]}}
            return Request("table.write", args)
        args = {"table": self.location, "operations": [operation], "history": list(self.history)}
        return Request("table.change", args)

    def allows(self, operation: Op) -> bool:
        """Return whether an operation is valid here, by the model."""
        try:
            self.model.after(len(self.operations), operation)
        except ScriptError:
            return False
        return True

    def accept(self, operation: Op, engine: str, location: str) -> None:
        """Check the table that an engine wrote, and make it the current table.

        Raises:
            Broken: it differs from the model; the current table stays.
        """
        place = local_path(location)
        model = self.model.after(len(self.operations), operation)
        checks = self.checks.copy()
        checks.step(len(self.operations), operation, model, place)
        current = metadata(place).get("current-snapshot-id")
        self.history.append(None if current in (None, -1) else str(current))
        self.operations.append(operation)
        self.location, self.engine, self.model, self.checks = location, engine, model, checks
        self.versions.append(Version(engine, operation["op"], model, checks))

    def origin(self, broken: Broken) -> Version | None:
        """Return the version since which a read with a filter gives wrong rows; None if the next one is the first.

        The checks after each operation use other filters, so that a fault of an earlier operation may be seen late.
        """
        found = None
        if broken.filtered is not None:
            for version in reversed(self.versions):
                if version.checks.filter_fault(*broken.filtered, version.model) is None:
                    break
                found = version
        return found

    def fault_before(self, operation: Op) -> Broken | None:
        """Return how the current table gives wrong rows for the filter of an operation, or for its negation.

        With wrong counts or bounds, an engine that trusts them deletes files with rows that the filter does not match.
        """
        if "filter" in operation and self.versions:
            for predicate in (operation["filter"], {"type": "not", "child": operation["filter"]}):
                fault = self.checks.filter_fault(operation.get("branch", MAIN), predicate, self.model)
                if fault is not None:
                    return fault
        return None

    def damage(self) -> str:
        """Describe how files of the table changed although an operation was not done; empty if they did not."""
        try:
            self.checks.copy().files_remain("then", {"op": ""})
        except Broken as broken:
            return str(broken)
        return ""

    def metadata_files(self) -> frozenset[Path]:
        """Return the metadata files in the table's folder, whether they are versions of the table or not."""
        return frozenset(self.folder.rglob("*.metadata.json*"))

    def describe_remains(self, before: Collection[Path]) -> str:
        """Describe the state of the table after an engine died, for people.

        Args:
            before: the metadata files before the step.
        """
        damage = self.damage()
        if damage:
            return f"the table before the step, {self.location}, is damaged: {damage}"
        left_over = ", ".join(sorted(map(str, self.metadata_files().difference(before))))
        if not self.operations:
            left = sum(1 for path in self.folder.rglob("*") if path.is_file())
            return f"there was no table before; the step left {plural(left, 'file')}"
        unchanged = f"the table is unchanged, at {self.location}"
        return f"{unchanged}; the step left {left_over}, which nothing names" if left_over else unchanged
