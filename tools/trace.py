"""Write SPEC_TRACE.md: each requirement of the register, and where the product states and proves it.

`python -m tools.trace` writes the file, `--check` fails when it is stale. A module states a requirement when its source
names the code; a test file likewise. Vectors name the requirements they prove. A requirement without any of them has
an empty row: it is not built yet.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from spec_ref.requirements import Requirement, Status, register

ROOT = Path(__file__).parents[1]
TRACE = ROOT / "SPEC_TRACE.md"
CODE = re.compile(r"\b[A-Z]{3}\d{3}\b")

HEAD = """# Spec trace

Every requirement of the register, what states it in `spec_ref`, and which vectors and tests name it. This file is
made by `python -m tools.trace`; the build fails when it is stale. `iceberg-conformance explain CODE` tells more about a
rule. An empty cell is work to do, not a claim.
"""


def named_in(folder: str) -> dict[str, list[str]]:
    """The Python files of a folder by the codes that their source names."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted((ROOT / folder).rglob("*.py")):
        for code in sorted(set(CODE.findall(path.read_text(encoding="utf-8")))):
            found[code].append(path.relative_to(ROOT / folder).as_posix())
    return found


def vectors_by_code() -> dict[str, Counter[str]]:
    """How many vectors of each suite name a code."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted((ROOT / "vectors").glob("*/*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for vector in document["vectors"]:
            for code in vector["requirements"]:
                found[code][document["suite"]] += 1
    return found


def cell(text: str) -> str:
    """Text as one cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def versions(requirement: Requirement) -> str:
    """The versions that a requirement binds: ``v2 v3``, or what each version's writer does with a field."""
    if requirement.status is Status.V4_DRAFT:
        return "v4 draft"
    if requirement.rules:
        return " ".join(f"v{version} {rule.value}" for version, rule in requirement.rules.items())
    return " ".join(f"v{version}" for version in requirement.versions)


def lines() -> Iterator[str]:
    """The lines of the trace."""
    requirements = register().values()
    stated, tested, proven = named_in("spec_ref"), named_in("tests"), vectors_by_code()
    adopted = [one for one in requirements if one.status is Status.ADOPTED]
    yield HEAD
    yield "| of the adopted requirements | count |"
    yield "|---|---|"
    yield f"| all | {len(adopted)} |"
    yield f"| stated in `spec_ref` | {sum(one.code in stated for one in adopted)} |"
    yield f"| named by vectors | {sum(one.code in proven for one in adopted)} |"
    yield f"| named by tests | {sum(one.code in tested for one in adopted)} |"
    yield f"| of version 4, a draft that is not adopted, apart | {len(requirements) - len(adopted)} |"
    section: tuple[str, str] | None = None
    for one in sorted(requirements, key=lambda one: (one.document != "spec", one.document)):
        if (one.document, one.section) != section:
            section = (one.document, one.section)
            yield ""
            yield f"## {one.section} ({one.document})"
            yield ""
            yield "| code | rule | level | versions | stated in | vectors | tests |"
            yield "|---|---|---|---|---|---|---|"
        suites = ", ".join(f"{suite} {count}" for suite, count in sorted(proven[one.code].items()))
        modules, files = (", ".join(f"`{name}`" for name in names[one.code]) for names in (stated, tested))
        row = (one.code, cell(one.text), one.level.value, versions(one), modules, suites, files)
        yield f"| {' | '.join(row)} |"


def main(arguments: list[str]) -> int:
    """Write the trace, or check that it is what would be written."""
    parser = argparse.ArgumentParser(description="Write SPEC_TRACE.md from the register, the code and the vectors.")
    parser.add_argument("--check", action="store_true", help="fail when the file is stale, and write nothing")
    text = "\n".join(lines()) + "\n"
    if not parser.parse_args(arguments).check:
        TRACE.write_text(text, encoding="utf-8")
        return 0
    if TRACE.is_file() and TRACE.read_text(encoding="utf-8") == text:
        return 0
    print(f"{TRACE.name} is stale: run python -m tools.trace", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
