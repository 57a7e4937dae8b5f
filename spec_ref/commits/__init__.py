"""The commit protocol: optimistic concurrency on a pointer to table metadata (Optimistic Concurrency).

A commit is a generator of `spec_ref.commits.effects`: its runner performs each step and sends the answer back. The same
generator runs on real stores and in the simulator of races.
"""

from spec_ref.commits.commit import Base, CommitConflict, CommitFailed, CommitResult, CommitStateUnknown, commit, load
from spec_ref.commits.tables import FileSystemTable, MetastoreTable

__all__ = [
    "Base",
    "CommitConflict",
    "CommitFailed",
    "CommitResult",
    "CommitStateUnknown",
    "FileSystemTable",
    "MetastoreTable",
    "commit",
    "load",
]
