"""Which local files a table may name (SECURITY.md).

A local table may name any local file: its data may be in other folders (``write.data.path``), and the user who put the
table there can read them. A table on a store was written by other machines: a local file in its metadata is a mistake
or an attack, and messages about such a file could disclose its content.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import attrs

from conformance.core.failures import UsageError
from conformance.table_io.file_access import LOCAL_FILES, REFUSE, split_location


@attrs.define
class LocalFilePolicy:
    """Whether one run of a command, including its child processes, may read local files."""

    allow_local_files: bool = False
    _remote: bool | None = None
    """Whether the tables that were read before are on stores; None before the first table."""

    @contextmanager
    def reading(self, *locations: str) -> Iterator[None]:
        """Allow or refuse local files, by the locations of tables, while a ``with`` statement reads these tables.

        Raises:
            UsageError: one run reads local tables and tables on stores, for which the rules differ.
            UnknownScheme: no file system has the scheme of a location.
        """
        for location in () if self.allow_local_files else locations:
            remote = split_location(location).scheme != "file"
            if self._remote is not None and self._remote != remote:
                raise UsageError(
                    "local tables and tables on stores: check them in two runs, or with --allow-local-files"
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
