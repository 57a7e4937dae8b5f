"""Docstrings of public callables in ``spec_ref``: what `tools.docstrings` finds, and that it finds nothing."""

import ast

import pytest

from tools.docstrings import all_problems, dead_references, problems, unknown_sections

COMPLETE = '''
def double(number: int) -> int:
    """Double a number.

    Args:
        number: an integer.

    Returns:
        Twice the number.

    Raises:
        SpecError: XYZ001 to XYZ003 if it is too large.
    """
    if number > 9:
        raise spec_error("XYZ002", "too large")
    return 2 * number
'''


def found(source: str) -> list[str]:
    return [problem for _, problem in problems(ast.parse(source), {"spec_error": {"SpecError"}}, {"read"})]


def test_no_docstring_is_incomplete() -> None:
    assert all_problems() == []


def test_a_complete_docstring_has_no_problem() -> None:
    assert found(COMPLETE) == []


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("        number: an integer.\n", "        value: an integer.\n", "double: number is not in Args"),
        ("    Returns:\n        Twice the number.\n\n", "", "double has no Returns or Yields"),
        ("SpecError:", "ValueError:", "double: SpecError is not in Raises"),
        ("XYZ001 to XYZ003", "XYZ003 to XYZ009", "double: XYZ002 is not in Raises"),
        ("XYZ001 to XYZ003", "XYY001 to XYY003", "double: XYZ002 is not in Raises"),
        ('raise spec_error("XYZ002", "too large")', 'raise KeyError("XYZ002")', "double: KeyError is not in Raises"),
        (COMPLETE[COMPLETE.index('    """') : COMPLETE.index("    if")], "", "double has no docstring"),
    ],
)
def test_what_is_missing_is_found(old: str, new: str, problem: str) -> None:
    assert old in COMPLETE
    assert found(COMPLETE.replace(old, new)) == [problem]


@pytest.mark.parametrize(
    ("body", "helpers", "code"),
    [
        ("_check(number)", 'def _check(n):\n    raise spec_error("XYZ009", "no")\n', "XYZ009"),
        ("_first(number)", 'def _first(n):\n    _then(n)\ndef _then(n):\n    raise spec_error(CODE, "")\n', "XYZ008"),
        ("raise _broken(number)", 'def _broken(n) -> SpecError:\n    return spec_error("XYZ007", "")\n', "XYZ007"),
    ],
)
def test_what_private_functions_raise_is_documented(body: str, helpers: str, code: str) -> None:
    factories = {"spec_error": {"SpecError"}, "_broken": {"SpecError"}}
    for source, wanted in [
        (COMPLETE.replace("if number > 9:", body + "\n    if number > 9:"), [f"double: {code} is not in Raises"]),
        (
            COMPLETE.replace("if number > 9:", f"try:\n        {body}\n    except SpecError: ...\n    if number > 9:"),
            [],
        ),
    ]:
        module = ast.parse(f'CODE = "XYZ008"\n{source}\n{helpers}')
        assert [problem for _, problem in problems(module, factories, set())] == wanted


@pytest.mark.parametrize(
    "source",
    [
        "def _private(number: int) -> int: ...",
        "class _Private:\n    def method(self, number: int) -> int: ...",
        "class Public:\n    def read(self, number: int) -> int: ...",  # an override of a documented method
        'class Public:\n    @property\n    def size(self) -> int:\n        """The size in bytes."""',
        'def count() -> int:\n    """Count the rows."""',
    ],
)
def test_these_need_no_more(source: str) -> None:
    assert found(source) == []


@pytest.mark.parametrize(
    ("opening", "unknown"),
    [
        ("Manifests (Manifests; Appendix C).", []),
        ("Avro files (Avro 1.11 specification; Appendix A, Avro).", []),
        ("Manifests (Manifests; Manifest Entry and Data File Fields).", ["Manifest Entry and Data File Fields"]),
        ("Reading (Point in Time Reads, Retention).", ["Retention"]),
    ],
)
def test_sections_that_do_not_exist_are_found(opening: str, unknown: list[str]) -> None:
    module = ast.parse(f'"""{opening}"""')
    found = [problem for _, problem in unknown_sections(module, {"manifests", "point in time reads"})]
    assert found == [f"there is no section {name}" for name in unknown]


@pytest.mark.parametrize(
    ("name", "is_dead"),
    [
        ("spec_ref.hashing", False),
        ("spec_ref.hashing.hash_value", False),
        ("spec_ref.commits", False),
        ("spec_ref.hashing.hash_of", True),
        ("spec_ref.hashes", True),
    ],
)
def test_a_name_in_a_docstring_leads_somewhere(name: str, is_dead: bool) -> None:
    found = list(dead_references(ast.parse(f'"""See `{name}`."""')))
    assert found == ([(1, f"there is no {name}")] if is_dead else [])
