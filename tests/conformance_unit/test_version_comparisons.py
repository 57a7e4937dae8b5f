"""Field tables and `FEATURES` define the contents of each version; only `spec_ref.core.versions` compares versions.

A comparison is not the only way in which Python chooses: `match`, a dict by version, `includes(V2)` and `min(V2, x)`
are found too, as are versions that a module calls by other names.
"""

import ast
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

EXEMPT = {
    "spec_ref/*versions.py": "the tables themselves",
    "conformance/adapter_sdk/*": "other implementations, which have no tables, or requests to them",
    "conformance/engine*": "versions of engines, and which format versions an engine supports",
    "conformance/interop/catalogue.py": "which scripts a quick run takes",
    "conformance/vectors/interchange.py": "documents of another project's format",
    "conformance/properties/*": "random scripts and an independent model, which share no rule with spec_ref",
    "conformance/scripts/model*": "an independent model, which shares no rule with spec_ref",
    "conformance/races/*": "scenarios and invariants, which are independent of the rules that they test",
    "conformance/table_io/stores/file_system.py": "numbers of metadata files",
    "conformance/table_io/stores/object_store.py": "numbers of metadata files",
    "conformance/table_io/stores/rest_updates.py": "differences between two metadata files, with what v2 always writes",
    "spec_ref/table_metadata/upgrade.py": "the upgrade from each version to the next",
    "conformance/table_io/tables.py": "numbers of metadata files",
}
"""Files that compare versions, and why."""

CONSTANTS = {"V1", "V2", "V3", "NEWEST"}
NAMES = CONSTANTS | {"version", "format_version", "since", "required_since"}
PROPERTY = {"format-version", "format_version"}
PRESENCES = {"REQUIRED", "OPTIONAL", "OMITTED"}


