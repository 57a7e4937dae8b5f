"""JSON single values of structs, lists and maps (Appendix D)."""

from __future__ import annotations

from typing import Any

STRUCT = {
    "type": "struct",
    "fields": [
        {"id": 1, "name": "a", "required": True, "type": "int"},
        {"id": 2, "name": "b", "required": False, "type": "string"},
    ],
}
LIST = {"type": "list", "element-id": 3, "element-required": True, "element": "int"}
OPTIONAL_LIST = {**LIST, "element-required": False}
MAP = {"type": "map", "key-id": 4, "key": "string", "value-id": 5, "value-required": True, "value": "int"}
OPTIONAL_MAP = {**MAP, "value-required": False}
INT_MAP = {**MAP, "key": "int", "value": "string"}
LIST_OF_STRUCTS = {"type": "list", "element-id": 3, "element-required": True, "element": STRUCT}
MAP_OF_LISTS = {
    "type": "map",
    "key-id": 4,
    "key": "date",
    "value-id": 5,
    "value-required": False,
    "value": {**LIST, "element-id": 6, "element": "decimal(9, 2)"},
}
DEEP = {"type": "struct", "fields": [{"id": 7, "name": "point", "required": True, "type": STRUCT}]}
STRUCT_OF_DATE = {"type": "struct", "fields": [{"id": 1, "name": "a", "required": True, "type": "date"}]}

LIST_OF_LISTS = {
    "type": "list",
    "element-id": 3,
    "element-required": False,
    "element": {**OPTIONAL_LIST, "element-id": 4},
}
LIST_OF_MAPS = {"type": "list", "element-id": 3, "element-required": False, "element": OPTIONAL_MAP}
INNER_MAP = {**OPTIONAL_MAP, "key-id": 6, "value-id": 7}
MAP_OF_MAPS = {**OPTIONAL_MAP, "value": INNER_MAP}
OPTIONAL_STRUCT = {
    "type": "struct",
    "fields": [
        {"id": 11, "name": "n", "required": False, "type": "int"},
        {"id": 12, "name": "l", "required": False, "type": OPTIONAL_LIST},
        {"id": 13, "name": "m", "required": False, "type": OPTIONAL_MAP},
    ],
}
MAP_OF_LISTS_OF_MAPS = {
    **OPTIONAL_MAP,
    "value": {"type": "list", "element-id": 8, "element-required": False, "element": INNER_MAP},
}
OPTIONAL_MAP_OF_LISTS = {**OPTIONAL_MAP, "value": {**OPTIONAL_LIST, "element-id": 6}}

NULLS_INSIDE = {
    "list-null-element": ("TYP003",),
    "map-null-value": ("TYP004",),
    "awkward-lists": ("TYP003",),
    "awkward-maps": ("TYP003", "TYP004"),
    "awkward-list-of-maps": ("TYP003", "TYP004"),
    "awkward-struct": ("TYP003", "TYP004"),
    "awkward-struct-of-empty": ("TYP003", "TYP004"),
    "awkward-map-of-maps": ("TYP004",),
    "awkward-map-of-lists-of-maps": ("TYP003", "TYP004"),
}
"""Values with nulls as elements or as values of maps: the requirements that permit them."""

NESTED: list[tuple[str, dict[str, Any], Any, bool, str]] = [
    ("struct-spec", STRUCT, {"1": 1, "2": "bar"}, True, ""),
    ("struct-order", STRUCT, {"2": "foo", "1": -1}, False, "JSON objects have no order"),
    ("struct-deep", DEEP, {"7": {"1": 1, "2": "bar"}}, False, "field ids at every level"),
    ("struct-of-date", STRUCT_OF_DATE, {"1": "2017-11-16"}, False, "the values inside are JSON single values"),
    ("list-spec", LIST, [1, 2, 3], True, ""),
    ("list-empty", LIST, [], False, ""),
    ("list-null-element", OPTIONAL_LIST, [1, None, 3], False, "an optional element may be null"),
    ("list-of-structs", LIST_OF_STRUCTS, [{"1": 1, "2": "bar"}, {"1": 2, "2": ""}], False, ""),
    ("map-spec", MAP, {"keys": ["a", "b"], "values": [1, 2]}, True, ""),
    ("map-empty", MAP, {"keys": [], "values": []}, False, ""),
    ("map-int-keys", INT_MAP, {"keys": [1, 2], "values": ["a", "b"]}, False, "keys are not JSON member names"),
    ("map-null-value", OPTIONAL_MAP, {"keys": ["a"], "values": [None]}, False, "an optional value may be null"),
    ("awkward-lists", LIST_OF_LISTS, [None, [], [None, 1]], False, "nulls and empty lists in lists"),
    (
        "awkward-maps",
        OPTIONAL_MAP_OF_LISTS,
        {"keys": ["a", "b", "c"], "values": [None, [], [None]]},
        False,
        "nulls and empty lists in maps",
    ),
    (
        "awkward-list-of-maps",
        LIST_OF_MAPS,
        [None, {"keys": [], "values": []}, {"keys": ["a"], "values": [None]}],
        False,
        "nulls and empty maps in lists",
    ),
    (
        "awkward-struct",
        OPTIONAL_STRUCT,
        {"11": 1, "12": [None], "13": {"keys": ["a"], "values": [None]}},
        False,
        "nulls in the list and the map of a struct",
    ),
    (
        "awkward-struct-of-empty",
        OPTIONAL_STRUCT,
        {"11": 1, "12": [], "13": {"keys": [], "values": []}},
        False,
        "an empty list and an empty map in a struct",
    ),
    (
        "awkward-map-of-maps",
        MAP_OF_MAPS,
        {
            "keys": ["a", "b", "c"],
            "values": [None, {"keys": [], "values": []}, {"keys": ["d"], "values": [None]}],
        },
        False,
        "nulls and empty maps in maps",
    ),
    (
        "awkward-map-of-lists-of-maps",
        MAP_OF_LISTS_OF_MAPS,
        {"keys": ["a"], "values": [[{"keys": ["b"], "values": [None]}]]},
        False,
        "a null at the fourth depth",
    ),
    ("map-of-lists", MAP_OF_LISTS, {"keys": ["2017-11-16", "1969-12-31"], "values": [["14.20"], []]}, False, ""),
]

