"""The steps of a commit, exported from its code: `spec_ref.commits.commit` is run against every answer of a store.

A writer is a finite machine. Its states are the places where the generator waits for an answer: the lines of all
functions that are being run. Its registers are locations: the pointer that it read last, the metadata file that it
loaded, and the metadata file that it wrote. Steps that no other writer can see (drawing a name, waiting, files that
only this commit uses) are run together with the step before them. How often a step was repeated is left out of a state,
so that the machine may repeat it any number of times: what holds for the machine holds for every retry policy.

No step is written down here. What is written here are the answers that a store can give, and how an argument of an
effect is recognized as one of the registers; an argument that is none of them may be any location.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from conformance.races.operations import racing_changes
from conformance.races.state import SharedState
from conformance.races.suites import DEFAULT_FIXTURE, TABLES
from conformance.races.table_fixtures import FIXTURES
from spec_ref.commits.changes import SnapshotChange
from spec_ref.commits.commit import Base, CommitConflict, CommitFailed, CommitStateUnknown, commit
from spec_ref.commits.effects import (
    DeleteFile,
    NonDeterministic,
    ReadFile,
    ReadPointer,
    SwapPointer,
    SwapResult,
    Wait,
    WriteFile,
)
from spec_ref.commits.payloads import FileKind
from spec_ref.commits.retries import RetryPolicy
from spec_ref.core.errors import SpecError
from spec_ref.core.records import evolve
from spec_ref.snapshots.snapshot import Snapshot
from spec_ref.table_metadata.logs import MetadataLogEntry
from spec_ref.table_metadata.metadata import TableMetadata

MARK = "proof.version"
"""A property that identifies the version of the table in its metadata."""

VERSION = 2
RETRIES = 2
"""The number of retries in runs of the code; a theorem says that one more retry adds no step."""

TIMEOUT_MS = 1_000
LATER_MS = 10_000
MOST_ANCESTORS = 2
"""How many metadata files of older versions a run reads to follow a metadata log."""

ENDS = ("acknowledged", "refused", "unknown", "error")


@attrs.frozen
class Step:
    """A step of a writer: its effect, the answer, and the next place in the code."""

    source: str
    target: str
    effect: str
    """read pointer, read metadata, write metadata, swap, delete metadata, end"""

    answer: str = ""
    subject: str = ""
    """The file that is read or deleted: a register, or ``next`` for the file of the version after the loaded one."""

    parent: str = ""
    """The last entry of the metadata log of new metadata, or what a swap expects: ``loaded`` or ``base``."""

    valid: str = ""
    """The version from which new metadata was made and validated."""


@attrs.frozen
class Machine:
    """All steps of a writer."""

    start: str
    steps: tuple[Step, ...]
    runs: int

    @property
    def states(self) -> tuple[str, ...]:
        """Every state, in the order of a depth-first walk."""
        return tuple(dict.fromkeys(state for one in self.steps for state in (one.source, one.target)))


@attrs.frozen
class Subject:
    """A change that is committed, and the versions of a table that it may find."""

    change: Any
    table: Any
    planned: Base
    contents: Mapping[str, TableMetadata]
    """The metadata by kind: as planned on, after another writer did the same change, or of a table that replaced it."""

    refused: frozenset[str]
    """The kinds to which the change must not be applied."""

    files: Mapping[str, Any]


@functools.cache
def subject(table: str, name: str) -> Subject:
    """Make the subject of a change on the table that races are explored on.

    Args:
        table: the kind of table.
        name: the name of the change.
    """
    fixture = FIXTURES[DEFAULT_FIXTURE]
    shared: SharedState = fixture.state(VERSION, TABLES[table])
    mine, others = (
        next(one for one in racing_changes(fixture, VERSION, writer) if one.name == name) for writer in (0, 1)
    )
    before = shared.files[shared.pointer or ""]
    after, files = _apply_elsewhere(others.change, shared)
    replaced = evolve(before, table_uuid="00000000-0000-4000-8000-00000000beef")
    refused = {"another table"} | ({"changed"} if name in EXCLUSIVE else set())
    return Subject(
        mine.change,
        shared.table,
        Base(shared.pointer or "", before),
        {"as planned": before, "changed": after, "another table": replaced},
        frozenset(refused),
        files,
    )


EXCLUSIVE = frozenset({"schema", "delete-file", "rewrite"})
"""Changes that cannot be done twice, so that a writer who finds the change done by another one has to refuse."""


def _apply_elsewhere(change: Any, shared: SharedState) -> tuple[TableMetadata, Mapping[str, Any]]:
    """Return the table after another writer committed a change."""
    files = dict(shared.files)
    steps, drawn = commit(change, shared.table), 0
    answer: Any = None
    written: Any = None
    while True:
        try:
            effect = steps.send(answer)
        except StopIteration:
            return written, files
        drawn += 1
        match effect:
            case NonDeterministic():
                answer = f"theirs-{drawn}" if effect is NonDeterministic.NAME else 900 + drawn
            case ReadPointer():
                answer = shared.pointer
            case ReadFile(path):
                answer = files.get(path)
            case WriteFile(path, content):
                files[path], written, answer = content, content, 1
            case SwapPointer():
                answer = SwapResult.DONE
            case _:
                answer = None


class Raise(Exception):
    """The answer of a store that could not perform an effect: it is raised into the commit."""


class _Run:
    """One run of the code, with the answers of the store at each step where there are several."""

    def __init__(self, one: Subject, retries: int, chosen: tuple[int, ...]) -> None:
        self.one = one
        self.file_system = one.table == TABLES["file-system"]
        self.retries = retries
        self.chosen = chosen
        self.taken: list[int] = []
        self.open: list[tuple[int, ...]] = []
        self.steps: list[Step] = []
        self.drawn = self.version = self.ancestors = 0
        self.late = self.missing = False
        self.pointer: str | None = None
        """The location that was read from the pointer last."""
        self.loaded: str | None = None
        """The location of the metadata that was read last, if the pointer leads to it."""
        self.new: str | None = None
        self.base: str | None = None
        """The last entry of the metadata log of the file that was written last."""
        self.content: Any = None
        self.places: dict[str, Any] = {}
        self.kinds: dict[str, str] = {}
        self.own: set[str] = set()
        self.older: set[str] = set()
        """Versions that the log of the pointer's metadata names."""

    # Choices

    def choose(self, options: list[tuple[str, Any]]) -> tuple[str, Any]:
        """Return one of the answers that are possible; the others are tried in other runs."""
        place = len(self.taken)
        index = self.chosen[place] if place < len(self.chosen) else 0
        if place >= len(self.chosen):
            self.open += [(*self.taken, other) for other in range(1, len(options))]
        self.taken.append(index)
        return options[index]

    # Running

    def run(self, known: set[Any]) -> None:
        """Run until the end, or until a point that was reached before."""
        policy = RetryPolicy(num_retries=self.retries, total_timeout_ms=TIMEOUT_MS)
        code = commit(self.one.change, self.one.table, base=self.one.planned, policy=policy)
        source, label, answer = "start", Step("start", "", "begin"), None
        failure: Exception | None = None
        while True:
            try:
                effect = code.send(answer) if failure is None else code.throw(failure)
            except StopIteration:
                self.steps.append(attrs.evolve(label, source=source, target="acknowledged"))
                return
            except Exception as error:
                self.steps.append(attrs.evolve(label, source=source, target=_end(error)))
                return
            failure = None
            unseen = self.unseen(effect)
            if unseen is not None:
                answer = unseen[0]
                continue
            place = describe_place(code)
            # Another run has taken the same steps up to the last of the chosen answers.
            if len(self.taken) >= len(self.chosen):
                self.steps.append(attrs.evolve(label, source=source, target=place))
                key = (place, counters(code), self.registers())
                if key in known:
                    return
                known.add(key)
            source = place
            label, answer = self.answer(effect)
            if isinstance(answer, Raise):
                failure = answer

    def registers(self) -> Any:
        """Return the part of the run that determines the further answers of the store."""
        return (
            self.pointer == self.new,
            self.pointer == self.base,
            self.loaded == self.pointer,
            self.new is None,
            self.late,
            self.missing,
            self.ancestors,
            self.kinds.get(self.loaded or ""),
            self.kinds.get(self.base or ""),
        )

    def unseen(self, effect: Any) -> tuple[Any] | None:
        """Return the answer to an effect that no other writer sees; None if it may be seen."""
        self.drawn += 1
        match effect:
            case NonDeterministic.NAME:
                return (f"mine-{self.drawn}",)
            case NonDeterministic.SNAPSHOT_ID:
                return (5000 + self.drawn,)
            case NonDeterministic.NOW:
                if not self.late and self.new is not None:
                    self.late = self.choose([("soon", False), ("late", True)])[1]
                return (LATER_MS if self.late else 0,)
            case Wait():
                return (None,)
            case WriteFile(path, content) if not isinstance(content, TableMetadata):
                self.own.add(path)
                self.places[path] = content
                return (1,)
            case ReadFile(path, kind) if kind is not FileKind.METADATA:
                found = self.places.get(path, self.one.files.get(path))
                if path in self.own or self.missing:
                    return (found,)
                self.missing = self.choose([("there", False), ("missing", True)])[1]
                return (None if self.missing else found,)
            case DeleteFile(path) if path != self.new:
                return (None,)
        return None

    # Answers of the store, with what they imply for the registers

    def answer(self, effect: Any) -> tuple[Step, Any]:
        """Choose an answer to an effect that others may see."""
        match effect:
            case ReadPointer():
                return self.read_pointer()
            case ReadFile(path):
                return self.read_metadata(path)
            case WriteFile(path, content) if isinstance(content, TableMetadata):
                return self.write(path, content)
            case SwapPointer(expected, new):
                label = Step("", "", "swap", parent=self.role(expected), subject=self.role(new))
                what, answer = self.choose(
                    [
                        ("done", SwapResult.DONE),
                        ("refused", SwapResult.REFUSED),
                        ("no answer", SwapResult.UNKNOWN),
                        ("failure", Raise()),
                    ]
                )
                return attrs.evolve(label, answer=what), answer
            case DeleteFile():
                what, answer = self.choose([("done", None), ("failure", Raise())])
                return Step("", "", "delete metadata", subject="new", answer=what), answer
        raise TypeError(f"the effect {effect} is not known")

    def role(self, location: str | None) -> str:
        """Find the register that a location is in."""
        named = {"new": self.new, "base": self.base, "loaded": self.loaded, "pointer": self.pointer}
        return next((name for name, value in named.items() if value is not None and value == location), "any")

    def fresh(self) -> str:
        """Return the location of another version of the table, later than all that were seen."""
        self.version += 10  # not the next version of any other, which is recognized by its name
        directory = self.one.planned.location.rpartition("/")[0]
        number = 100 + self.version
        name = f"v{number}" if self.file_system else f"{number:05d}-theirs"
        return f"{directory}/{name}.metadata.json"

    def read_pointer(self) -> tuple[Step, Any]:
        """Choose where the pointer is: at what the last attempt wrote, at its base or elsewhere, or nowhere."""
        options: list[tuple[str, Any]] = [("other", "")]
        if self.base is not None:
            options.append(("base", self.base))
        if self.new is not None and not self.file_system:
            options.append(("new", self.new))
        options += [("no table", None), ("failure", Raise())]
        what, location = self.choose(options)
        if what == "other":
            location = self.fresh()
        if not isinstance(location, Raise):
            self.pointer, self.ancestors = location, 0
            self.older.clear()
        return Step("", "", "read pointer", what), location

    def next_location(self) -> str | None:
        """Return the file of the version after the base, of a file-system table."""
        if not self.file_system or self.base is None:
            return None
        directory, _, name = self.base.rpartition("/")
        return f"{directory}/v{int(name[1:].partition('.')[0]) + 1}.metadata.json"

    def read_metadata(self, path: str) -> tuple[Step, Any]:
        """Choose whether a metadata file is missing, or which of its possible contents it has."""
        options: list[tuple[str, Any]] = []
        if path == self.next_location() and path != self.pointer:
            subject_ = "next"
            options.append(("as written", self.content))
            options += [(f"{kind}", kind) for kind in self.one.contents]
        elif self.file_system and path == self.new:
            subject_ = "new"
            options.append(("as written", self.content))
        else:
            subject_ = "pointer" if path == self.pointer else "older" if path in self.older else "any"
            logs = [""] if self.new is None or self.file_system else ["", ", log: new", ", log: base", ", log: neither"]
            if self.ancestors >= MOST_ANCESTORS:
                logs = [one for one in logs if "neither" not in one]
            kinds = list(self.one.contents)[:1] if subject_ == "older" else self.one.contents
            options += [(kind + log, kind) for kind in kinds for log in logs]
        options += [("missing", None), ("failure", Raise())]
        what, kind = self.choose(options)
        content = self.place(path, kind, what) if isinstance(kind, str) else kind
        if isinstance(content, TableMetadata) and path == self.pointer:
            self.loaded = path
        if "log:" in what:
            what = what[what.index("log:") :]
        elif isinstance(kind, str):
            what = "other content" if subject_ == "next" else "content"
        return Step("", "", "read metadata", what, subject=subject_), content

    def place(self, path: str, kind: str, what: str) -> TableMetadata:
        """Record a metadata file of another writer, and return its content."""
        logged: list[str] = []
        if what.endswith("new") and self.new is not None:
            logged = [self.new]
        elif what.endswith("base") and self.base is not None:
            logged = [self.base]
        elif what.endswith("neither"):
            self.ancestors += 1
            logged = [self.fresh()]
            self.older.update(logged)
        content = self.one.contents[kind]
        log = tuple(MetadataLogEntry(timestamp_ms=content.last_updated_ms, metadata_file=one) for one in logged)
        made = evolve(content, properties={**content.properties, MARK: path}, metadata_log=log)
        self.places[path], self.kinds[path] = made, kind
        return made

    def write(self, path: str, content: TableMetadata) -> tuple[Step, Any]:
        """Write new metadata, whose content shows from which version it was made."""
        self.new, self.content, self.ancestors = path, content, 0
        self.base = content.metadata_log[-1].metadata_file if content.metadata_log else None
        parent = "loaded" if self.base == self.loaded and self.continues_log(content) else "any"
        valid = "loaded" if self.is_made_from_loaded(content) else "any"
        what, answer = self.choose([("done", 1), ("failure", Raise())])
        return Step("", "", "write metadata", what, parent=parent, valid=valid), answer

    def continues_log(self, content: TableMetadata) -> bool:
        """Return whether the log of new metadata is that of the loaded metadata, with the loaded file."""
        before = self.places[self.loaded or ""].metadata_log
        return content.metadata_log[: len(before)] == before and len(content.metadata_log) == len(before) + 1

    def is_made_from_loaded(self, content: TableMetadata) -> bool:
        """Return whether the change may be applied to the loaded metadata, and new metadata is the result."""
        if self.loaded is None or self.kinds[self.loaded] in self.one.refused:
            return False
        if content.properties.get(MARK) != self.loaded:
            return False
        loaded = self.places[self.loaded]
        change = self.one.change
        if not isinstance(change, SnapshotChange):
            return True
        parent = loaded.references[change.branch].snapshot_id
        made = content.snapshots[-1]
        return (
            content.snapshots[:-1] == loaded.snapshots
            and made.parent_snapshot_id == parent
            and made.sequence_number == loaded.last_sequence_number + 1
            and self.is_written_for(made)
        )

    def is_written_for(self, made: Snapshot) -> bool:
        """Return whether the manifest list of a snapshot was written for it, on the parent that it has."""
        listed = self.places.get(made.manifest_list or "")
        return (
            listed is not None
            and listed.parent_snapshot_id == made.parent_snapshot_id
            and listed.snapshot_id == made.snapshot_id
        )


