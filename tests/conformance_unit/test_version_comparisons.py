"""Field tables and `FEATURES` define the contents of each version; only `spec_ref.core.versions` compares versions."""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

EXEMPT = {
    "spec_ref/*versions.py": "the tables themselves",
    "conformance/adapter_sdk/*": "other implementations, which have no tables, or requests to them",
    "conformance/engine*": "versions of engines",
    "conformance/interop/catalogue.py": "which scripts a quick run takes",
    "conformance/vectors/interchange.py": "documents of another project's format",
    "conformance/properties/*": "random scripts and an independent model, which share no rule with spec_ref",
    "conformance/scripts/model*": "an independent model, which shares no rule with spec_ref",
    "conformance/races/*": "scenarios and invariants, which are independent of the rules that they test",
    "conformance/table_io/stores/*": "numbers of metadata files",
    "conformance/table_io/tables.py": "numbers of metadata files",
}
"""Files that compare versions, and why."""

VERSIONS = {"V1", "V2", "V3"}


def is_version(node: ast.expr) -> bool:
    """Whether an expression names a format version, or what a rule is valid since."""
    name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
    return name in {*VERSIONS, "version", "format_version", "since"} or name.endswith("_SINCE")


def compares(node: ast.Compare) -> bool:
    """Whether a comparison is of format versions: not with None, a string, or a collection that has another name."""
    sides = [node.left, *node.comparators]
    for operator, right in zip(node.ops, node.comparators, strict=True):
        if isinstance(operator, (ast.In, ast.NotIn)):
            items = right.elts if isinstance(right, (ast.Tuple, ast.Set, ast.List)) else []
            sides = [one for one in sides if one is not right] + items
            if not items:
                return False
    others = [one for one in sides if not is_version(one)]
    constants = [one for one in others if isinstance(one, ast.Constant) and not isinstance(one.value, int)]
    return len(others) < len(sides) and (not others or len(constants) < len(others))


def comparisons(source: str) -> Iterator[int]:
    """The lines that compare format versions."""
    for node in ast.walk(ast.parse(source)):
        if (isinstance(node, ast.Compare) and compares(node)) or (
            isinstance(node, ast.MatchValue) and is_version(node.value)
        ):
            yield node.lineno if isinstance(node, ast.Compare) else node.value.lineno


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if version >= 2: pass", [1]),
        ("if metadata.format_version is V1: pass", [1]),
        ("if version in (V2, V3): pass", [1]),
        ("x = one.type.since > stated", [1]),
        ("match version:\n case FormatVersion.V1: pass", [2]),
        ("if version is None: pass", []),
        ("if DELETE_FILES.is_supported(version): pass", []),
    ],
)
def test_what_is_a_comparison(source: str, found: list[int]) -> None:
    assert list(comparisons(source)) == found


def test_no_versions_are_compared() -> None:
    found = []
    for file in sorted([*ROOT.glob("spec_ref/**/*.py"), *ROOT.glob("conformance/**/*.py")]):
        path = file.relative_to(ROOT).as_posix()
        if not any(fnmatch(path, pattern) for pattern in EXEMPT):
            found += [f"{path}:{line}" for line in comparisons(file.read_text("utf-8"))]
    assert found == []
