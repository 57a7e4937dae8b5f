"""Compare the texts of the spec with those that the register was made from, and list the requirements to read again.

    python -m tools.check_register --spec PATH                       print what changed
    python -m tools.check_register --spec PATH --record COMMIT DATE  record this text as read

PATH is the folder of the documents (``format`` in a checkout of apache/iceberg), or one document. A section is the text
below its heading down to the next heading of any level. It is compared word by word, so that re-aligning a table is not
a change.
Exit status: 0 nothing changed, 1 something did.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from pathlib import Path

from spec_ref.requirements import SOURCES, register, sources
from spec_ref.requirements import __file__ as register_file
from tools.entry_point import run_main

REPOSITORY = "https://github.com/apache/iceberg"
DOCUMENTS = ("spec", "puffin-spec", "expressions-spec", "gcm-stream-spec", "mumbling-spec", "view-spec", "udf-spec")
FIELD_TABLES = ("spec", "puffin-spec")
"""The documents whose field tables the register holds row by row."""

LETTERS = {"required": "r", "yes": "r", "optional": "o", "no": "o", "": "-"}


def sections(text: str) -> dict[str, list[str]]:
    """Return the lines of each section by heading; a heading that occurs again is named ``Parent / Heading``."""
    found: dict[str, list[str]] = {}
    above: dict[int, str] = {}
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.lstrip().startswith("```")
        match = None if fenced else re.fullmatch(r"(#{1,6}) (.+?)\s*", line)
        if match is None:
            lines.append(line)
            continue
        level, heading = len(match[1]), match[2]
        above = {upper: name for upper, name in above.items() if upper < level}
        if heading in found and above:
            heading = f"{above[max(above)]} / {heading}"
        if heading in found:
            raise SystemExit(f"the heading {heading!r} occurs twice")
        above[level] = match[2]
        lines = found[heading] = []
    return found


def digest(lines: list[str]) -> str:
    """Return the SHA-256 of the words of a section; the length of the rules in a table does not matter."""
    words = re.sub(r"-{3,}", "---", " ".join(lines)).split()
    return hashlib.sha256(" ".join(words).encode()).hexdigest()


def field_rows(lines: list[str]) -> list[list[str]]:
    """Return the rows of the field tables of a section, except those of v4: name and rules of v1, v2 and v3."""
    rows: list[list[str]] = []
    header: list[str] | None = None
    for line in (line.strip() for line in lines):
        if not line.startswith("|"):
            header = None
            continue
        cells = [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
        if header is None:
            header = [cell.lower() for cell in cells]
            continue
        rules = [re.sub(r"[_*]", "", cell) for cell in cells]
        if "required" in header:
            rows += [[cells[0], 3 * LETTERS[rules[header.index("required")]]]] if set(cells[0]) - set("-") else []
        elif header[0] == "v1" and re.fullmatch(r"required|optional|", rules[0]):
            width = sum(re.fullmatch(r"v\d( and v\d)?", cell) is not None for cell in header)
            given = [LETTERS[rule] for rule in rules[:width]]
            if name := re.match(r"[~*]*`(?:\d+\s+)?([^` ]+)`", cells[width]):
                rows.append([name[1], "".join((given + given[-1:])[:3])])
    return rows


def document_path(place: Path, document: str) -> Path | None:
    """Return the file of a document in the folder ``place``, or ``place`` itself when it is that document."""
    path = place / f"{document}.md" if place.is_dir() else place
    return path if path.is_file() and path.stem == document else None


def changed_sections(place: Path) -> dict[tuple[str, str], str]:
    """Return the differences between the recorded and the current sections, by document and heading."""
    changes: dict[tuple[str, str], str] = {}
    for document, source in sources().documents.items():
        path = document_path(place, document)
        if path is None:
            continue
        now = {heading: digest(lines) for heading, lines in sections(path.read_text(encoding="utf-8")).items()}
        for heading in {**source.sections, **now}:
            if heading not in now:
                changes[document, heading] = "is gone"
            elif heading not in source.sections:
                changes[document, heading] = "is new"
            elif now[heading] != source.sections[heading]:
                changes[document, heading] = "changed"
    return changes


def record(place: Path, commit: str, date: str) -> None:
    """Write the hashes and field tables of the texts in ``place`` as those that the register was read from."""
    out = [
        "# Written by tools/check_register.py: the texts that the register was read from.",
        f'repository = "{REPOSITORY}"\ncommit = "{commit}"\ndate = {json.dumps(date)}',
    ]
    for document in DOCUMENTS:
        path = document_path(place, document)
        if path is None:
            raise SystemExit(f"{place} has no {document}.md")
        found = sections(path.read_text(encoding="utf-8"))
        out.append(f'\n[[source]]\ndocument = "{document}"\npath = "format/{document}.md"\n\n[source.sections]')
        out += [f"{json.dumps(heading)} = '{digest(lines)}'" for heading, lines in found.items()]
        out.append("\n[source.fields]")
        for heading, lines in found.items():
            if document in FIELD_TABLES and (rows := field_rows(lines)):
                out.append(f"{json.dumps(heading)} = [")
                out += [f"  {json.dumps(row)}," for row in rows]
                out.append("]")
    Path(register_file).with_name(SOURCES).write_text("\n".join(out) + "\n", encoding="utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit status."""
    parser = argparse.ArgumentParser(description="Compare the spec's texts with those the register was read from.")
    parser.add_argument("--spec", type=Path, required=True, help="the folder of the documents, or one document")
    parser.add_argument("--record", nargs=2, metavar=("COMMIT", "DATE"), help="record this text as read")
    given = parser.parse_args(arguments)
    if given.record:
        record(given.spec, *given.record)
        return 0
    if not any(document_path(given.spec, document) for document in DOCUMENTS):
        parser.error(
            f"{given.spec} is not one of {', '.join(f'{name}.md' for name in DOCUMENTS)}, and contains none of them"
        )
    changes = changed_sections(given.spec)
    for (document, heading), what in changes.items():
        codes = [r.code for r in register().values() if (r.document, r.section) == (document, heading)]
        print(f"{document}: {heading!r} {what}; read again: {' '.join(codes) or 'no requirement'}")
    if not changes:
        print("nothing changed")
    return 1 if changes else 0


if __name__ == "__main__":
    run_main(main)
