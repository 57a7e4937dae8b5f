"""A newer text is compared section by section, and the requirements to read again are named."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from spec_ref.requirements import SOURCES, SourceDocument, Sources

TOOL = Path(__file__).parents[2] / "tools" / "check_register.py"
OLD = """# Spec
Preface.
## Hashing
```text
# no heading
```
An int is hashed.
## Snapshots
| v1         | v2 and v3  | Field             | Description |
|------------|------------|-------------------|-------------|
| _required_ | _required_ | **`snapshot-id`** | an id       |
|            | _optional_ | **`7 key_id`**    | a key       |
=== "v4"
| v4         | Field      |
|------------|------------|
| _required_ | **`late`** |
### Notes
Old.
## Files
### Notes
New.
"""


@pytest.fixture(name="tool")
def load_tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_register", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="recorded")
def record_old_text(tool: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {heading: tool.digest(lines) for heading, lines in tool.sections(OLD).items()}
    source = SourceDocument(document="spec", path="format/spec.md", sections=found, fields={})
    state = Sources(repository="", commit="", date="", documents={"spec": source})
    monkeypatch.setattr(tool, "sources", lambda: state)


def changes(tool: ModuleType, folder: Path, text: str) -> dict[tuple[str, str], str]:
    (folder / "spec.md").write_text(text, encoding="utf-8")
    found: dict[tuple[str, str], str] = tool.changed_sections(folder)
    return found


def test_code_holds_no_headings_and_a_repeated_heading_has_its_parent(tool: ModuleType) -> None:
    assert list(tool.sections(OLD)) == ["Spec", "Hashing", "Snapshots", "Notes", "Files", "Files / Notes"]


def test_field_rows_are_names_with_the_rules_of_three_versions(tool: ModuleType) -> None:
    assert tool.field_rows(tool.sections(OLD)["Snapshots"]) == [["snapshot-id", "rrr"], ["key_id", "-oo"]]


@pytest.mark.usefixtures("recorded")
def test_a_realigned_table_is_no_change(tool: ModuleType, tmp_path: Path) -> None:
    assert changes(tool, tmp_path, OLD.replace("------------|-", "-------|-").replace("         |", "  |")) == {}


@pytest.mark.usefixtures("recorded")
def test_a_changed_word_a_new_and_a_lost_section_are_reported(tool: ModuleType, tmp_path: Path) -> None:
    new = OLD.replace("An int is", "An int or long is").replace("## Files", "## Data Files")
    assert changes(tool, tmp_path, new) == {
        ("spec", "Hashing"): "changed",
        ("spec", "Files"): "is gone",
        ("spec", "Files / Notes"): "is gone",
        ("spec", "Data Files"): "is new",
        ("spec", "Data Files / Notes"): "is new",
    }


def test_requirements_of_a_changed_section_are_named(
    tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heading = "Appendix B: 32-bit Hash Requirements"
    source = SourceDocument(document="spec", path="format/spec.md", sections={heading: "another"}, fields={})
    monkeypatch.setattr(tool, "sources", lambda: Sources("", "", "", {"spec": source}))
    (tmp_path / "spec.md").write_text(f"## {heading}\nNew.\n", encoding="utf-8")
    assert tool.main(["--spec", str(tmp_path)]) == 1
    assert "HSH001" in capsys.readouterr().out


def test_a_folder_without_the_documents_is_refused(tool: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        tool.main(["--spec", str(tmp_path)])


def test_the_recorded_state_names_its_commit() -> None:
    text = (Path(__file__).parents[2] / "spec_ref" / "requirements" / SOURCES).read_text(encoding="utf-8")
    assert 'commit = "7f879b11366e17a676a03f15247a821751415529"' in text