def name_of(node: ast.expr | None) -> str:
    """The name of a variable, or the last name of an attribute."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


class Finder:
    """Finds where a module decides by format versions."""

    def __init__(self, tree: ast.Module) -> None:
        self.aliases: set[str] = set()
        """Names that this module gives to format versions: annotated with the class, or assigned from one."""
        self.collections: set[str] = set()
        """Names that it gives to tuples and sets of format versions."""
        self.tree = tree
        for node in ast.walk(tree):
            if isinstance(node, (ast.arg, ast.AnnAssign)) and name_of(node.annotation) == "FormatVersion":
                self.aliases.add(node.arg if isinstance(node, ast.arg) else name_of(node.target))
        for node in ast.walk(tree):
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            value = getattr(node, "value", None)
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)) and value is not None:
                names = {name_of(target) for target in targets} - {""}
                if not isinstance(value, ast.Name) and self.is_version(value):
                    self.aliases |= names
                elif any(name_of(one) in CONSTANTS for one in self.items(value)):
                    self.collections |= names

    def items(self, node: ast.expr) -> list[ast.expr]:
        """The expressions in a tuple, list, set or range of literals."""
        if isinstance(node, ast.Call) and name_of(node.func) in {"frozenset", "set", "tuple", "range"}:
            return [item for one in node.args for item in self.items(one) or [one]]
        return node.elts if isinstance(node, (ast.Tuple, ast.Set, ast.List)) else []

    def is_version(self, node: ast.expr) -> bool:
        """Whether an expression is a format version, or what a rule is valid since."""
        name = name_of(node)
        if name in NAMES | self.aliases or name.endswith("_SINCE"):
            return True
        match node:
            case ast.NamedExpr(value=value) | ast.Attribute(value=value, attr="value" | "name"):
                return self.is_version(value)
            case ast.BinOp(left=left):
                return self.is_version(left)
            case ast.Call(func=ast.Name(id="int" | "str" | "FormatVersion" | "min" | "max"), args=args):
                return any(self.is_version(one) for one in args)
            case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=key), *_]):
                return key in PROPERTY
            case ast.Subscript(slice=ast.Constant(value=key)):
                return key in PROPERTY
        return False

    def is_constant(self, node: ast.expr) -> bool:
        """Whether an expression is a version written down: `V2`, `FormatVersion(2)`, 2."""
        match node:
            case ast.Call(func=ast.Name(id="FormatVersion"), args=[one]):
                return self.is_constant(one)
            case ast.Constant(value=value):
                return type(value) is int or (isinstance(value, str) and value in {"1", "2", "3", *CONSTANTS})
        return name_of(node) in CONSTANTS

    def compares(self, node: ast.Compare) -> bool:
        """Whether a comparison is of format versions: not with None, text, or a collection from elsewhere."""
        sides = [node.left, *node.comparators]
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, (ast.In, ast.NotIn)):
                if self.is_version(node.left) and name_of(right) in self.collections:
                    return True
                items = self.items(right)
                sides = [one for one in sides if one is not right] + items
                if not items:
                    return False
        others = [one for one in sides if not self.is_version(one)]
        other_kinds = [one for one in others if isinstance(one, ast.Constant) and not self.is_constant(one)]
        return len(others) < len(sides) and (not others or len(other_kinds) < len(others))

    def decides(self, node: ast.AST) -> bool:
        """Whether a node chooses by a format version in one of the ways that Python has."""
        match node:
            case ast.Compare():
                return self.compares(node)
            case ast.MatchValue(value=value):
                return name_of(value) in CONSTANTS
            case ast.Match(subject=subject):
                return self.is_version(subject) and any(
                    isinstance(one, ast.MatchValue)
                    and isinstance(one.value, ast.Constant)
                    and self.is_constant(one.value)
                    for case in node.cases
                    for one in ast.walk(case.pattern)
                )
            case ast.Dict(keys=keys, values=values):
                rules_of_fields = all(name_of(one) in PRESENCES for one in values)
                return not rules_of_fields and any(name_of(key) in CONSTANTS for key in keys)
            case ast.Subscript(value=ast.Dict() | ast.Tuple() | ast.List(), slice=index):
                return self.is_version(index)
            case ast.Call(func=ast.Attribute(attr="includes"), args=[one]):
                return self.is_constant(one)
            case ast.Call(func=ast.Attribute(value=ast.Dict(), attr="get"), args=[one, *_]):
                return self.is_version(one)
            case ast.Call(func=ast.Name(id="min" | "max"), args=args):
                return any(self.is_version(one) for one in args) and any(self.is_constant(one) for one in args)
        return False


def comparisons(source: str) -> Iterator[int]:
    """The lines that decide by format versions."""
    finder = Finder(ast.parse(source))
    for node in ast.walk(finder.tree):
        if finder.decides(node):
            yield node.value.lineno if isinstance(node, ast.MatchValue) else node.lineno  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("if version >= 2: pass", [1]),
        ("if metadata.format_version is V1: pass", [1]),
        ("if version in (V2, V3): pass", [1]),
        ("x = one.type.since > stated", [1]),
        ("match version:\n case FormatVersion.V1: pass", [2]),
        ("if metadata.format_version > 2: pass", [1]),
        ("if not metadata.format_version.value > 1: pass", [1]),
        ("if version in (1, 2): pass", [1]),
        ("if version in range(2, 4): pass", [1]),
        ("OLD = (V1, V2)\nif version in OLD: pass", [2]),
        ("v = metadata.format_version\nif v > 2: pass", [2]),
        ("if (v := int(version)) != 1: pass", [1]),
        ("def f(table: FormatVersion) -> bool:\n    return table == 3", [2]),
        ("if document['format-version'] == 1: pass", [1]),
        ("if document.get('format-version', 1) < 2: pass", [1]),
        ("if properties['format-version'] == '2': pass", [1]),
        ("if FormatVersion(2) <= metadata.format_version: pass", [1]),
        ("if version.name == 'V3': pass", [1]),
        ("if version.includes(V3): pass", [1]),
        ("match version:\n case 1: pass", [1]),
        ("match document['format-version']:\n case 1 | 2: pass", [1]),
        ("READERS = {V1: read_v1, V2: read_v2}", [1]),
        ("{1: read_v1, 2: read_v2}[version]", [1]),
        ("{1: read_v1}.get(version, read_v2)", [1]),
        ("(read_v1, read_v2)[version - 1]", [1]),
        ("x = min(V2, version)", [1]),
        ("spec_field('x', read={V1: OPTIONAL})", []),
        ("if rule.writer_presence(version) is REQUIRED: pass", []),
        ("if version.includes(rule.since): pass", []),
        ("x = min(one.since, version)", []),
        ("if version == 'nightly': pass", []),
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
