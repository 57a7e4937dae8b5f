"""Real stores for the tests of commits."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fake_catalog import FakeCatalog, fake_catalog
from postgres_server import postgres

from conformance.table_io.stores import Store, file_lock, open_store

_NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """Run a PostgreSQL server."""
    with postgres() as url:
        yield url


@pytest.fixture
def rest_catalog() -> Iterator[FakeCatalog]:
    """Run a REST catalog in this process."""
    with fake_catalog() as made:
        yield made


@pytest.fixture(autouse=True)
def short_lock_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not let two writers of one process wait for each other if one commits during the other's commit."""
    monkeypatch.setattr(file_lock, "MAX_WAIT_S", 0.005)


STORES = ("file-system", "sqlite", "postgresql", "rest")


@pytest.fixture(params=STORES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a table that does not exist yet, on each kind of store."""
    match request.param:
        case "file-system":
            return (tmp_path / "table").as_uri()
        case "sqlite":
            return f"sqlite://{tmp_path}/catalog.db?table=table"
        case "rest":
            return f"rest+{request.getfixturevalue('rest_catalog').url}?namespace=db&table=table"
        case _:
            return f"{request.getfixturevalue('postgres_url')}?table=table{next(_NUMBERS)}"


@pytest.fixture
def location(tmp_path: Path) -> str:
    """The location of the table's files."""
    return (tmp_path / "table").as_uri()


@pytest.fixture
def opened() -> Iterator[Callable[[str], Store]]:
    """Opens stores, and closes them at the end of the test."""
    stores: list[Store] = []

    def open_(url: str) -> Store:
        stores.append(open_store(url))
        return stores[-1]

    yield open_
    for store in stores:
        store.close()


@pytest.fixture
def store(store_url: str, opened: Callable[[str], Store]) -> Store:
    """Open a store without a table."""
    return opened(store_url)


@pytest.fixture
def another(store_url: str, opened: Callable[[str], Store]) -> Callable[[], Store]:
    """Opens the same store again, as a different process would."""
    return lambda: opened(store_url)
