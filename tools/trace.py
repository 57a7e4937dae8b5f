"""Write SPEC_TRACE.md: each requirement of the register, the modules that state it, and the number of its proofs.

`python -m tools.trace` writes the file and prints the counts. `--check` fails if the file is stale, if a requirement
has neither a proof nor a reason why it has none, or has both, if nothing states it, if a proof names no requirement, or
if fewer requirements are proved than before. `--run FILE` reads the file that `tools.trace_recorder` wrote during a run
of the tests, and fails on each code that can be emitted but that no passing test saw broken.

A requirement is proved if something fails when it is broken (`tools.proofs`); it is covered if vectors, checks or tests
only name it. A test names a code itself, or through a fixture, helper or table that it uses. A class or function states
a requirement if its source or its docstring names the code. If there is none, the modules whose opening docstring names
the section state it. The site has the long form, with the names of all of these.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import attrs

from conformance.rules import registry
from spec_ref.requirements import Requirement, Status, register, sources
from tools.code_places import codes_in
from tools.entry_point import run_main
from tools.proofs import KINDS, Proof, proofs

ROOT = Path(__file__).parents[1]
TRACE = ROOT / "SPEC_TRACE.md"
NEVER_SEEN = Path(__file__).with_name("trace_never_seen.toml")
"""Codes that can be emitted but that no test can see broken, each with the reason."""

NAMING_ONLY = ("conformance/validator/advice.py",)
"""Modules that name codes and never emit one."""

TABLES = ("spec_ref/core/versions.py",)
"""Modules that state rules by their codes, but do not emit the codes."""

ABOUT_THE_TOOL = (
    "requirements/test_register.py",
    "requirements/test_check_register.py",
    "requirements/test_contradictions.py",
    "requirements/test_trace.py",
    "requirements/test_explain.py",
    "vectors/test_vector_lint.py",
    "cli/",
    "test_documentation.py",
    "conformance_unit/",
)
"""Tests that name codes only as examples, and prove none of them."""

MOST_MODULES = 4
"""The maximum number of modules that are listed for a code; of more, only the number is given."""

LEAST_PROVED = 583
"""The minimum number of adopted requirements that are proved: it may grow, but not fall."""

HEAD = """# Spec trace

Every requirement of the register: the modules that state it, and what proves it, or the reason why nothing does. This
file is made by `python -m tools.trace`; the build fails when it is stale, on a requirement without proof or reason, and
on a proof that names no requirement. `iceberg-conformance explain CODE` prints more about a rule, and the site, which
`make docs` builds, names every proof, vector, check and test.

A requirement is **proved** where something fails when the rule is broken: a mutant of the reference that vectors,
checks, scripts or tests kill, an adapter with a fault that vectors refute, a fault that is planted in commits and that
the race explorer finds, a corruption of a table that the validator finds, a refusal, where the input of a vector, a
test or an example breaks the rule and the reference refuses it with this code, or a theorem about the code of the
reference, which a solver proves, and which is false where the rule is wrong in the code. It is **covered** where
vectors, checks or tests name it, and nothing has been broken to see them fail. A module in parentheses is one of the
section, where no module names the code.
"""


# What names codes


def _named_codes(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the codes in a Python file, each with the class, function or variable around it (empty for the module)."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    if not codes_in(text):
        return
    inner = [""] * (len(lines) + 2)
    for start, end, name in sorted(_places(ast.parse(text).body, ""), key=lambda place: (place[0], -place[1])):
        inner[start : end + 1] = [name] * (end + 1 - start)
    for number, line in enumerate(lines, 1):
        for code in codes_in(line):
            yield code, inner[number]


def _places(body: Sequence[ast.stmt], parent: str) -> Iterator[tuple[int, int, str]]:
    """Yield the first line, the last line and the qualified name of each definition in a body, nested ones included."""
    before: tuple[int, str] | None = None
    for node in body:
        end = node.end_lineno or node.lineno
        if before is not None and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield before[0], end, before[1]  # the text below a variable describes it
        before = None
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{parent}{node.name}"
            yield min([node.lineno, *(one.lineno for one in node.decorator_list)]), end, name
            if isinstance(node, ast.ClassDef):
                yield from _places(node.body, f"{name}.")
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                before = node.lineno, f"{parent}{target.id}"
                yield node.lineno, end, before[1]


def _emitted_codes(path: Path) -> set[str]:
    """Return the codes of the register that a module has as values, and can therefore emit."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    values = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return {value for value in values if isinstance(value, str) and value in register()}


