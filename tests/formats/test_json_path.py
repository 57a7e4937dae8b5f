"""BND005: normalized JSON paths (RFC 9535, section 2.7)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.encodings.variant.json_path import normalized_path, parse_normalized_path

PATHS = [
    # Bounds for Variant, the examples.
    ("$", ()),
    ("$['event_type']", ("event_type",)),
    ("$['user.name']", ("user.name",)),
    ("$['location']['latitude']", ("location", "latitude")),
    ("$['tags']", ("tags",)),
    ("$['addresses']['zip']", ("addresses", "zip")),
    # RFC 9535, table 20: $.a is normalized to the first, $["\u000B"] and $["\u0061"] to the others.
    ("$['a']", ("a",)),
    ("$['\\u000b']", ("\x0b",)),
    # RFC 9535, the grammar normal-single-quoted: what is escaped, and how.
    ("$['\\b\\t\\n\\f\\r']", ("\b\t\n\f\r",)),
    ("$['\\u0000\\u0007\\u000e\\u001f']", ("\x00\x07\x0e\x1f",)),
    ("$['\\'\\\\']", ("'\\",)),
    ("$['\"/ \x7f\u2028\U0001f600]']", ('"/ \x7f\u2028\U0001f600]',)),
    ("$['']", ("",)),
]


@pytest.mark.parametrize(("path", "names"), PATHS)
def test_a_path_has_one_normalized_form(path, names):
    assert normalized_path(names) == path
    assert parse_normalized_path(path) == names


@pytest.mark.parametrize(
    "path",
    [
        "",
        "a",
        "$.a",
        '$["a"]',
        "$['a",
        "$['a'",
        "$['a']x",
        "$[a]",
        "$ ['a']",
        "$['a'] ",
        "$['a''b']",
        "$['a'b']",
        "$['\x0b']",
        "$['\n']",
        "$['\\u000B']",
        "$['\\u0061']",
        "$['\\u000a']",
        "$['\\u0008']",
        "$['\\/']",
        "$['\\\"']",
        "$['\\u0020']",
        "$['\\u0027']",
        "$['\\x0b']",
        "$['\\']",
        "$[*]",
        "$[0]",
        "$['a'][-1]",
        "$..['a']",
        "$[]",
        "$['\ud800']",
        "$\n",
        "$['a']\n",
    ],
)
def test_other_forms_are_refused(path):
    with pytest.raises(SpecError) as error:
        parse_normalized_path(path)
    assert error.value.violation.requirement == "BND005"


def test_a_lone_surrogate_is_no_name():
    with pytest.raises(SpecError):
        normalized_path(["\ud800"])


@given(st.lists(st.text(max_size=5), max_size=4).map(tuple))
def test_names_come_back_from_their_path(names):
    assert parse_normalized_path(normalized_path(names)) == names


@given(st.text(alphabet="$[]'\\u0b1fntaA\x0b*", max_size=12).map("$['".__add__))
def test_a_path_that_is_read_is_the_one_that_is_written(path):
    try:
        names = parse_normalized_path(path)
    except SpecError:
        return
    assert normalized_path(names) == path