NULL_FIELDS: list[tuple[str, dict[str, Any], Any, Any]] = [
    ("struct", STRUCT, {"1": 1, "2": None}, {"1": 1}),
    ("struct-in-struct", DEEP, {"7": {"1": 1, "2": None}}, {"7": {"1": 1}}),
    ("struct-in-list", LIST_OF_STRUCTS, [{"1": 1, "2": None}], [{"1": 1}]),
    (
        "struct-in-map",
        {**MAP, "value": STRUCT},
        {"keys": ["a"], "values": [{"1": 1, "2": None}]},
        {"keys": ["a"], "values": [{"1": 1}]},
    ),
    (
        "struct-as-key",
        {**MAP, "key": STRUCT},
        {"keys": [{"1": 1, "2": None}], "values": [1]},
        {"keys": [{"1": 1}], "values": [1]},
    ),
]
"""Structs with a null field: by name, the type, the value, and the value without the member of the null."""

BAD_NESTED: list[tuple[str, dict[str, Any], Any, str]] = [
    ("struct-list", STRUCT, [1, "bar"], "an object by field id, not a list"),
    ("struct-by-name", STRUCT, {"a": 1, "b": "bar"}, "fields are identified by id, not by name"),
    ("struct-bad-value", STRUCT, {"1": "one", "2": "bar"}, "a field's value is of its type"),
    ("struct-null-required", STRUCT, {"1": None, "2": "bar"}, "a required field is not null"),
    ("struct-string", STRUCT, "1", "an object by field id"),
    ("struct-too-large-int", STRUCT, {"1": 2147483648, "2": "bar"}, "more than 32 bits"),
    ("struct-deep-bad-value", DEEP, {"7": {"1": 1.5, "2": "bar"}}, "a value inside is of its type"),
    ("list-object", LIST, {"0": 1}, "an array"),
    ("list-string", LIST, "1, 2, 3", "an array"),
    ("list-bad-element", LIST, [1, "two", 3], "an element is of the element type"),
    ("list-null-required", LIST, [1, None, 3], "a required element is not null"),
    ("list-nested", LIST, [[1], [2]], "an element is of the element type"),
    ("map-object", MAP, {"a": 1, "b": 2}, "an array of keys and an array of values"),
    ("map-pairs", MAP, [["a", 1], ["b", 2]], "an array of keys and an array of values"),
    ("map-more-keys", MAP, {"keys": ["a", "b"], "values": [1]}, "a value for each key"),
    ("map-more-values", MAP, {"keys": ["a"], "values": [1, 2]}, "a key for each value"),
    ("map-no-values", MAP, {"keys": ["a", "b"]}, "the values are missing"),
    ("map-no-keys", MAP, {"values": [1, 2]}, "the keys are missing"),
    ("map-null-key", MAP, {"keys": [None], "values": [1]}, "a key is not null"),
    ("map-null-required-value", MAP, {"keys": ["a"], "values": [None]}, "a required value is not null"),
    ("map-bad-key", INT_MAP, {"keys": ["1"], "values": ["a"]}, "a key is of the key type"),
    ("map-bad-value", MAP, {"keys": ["a"], "values": ["1"]}, "a value is of the value type"),
    ("map-of-lists-bad-scale", MAP_OF_LISTS, {"keys": ["2017-11-16"], "values": [["14.2"]]}, "a scale of two"),
]
