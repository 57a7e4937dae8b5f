"""The numbers of requests to an object store, counted by a store."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from conformance.table_io.local import plan_read, read_table
from conformance.table_io.tables import load_table
from conformance.validator.context import Level
from conformance.validator.local import LocalBackend
from conformance.validator.run import validate
from spec_ref.core.versions import V3
from tools.faulty_store import Store, running_faulty_store
from tools.scale.tables import FIELDS
from tools.store_environment import BUCKET
from tools.table_kit import TableKit

FILES = 2
OBJECTS = {"manifest": r"/manifest-", "data file": r"/data/.*\.parquet$", "vector": r"\.puffin$"}


WAYS: dict[str, Callable[[str], object]] = {
    "planning": lambda place: list(plan_read(load_table(place))[1]),
    "reading": lambda place: read_table(load_table(place)).read_all(),
    "validating manifests": lambda place: validate(place, Level.MANIFESTS, LocalBackend()),
    "validating files": lambda place: validate(place, Level.FILES, LocalBackend()),
    "validating rows": lambda place: validate(place, Level.ROWS, LocalBackend()),
}


def _table(location: str) -> str:
    kit = TableKit(location, FIELDS, version=V3)
    files = [kit.file([{1: number, 2: number}]) for number in range(FILES)]
    for file in files:
        kit.commit(file)
    kit.commit(*(kit.deletion_vector(file, [0]) for file in files))
    return kit.table().metadata_location


def requests() -> dict[str, dict[str, float]]:
    """Return the requests per manifest, data file and vector, by operation on the table."""
    objects = {"manifest": FILES + 1, "data file": FILES, "vector": FILES}
    counted = {}
    with running_faulty_store() as store, _store_variables(store):
        for name, way in WAYS.items():
            place = _table(f"s3://{BUCKET}/{name}")  # a separate store for each, because files may be cached
            store.requests.clear()
            way(place)
            counted[name] = {
                kind: sum(bool(re.search(pattern, one.key)) for one in store.requests) / objects[kind]
                for kind, pattern in OBJECTS.items()
            }
    return counted


@contextmanager
def _store_variables(store: Store) -> Iterator[None]:
    """Set the environment variables with which this process reaches the store."""
    before = dict(os.environ)
    os.environ.update(store.environment)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
