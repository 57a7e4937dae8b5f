"""Performing the effects of a commit on a store (Optimistic Concurrency)."""

from __future__ import annotations

import random
import time
import uuid
from collections import OrderedDict
from contextlib import ExitStack, closing
from typing import Any, TypeVar

from conformance.table_io.stores.store import Store
from spec_ref.commits import Base, CommitResult
from spec_ref.commits import commit as commit_steps
from spec_ref.commits import load as load_steps
from spec_ref.commits.changes import Change
from spec_ref.commits.effects import (
    DeleteFile,
    Effect,
    NonDeterministic,
    ReadFile,
    ReadPointer,
    Steps,
    SwapPointer,
    Wait,
    WriteFile,
)
from spec_ref.commits.payloads import FileKind, Payload, decode, encode
from spec_ref.commits.retries import RetryPolicy
from spec_ref.commits.tables import FileSystemTable
from spec_ref.table_metadata.metadata import TableMetadata

__all__ = ["Store", "commit", "load", "run"]

MAX_CACHED_FILES = 64
"""The maximum number of cached files: the content of a file never changes, except for the metadata of file-system
tables."""

T = TypeVar("T")


class Runner:
    """Performs the effects of commits on one store."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._contents: OrderedDict[str, Payload] = OrderedDict()
        self._commit_lock = ExitStack()

    def run(self, steps: Steps[T]) -> T:
        """Perform all effects of a part of a commit, and return or raise its result."""
        with closing(steps):
            try:
                effect = next(steps)
                while True:
                    try:
                        answer = self._perform(effect)
                    except Exception as error:
                        effect = steps.throw(error)
                    else:
                        effect = steps.send(answer)
            except StopIteration as stop:
                result: T = stop.value
                return result
            finally:
                self._commit_lock.close()

    def commit(self, change: Change, *, base: Base | None = None, policy: RetryPolicy | None = None) -> CommitResult:
        """Commit a change; arguments and errors are those of `spec_ref.commits.commit`."""
        return self.run(commit_steps(change, self.store.table, base=base, policy=policy))

    def _perform(self, effect: Effect) -> Any:
        match effect:
            case NonDeterministic.NAME:
                return str(uuid.uuid4())
            case NonDeterministic.SNAPSHOT_ID:
                return uuid.uuid4().int >> 65 or 1
            case NonDeterministic.NOW:
                return time.time_ns() // 1_000_000
            case ReadPointer():
                self._commit_lock.close()
                self._commit_lock.enter_context(self.store.commit_lock())
                return self.store.read_pointer()
            case ReadFile(path, kind):
                return self.read(path, kind)
            case WriteFile(path, content):
                return self.write(path, content)
            case SwapPointer(expected, new):
                answer = self.store.swap_pointer(expected, new)
                self._commit_lock.close()
                return answer
            case DeleteFile(path):
                self._contents.pop(path, None)
                self.store.delete(path)
            case Wait(ms):
                self._commit_lock.close()
                time.sleep(random.uniform(0, ms) / 1000)
        return None

    def write(self, path: str, content: Payload) -> int:
        """Write a file; return its length."""
        data = encode(content, path)
        self.store.write(path, data)
        return len(data)

    def load_bytes(self, path: str, kind: FileKind) -> bytes | None:
        """Read the bytes of a file; None if it does not exist."""
        return self.store.read(path)

    def read(self, path: str, kind: FileKind) -> Payload | None:
        """Read a file, unless it is cached; None if it does not exist."""
        found = self._contents.get(path)
        if found is None:
            data = self.load_bytes(path, kind)
            if data is None:
                return None
            found = decode(data, kind, path)
            if kind is FileKind.METADATA and isinstance(self.store.table, FileSystemTable):
                return found  # a table that was dropped and created again has metadata files of the same names
            self._contents[path] = found
            if len(self._contents) > MAX_CACHED_FILES:
                self._contents.popitem(last=False)
        self._contents.move_to_end(path)
        return found


def run(steps: Steps[T], store: Store) -> T:
    """Perform all effects of a part of a commit on a store, and return or raise its result."""
    return Runner(store).run(steps)


def load(store: Store, expected: TableMetadata | None = None) -> Base | None:
    """Read the table; arguments and errors are those of `spec_ref.commits.load`."""
    return run(load_steps(1, expected), store)


def commit(
    change: Change, store: Store, *, base: Base | None = None, policy: RetryPolicy | None = None
) -> CommitResult:
    """Commit a change on a store; arguments and errors are those of `spec_ref.commits.commit`."""
    return Runner(store).commit(change, base=base, policy=policy)