def _modules(*folders: str) -> Iterator[tuple[str, Path]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path.relative_to(ROOT).as_posix(), path


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w ]+", " ", text.lower()).split())


@attrs.frozen
class Evidence:
    """What names, breaks or emits each code; every mapping has codes as keys unless its docstring says otherwise."""

    stated: Mapping[str, list[str]]
    """Places in ``spec_ref``, as in ``hashing.py: hash_value``."""

    sections: Mapping[str, str]
    """The opening docstrings, by module and not by code."""

    checks: Mapping[str, list[str]]
    """The ids of the checks of tables and files."""

    emitted: Mapping[str, list[str]]
    """Modules of ``spec_ref`` and the validator that have the code as a value."""

    vectors: Mapping[str, Mapping[str, int]]
    """The number of vectors of each suite that name it."""

    tests: Mapping[str, Mapping[str, list[str]]]
    """The test functions that name it, by file; empty for a file that is not itself a test."""

    proved: Mapping[str, Sequence[Proof]] = attrs.field(factory=dict)
    """The proofs: what breaks a requirement, and what detects that."""

    def named(self) -> set[str]:
        """Return the codes that proofs, vectors, checks or tests name."""
        return {*self.vectors, *self.tests, *self.proved}


def tests_by_code() -> dict[str, dict[str, list[str]]]:
    """Return the test functions that name a code, by file; a helper beside the tests has no functions."""
    found: dict[str, dict[str, list[str]]] = defaultdict(dict)
    for name, path in _modules("tests"):
        short = name.removeprefix("tests/")
        if short.startswith((*ABOUT_THE_TOOL, "validate/corruptions/")):
            continue
        for code, functions in _testing(path).items():
            if functions or not path.name.startswith("test_"):
                found[code][short] = functions
    return {code: found[code] for code in sorted(found)}


def _testing(path: Path) -> dict[str, list[str]]:
    """Return the test functions of a file by the codes that they name, directly or through what they use."""
    named: dict[str, set[str]] = defaultdict(set)
    for code, place in _named_codes(path):
        named[code].add(place.partition(".")[0])
    if not named:
        return {}
    uses = _uses(ast.parse(path.read_text(encoding="utf-8")))
    tests = [name for name in uses if name.startswith(("test_", "Test"))]
    reached = {test: _reachable_names(test, uses) for test in tests}
    return {code: [test for test in tests if reached[test] & places_] for code, places_ in named.items()}


