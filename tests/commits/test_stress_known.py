"""Known behaviour of clients and servers under stress: the list is valid, and explains the right problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.core.failures import UsageError
from conformance.races.stress.known import load_known

ENTRY = """
[[catalog]]
id = "a"
tested = ["PyIceberg", "Hive"]
kinds = ["lost"]
kind = "deviation"
requirements = ["OCC001"]
does = "loses"
reason = "it may not"
evidence = "seen"
command = "race stress"
"""


def test_the_list_that_comes_with_the_tool_is_read() -> None:
    known = load_known()
    assert known
    assert all(one.command.startswith(("iceberg-conformance race stress ", "python -m pytest ")) for one in known)


def test_an_entry_explains_its_kinds_of_its_client_and_server(tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(ENTRY)
    (known,) = load_known(tmp_path / "known.toml")
    assert known.explains("PyIceberg 1", "Hive 3", {"lost", "stale"})
    assert not known.explains("PyIceberg 1", "Hive 3", {"stale"})
    assert not known.explains("PyIceberg 1", "Glue", {"lost"})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "a"\n', "", "expected command, does"),
        ('"lost"', '"sunk"', "kind sunk"),
        ('"deviation"', '"error"', "error is not a kind"),
        ('"OCC001"', '"XXX999"', "no requirement XXX999"),
        ("[[catalog]]", "[[catalog", "cannot be read"),
        ("", "", "twice"),
    ],
)
def test_a_broken_list_is_reported(old: str, new: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "known.toml").write_text(ENTRY.replace(old, new) if old else ENTRY + ENTRY)
    with pytest.raises(UsageError, match=message):
        load_known(tmp_path / "known.toml")