def frames(code: Any) -> Iterator[types.FrameType]:
    """Yield the frames of a generator and of those that it waits for."""
    while isinstance(code, types.GeneratorType):
        if code.gi_frame is not None:
            yield code.gi_frame
        code = code.gi_yieldfrom


def describe_place(code: Any) -> str:
    """Return where the code is: each function that is being run, with the line."""
    return " > ".join(f"{one.f_code.co_name}:{one.f_lineno}" for one in frames(code))


def counters(code: Any) -> tuple[int, ...]:
    """Return the numbers of attempts, which the states of the machine leave out."""
    return tuple(one.f_locals["number"] for one in frames(code) if isinstance(one.f_locals.get("number"), int))


def _end(error: Exception) -> str:
    match error:
        case CommitStateUnknown():
            return "unknown"
        case CommitConflict() | CommitFailed() | SpecError():
            return "refused"
        case Raise():
            return "error"
    raise error


def explore(one: Subject, retries: int) -> Machine:
    """Run the code against all answers, with a number of retries."""
    known: set[Any] = set()
    steps: dict[Step, None] = {}
    left: list[tuple[int, ...]] = [()]
    runs = 0
    while left:
        run = _Run(one, retries, left.pop())
        run.run(known)
        runs += 1
        left += run.open
        steps.update(dict.fromkeys(run.steps))
    return Machine("start", tuple(steps), runs)


@functools.cache
def machine(table: str, name: str) -> Machine:
    """Export the steps of a writer.

    Args:
        table: the kind of table.
        name: the change that it commits.
    """
    return explore(subject(table, name), RETRIES)