def _uses(module: ast.Module) -> dict[str, set[str]]:
    """Return what each definition of a module uses of the others, by name or as a fixture by a parameter's name."""
    bodies: dict[str, list[ast.stmt]] = defaultdict(list)
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            bodies[node.name].append(node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for name in {one.id for target in targets for one in ast.walk(target) if isinstance(one, ast.Name)}:
                bodies[name].append(node)
    found = {}
    for name, nodes in bodies.items():
        inside = [one for node in nodes for one in ast.walk(node)]
        names = {one.id for one in inside if isinstance(one, ast.Name)}
        names |= {one.arg for one in inside if isinstance(one, ast.arg)}
        names |= {one.value for one in inside if isinstance(one, ast.Constant) and isinstance(one.value, str)}
        found[name] = names & bodies.keys()
    return found


def _reachable_names(name: str, uses: Mapping[str, set[str]]) -> set[str]:
    """Return a definition and everything that it uses, directly or not."""
    found: set[str] = set()
    left = [name]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += uses[one]
    return found


def vectors_by_code() -> dict[str, Counter[str]]:
    """Return the number of vectors of each suite that name a code, by code."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted((ROOT / "vectors").glob("*/*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        for vector in document["vectors"]:
            for code in vector["requirements"]:
                found[code][document["suite"]] += 1
    return found


def checks_by_code() -> dict[str, list[str]]:
    """Return the ids of the checks that report a code, by code."""
    found: dict[str, list[str]] = defaultdict(list)
    for check in registry().values():
        for code in check.requirements:
            found[code].append(check.id)
    return found


@cache
def evidence() -> Evidence:
    """Collect the evidence from the current sources."""
    stated: dict[str, dict[str, None]] = defaultdict(dict)
    emitted: dict[str, list[str]] = defaultdict(list)
    sections = {}
    for name, path in _modules("spec_ref", "conformance"):
        short = name.removeprefix("spec_ref/")
        if name not in NAMING_ONLY:
            for code, place in _named_codes(path):
                stated[code][f"`{short}`{f' {place}' if place else ''}"] = None
        if name.startswith("spec_ref/"):
            sections[f"`{short}`"] = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        if name.startswith(("spec_ref/", "conformance/validator/")) and name not in (*NAMING_ONLY, *TABLES):
            for code in sorted(_emitted_codes(path)):
                emitted[code].append(name)
    return Evidence(
        stated={code: [place for place in places if _innermost(place, places)] for code, places in stated.items()},
        sections=sections,
        checks=checks_by_code(),
        emitted=emitted,
        vectors=vectors_by_code(),
        tests=tests_by_code(),
        proved=proofs(),
    )


def _innermost(place: str, places: Mapping[str, None]) -> bool:
    """Return whether no other place of the same module is inside this one."""
    return not any(other != place and other.startswith((f"{place} ", f"{place}.")) for other in places)


# What is wrong


def problems(requirements: Mapping[str, Requirement], found: Evidence) -> Iterator[str]:
    """Yield the requirements with neither or both of proof and reason, and the proofs that name no requirement."""
    named = found.named()
    for code, one in requirements.items():
        if one.status is not Status.ADOPTED:
            continue
        if one.unproven is None and code not in named:
            yield f"{code} has neither proof nor vector nor test, and no reason why: {one.text}"
        if one.unproven is not None and code in named:
            yield f"{code} has a proof, and also a reason why it has none: {one.unproven}"
        if one.unproven is None and not places(one, found):
            yield f"{code} is stated by no class, function or module of its section: {one.text}"
    for code, ids in found.checks.items():
        mine = [id_ for id_ in ids if registry()[id_].requirement == code]
        if mine and code not in found.emitted:
            yield f"{code} has the checks {', '.join(mine)}, and no module emits it"
    areas = {code[:3] for code in requirements}
    for code in sorted(named - requirements.keys()):
        if code[:3] in areas or code in found.vectors:
            naming = [*found.vectors.get(code, ()), *found.tests.get(code, ())]
            yield f"{code} is not a requirement, and is named by {', '.join(naming) or found.proved[code][0].broken}"


def unseen(
    requirements: Mapping[str, Requirement],
    found: Evidence,
    seen: Mapping[str, Sequence[str]],
    known: Mapping[str, str],
) -> Iterator[str]:
    """Yield the problems with the codes that a run of the tests saw broken.

    Args:
        requirements: the register.
        found: the evidence, with the codes that can be emitted.
        seen: the modules of tests that saw a code broken, by code.
        known: codes that no test can see broken, with the reason.
    """
    for code, modules in sorted(found.emitted.items()):
        if code in requirements and code not in seen and code not in known:
            yield f"{code} is emitted by {', '.join(modules)}, and no passing test saw it broken"
    for code in sorted(known):
        if code in seen:
            yield f"{code} was seen broken by {seen[code][0]}, and {NEVER_SEEN.name} says that it cannot be"
        elif code not in found.emitted:
            yield f"{code} is not emitted any more; take it out of {NEVER_SEEN.name}"
    for code in sorted(seen.keys() - requirements.keys()):
        yield f"{code} is not a requirement, and is emitted in {seen[code][0]}"
    for code, one in requirements.items():
        if one.unproven is not None and code in seen:
            yield f"{code} was seen broken by {seen[code][0]}, and has a reason why it has no proof: {one.unproven}"


def never_seen() -> dict[str, str]:
    """Return the codes that no test can see broken, with the reason."""
    rows = tomllib.loads(NEVER_SEEN.read_text(encoding="utf-8")).get("code", [])
    return {code: row["reason"] for row in rows for code in row["codes"]}


# The file


def cell(text: str) -> str:
    """Format text as one cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


def versions(requirement: Requirement) -> str:
    """Return the versions that a requirement binds: ``v2 v3``, or what each version's writer does with a field."""
    if requirement.status is Status.V4_DRAFT:
        return "v4 draft"
    if requirement.rules:
        return " ".join(f"v{version} {rule.value}" for version, rule in requirement.rules.items())
    return " ".join(f"v{version}" for version in requirement.versions)


def places(requirement: Requirement, found: Evidence) -> list[str]:
    """Return the classes and functions that state a requirement, else the modules of its section in parentheses."""
    if requirement.code in found.stated:
        return found.stated[requirement.code]
    section = re.compile(rf"\b{re.escape(_plain(requirement.section))}\b")
    inside = {module: " ".join(re.findall(r"\(([^()]*)\)", text)) for module, text in found.sections.items()}
    return [f"({module})" for module, text in inside.items() if section.search(_plain(text))] or [
        f"({module})" for module, text in found.sections.items() if section.search(_plain(text))
    ]


def rows(requirements: Sequence[Requirement], found: Evidence) -> Iterator[str]:
    """Yield the lines of the requirements, section by section."""
    section: tuple[str, str] | None = None
    for one in sorted(requirements, key=lambda one: (one.document != "spec", one.document)):
        if (one.document, one.section) != section:
            section = (one.document, one.section)
            yield from ("", f"### {one.section} ({one.document})", "")
            yield "| code | slug | rule | level | versions | binds | proof | modules |"
            yield "|---|---|---|---|---|---|---|---|"
        row = [
            one.code,
            one.slug,
            cell(one.text),
            one.level.value,
            versions(one),
            ", ".join(one.binds),
            cell(proof_summary(one, found)),
            cell(", ".join(modules(places(one, found)))),
        ]
        yield f"| {' | '.join(row)} |"


def proof_summary(requirement: Requirement, found: Evidence) -> str:
    """Return the numbers of what proves or covers a requirement; the reason if there is none."""
    code = requirement.code
    if requirement.unproven is not None:
        return f"none; {requirement.unproven}"
    kinds = Counter(one.kind for one in found.proved.get(code, ()))
    names = {
        "vector": sum(found.vectors.get(code, {}).values()),
        "check": len(found.checks.get(code, ())),
        "test": sum(len(functions) for functions in found.tests.get(code, {}).values()),
    }
    proof = ", ".join(with_count(kinds[kind], kind) for kind in KINDS if kinds[kind])
    cover = ", ".join(with_count(number, name) for name, number in names.items() if number)
    if not proof:
        return f"covered: {cover}" if cover else ""
    return f"proved: {'; '.join(part for part in (proof, cover) if part)}"


def with_count(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 mutant``, ``2 mutants``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def modules(stated: Sequence[str]) -> list[str]:
    """Return the module of each place, without duplicates; modules of a section stay in parentheses."""
    found = dict.fromkeys(_module(place) for place in stated)
    more = len(found) - MOST_MODULES
    return [*list(found)[:MOST_MODULES], *([f"{more} more"] if more > 0 else [])]


def _module(place: str) -> str:
    path = place.split("`")[1].removesuffix(".py").removesuffix("/__init__")
    name = path if path.startswith("conformance/") else f"spec_ref/{path}"
    dotted = name.replace("/", ".")
    return f"({dotted})" if place.startswith("(") else dotted


def counts(adopted: Sequence[Requirement], found: Evidence) -> dict[str, int]:
    """Return the number of adopted requirements that are proved, by kind of proof."""
    reasons = Counter(one.unproven.partition(":")[0] for one in adopted if one.unproven is not None)
    proved = [one.code for one in adopted if found.proved.get(one.code)]
    table = {"all": len(adopted), "proved": len(proved)}
    for kind in KINDS:
        table[f"by {kind}s"] = sum(any(one.kind == kind for one in found.proved[code]) for code in proved)
    table["covered, and not proved"] = sum(one.code in found.named() for one in adopted) - len(proved)
    table |= {f"without proof, {reason}": count for reason, count in sorted(reasons.items())}
    table["named by a class or function"] = sum(one.code in found.stated for one in adopted)
    return table


def lines() -> Iterator[str]:
    """Yield the lines of the trace."""
    requirements, found = register().values(), evidence()
    adopted = [one for one in requirements if one.status is Status.ADOPTED]
    draft = [one for one in requirements if one.status is not Status.ADOPTED]
    yield HEAD
    yield "| of the adopted requirements | count |"
    yield "|---|---|"
    for what, count in counts(adopted, found).items():
        yield f"| {what} | {count} |"
    yield ""
    yield f"{len(draft)} more belong to version 4, a draft that is not adopted; they are listed separately, at the end."
    yield ""
    read = sources()
    texts = f"[{read.commit[:10]}]({read.repository}/tree/{read.commit}/format)"
    yield f"The register was read from the texts at {texts}, of {read.date}."
    yield "`python -m tools.check_register --spec FOLDER` compares newer texts with these by the hash of each section,"
    yield "and lists the requirements to read again."
    yield ""
    yield "## Adopted"
    yield from rows(adopted, found)
    yield ""
    yield "## Version 4: a draft, not adopted"
    yield ""
    yield "Nothing here binds anyone yet, and nothing is claimed about it."
    yield from rows(draft, found)


def main(arguments: list[str]) -> int:
    """Write the trace, or check that it is complete and current."""
    parser = argparse.ArgumentParser(description="Write SPEC_TRACE.md from the register, the code and the proofs.")
    parser.add_argument("--check", action="store_true", help="fail if it is stale or incomplete, and write nothing")
    parser.add_argument("--run", type=Path, metavar="FILE", help="check what the tests saw broken, by this file")
    given = parser.parse_args(arguments)
    found: list[str] = []
    if given.check or given.run is None:
        found += problems(register(), evidence())
        table = counts([one for one in register().values() if one.status is Status.ADOPTED], evidence())
        print("; ".join(f"{what} {count}" for what, count in table.items()))
        if table["proved"] < LEAST_PROVED:
            found.append(f"{table['proved']} adopted requirements are proved, fewer than the {LEAST_PROVED} before")
        text = "\n".join(lines()) + "\n"
        if not given.check:
            TRACE.write_text(text, encoding="utf-8")
        elif not TRACE.is_file() or TRACE.read_text(encoding="utf-8") != text:
            found.append(f"{TRACE.name} is stale: run python -m tools.trace")
    if given.run is not None:
        found += unseen(register(), evidence(), json.loads(given.run.read_text(encoding="utf-8")), never_seen())
    for problem in found:
        print(problem, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    run_main(main, sys.argv[1:])
