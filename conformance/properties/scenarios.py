"""Scenarios: scripts are followed step by step, and the table is compared with the model after every operation.

After each operation, every branch and tag must have the rows of the model, with and without filters for values that
exist; the table must be valid at every level; what one version of the metadata shares with the next must not disappear
or change; and an operation that the spec forbids must be refused with its code and change nothing. At the end, every
snapshot must still have the rows that it had when it was written.

`conformance.properties.table_checks` has the checks. For one script in ten, everything is read and validated again at
the end.
"""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path
from typing import Protocol

from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.core.failures import NotExamined
from conformance.operations.writing.reference import ReferenceWriter
from conformance.properties.errors import Broken
from conformance.properties.table_checks import TableChecks, reading_error
from conformance.scripts import ForbiddenOperation, ScriptError, UnspecifiedOperation
from conformance.scripts.model import ModelTable
from spec_ref.commits import CommitConflict, CommitFailed
from spec_ref.core.errors import SpecError
from spec_ref.core.json_types import Json

Op = dict[str, Json]

THOROUGH = 10
"""One script in this many is read and validated at the end without the cache."""

LIMITS = frozenset({"ORC008"})
"""A limitation of the reference: it does not write timestamps far from 1970 inside lists and maps of ORC files."""


class Refusal(Exception):
    """A writer refused an operation."""

    def __init__(self, code: str | None, message: str) -> None:
        """Make the error.

        Args:
            code: the code of the requirement, if the writer names it.
            message: the message of the writer.
        """
        super().__init__(f"{code or 'no code'}: {message}")
        self.code = code


class Subject(Protocol):
    """A writer that follows a script, one operation after another."""

    def do(self, operation: Op) -> str:
        """Do an operation; return the location of the new metadata.

        Raises:
            Refusal: the writer refused the operation.
            Unsupported: the writer does not support the operation.
        """


class ReferenceSubject:
    """The reference implementation, in this process."""

    def __init__(self, folder: Path) -> None:
        """Make a subject that writes its table in a folder that does not exist."""
        self._writer = ReferenceWriter(str(folder))
        self._mains: list[int | None] = []

    def do(self, operation: Op) -> str:
        at = operation.get("to") if operation["op"] == "rollback" else operation.get("at")
        resolved = operation if at is None else {**operation, "snapshot": self._mains[at]}
        try:
            getattr(self._writer, operation["op"].replace("-", "_"))(resolved)
        except SpecError as error:
            raise Refusal(error.violation.requirement, str(error)) from None
        except (CommitConflict, CommitFailed, NotExamined, Invalid) as error:
            raise Refusal(None, f"{type(error).__name__}: {error}") from None
        finally:
            self._mains.append(
                self._writer.snapshot("main") if len(self._mains) or operation["op"] == "create" else None
            )
        return self._writer.metadata()

    def skip(self) -> None:
        """Count an operation that is left out."""
        self._mains.append(self._mains[-1] if self._mains else None)


def follow_reference(
    script: Json, folder: Path, counts: Counter[str] | None = None, *, thorough: bool | None = None
) -> None:
    """Let the reference follow a script, and check the table after every operation.

    Args:
        script: the script, in JSON. Operations that are not valid in their place, as in shrunk scripts, are left out.
        folder: the folder of the table; it must not exist.
        counts: counts the operations that were done, by name, and refused ones as ``refused``.
        thorough: whether everything is read and validated again at the end; None to choose by the script.

    Raises:
        Broken: the table differs from the model, or is not valid.
    """
    thorough = zlib.crc32(repr(script).encode()) % THOROUGH == 0 if thorough is None else thorough
    subject, checks, model = ReferenceSubject(folder), TableChecks(str(folder), thorough=thorough), ModelTable()
    counts = Counter() if counts is None else counts
    for index, operation in enumerate(script["operations"]):
        forbidden: ForbiddenOperation | None = None
        after = model
        try:
            after = model.after(index, operation)
        except ForbiddenOperation as error:
            forbidden = error
        except ScriptError:
            subject.skip()
            model = model.after_refusal(index)
            continue
        location = _do_operation(subject, index, operation, forbidden)
        if location is None:
            counts["refused"] += 1
            model = model.after_refusal(index)
            if checks.location is not None:
                checks.check_refused(index, operation, subject._writer.metadata())
            continue
        if isinstance(forbidden, UnspecifiedOperation):
            if forbidden.after is None:
                break  # the writer may leave the table in any state
            after = forbidden.after
        counts[operation["op"]] += 1
        model = after
        checks.step(index, operation, model, location)
    checks.end()


def _do_operation(subject: Subject, index: int, operation: Op, forbidden: ForbiddenOperation | None) -> str | None:
    """Do an operation; return the new metadata, or None if it was refused as it must be."""
    what = f"operation {index}, {operation['op']}"
    try:
        location = subject.do(operation)
    except Refusal as error:
        if forbidden is None and error.code in LIMITS:
            return None
        if forbidden is None:
            raise Broken(f"refused: {error.code}", f"{what} was refused: {error}") from None
        if error.code != forbidden.code and not isinstance(forbidden, UnspecifiedOperation):
            message = f"{what} was refused with {error}; expected {forbidden.code}: {forbidden}"
            raise Broken(f"refused: {error.code}, not {forbidden.code}", message) from None
        return None
    except Unsupported:
        return None
    except Exception as error:
        raise reading_error(what, error) from error
    if forbidden is not None and not isinstance(forbidden, UnspecifiedOperation):
        raise Broken(f"accepted: {forbidden.code}", f"{what} was accepted; expected {forbidden.code}: {forbidden}")
    return location
