"""Which files of this machine a table may name (SECURITY.md).

A table on this machine may name files anywhere: its data may lie elsewhere (``write.data.path``), and it was put here
by someone who can read them. A table on a store was written by others, and no engine of theirs writes to this machine:
what it names here is a mistake or a trap, and what a reader says of such a file would tell its content.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from conformance.core.failures import UsageError
from conformance.table_io.file_access import LOCAL_FILES, REFUSE, split_location


@attrs.define
class Trust:
    """What one run of a command may read; it holds for the processes that it starts too."""

    allow_local_files: bool = False
    _remote: bool | None = None
    """Whether the tables so far were on stores."""

    @contextmanager
    def reading(self, *locations: str) -> Iterator[None]:
        """Read tables at some locations.

        Raises:
            UsageError: tables of this machine and of stores are read in one run, whose processes know one rule only.
            UnknownScheme: no file system serves a location.
        """
        for location in () if self.allow_local_files else locations:
            remote = split_location(location).scheme != "file"
            if self._remote is not None and self._remote != remote:
                raise UsageError(
                    "tables of this machine and of stores: check them in two runs, or with --allow-local-files"
                )
            self._remote = remote
        before = os.environ.get(LOCAL_FILES)
        if self._remote:
            os.environ[LOCAL_FILES] = REFUSE
        try:
            yield
        finally:
            if self._remote:
                os.environ.pop(LOCAL_FILES)
                if before is not None:
                    os.environ[LOCAL_FILES] = before
