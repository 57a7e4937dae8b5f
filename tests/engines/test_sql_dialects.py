"""The SQL of types and literals in the dialects of engines, without an engine."""

from __future__ import annotations

from typing import Any, cast

import pytest

from conformance.adapter_sdk import sql_dialects
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.adapter_sdk.spark_dialect import SPARK
from conformance.adapter_sdk.sql_dialects import Dialect
from conformance.engines.flink.flink_sql import DIALECT as FLINK
from conformance.engines.flink.writing import FlinkWriter
from conformance.engines.flink.writing import _or_placeholder as or_placeholder
from conformance.engines.trino import sql as trino
from conformance.engines.trino.writing import _check_types as check_trino_types
from conformance.engines.trino.writing import _sort_order as trino_sort_order
from conformance.engines.trino.writing import _target_size as trino_target_size


def struct(**fields: Any) -> dict[str, Any]:
    listed = enumerate(fields.items(), 1)
    return {
        "type": "struct",
        "fields": [{"id": number, "name": name, "required": False, "type": type_} for number, (name, type_) in listed],
    }


ODD = struct(**{"a`b": "int", "c\"d'e": "string"})
TAGS = {"type": "list", "element-id": 1, "element-required": True, "element": "long"}
PRICES = {"type": "map", "key-id": 1, "key": "string", "value-id": 2, "value-required": False, "value": "decimal(9,2)"}
ONE_PRICE = {"keys": ["a"], "values": ["1.50"]}
NO_PRICES: dict[str, Any] = {"keys": [], "values": []}

SPARK_STRUCT = "STRUCT<`a``b`: INT, `c\"d'e`: STRING>"
FLINK_MAP = "MAP<STRING NOT NULL, DECIMAL(9,2)>"
NO_STRINGS = "ARRAY_EXCEPT(ARRAY[CAST(NULL AS STRING)], ARRAY[CAST(NULL AS STRING)])"
NO_DECIMALS = "ARRAY_EXCEPT(ARRAY[CAST(NULL AS DECIMAL(9,2))], ARRAY[CAST(NULL AS DECIMAL(9,2))])"

CASES: list[tuple[Dialect, Any, Any, str, str]] = [
    (SPARK, "timestamp", "1969-12-31T23:59:59.999999", "TIMESTAMP_NTZ", "CAST(timestamp_micros(-1) AS TIMESTAMP_NTZ)"),
    (SPARK, "float", "NaN", "FLOAT", "CAST('NaN' AS FLOAT)"),
    (SPARK, "string", "it's \\", "STRING", "'it\\'s \\\\'"),
    (SPARK, "fixed[2]", "00FF", "BINARY", "X'00FF'"),
    (SPARK, "boolean", None, "BOOLEAN", "CAST(NULL AS BOOLEAN)"),
    (SPARK, ODD, {"a`b": 1}, SPARK_STRUCT, "named_struct('a`b', CAST('1' AS INT), 'c\"d\\'e', CAST(NULL AS STRING))"),
    (SPARK, TAGS, [], "ARRAY<BIGINT>", "CAST(array() AS ARRAY<BIGINT>)"),
    (
        SPARK,
        PRICES,
        ONE_PRICE,
        "MAP<STRING, DECIMAL(9,2)>",
        "CAST(map('a', CAST('1.50' AS DECIMAL(9,2))) AS MAP<STRING, DECIMAL(9,2)>)",
    ),
    (FLINK, "fixed[2]", "00FF", "BINARY(2)", "CAST(X'00FF' AS BINARY(2))"),
    (FLINK, "string", "it's \\", "STRING", "CAST('it''s \\' AS STRING)"),
    (FLINK, TAGS, ["1"], "ARRAY<BIGINT NOT NULL>", "CAST(ARRAY[CAST('1' AS BIGINT)] AS ARRAY<BIGINT NOT NULL>)"),
    (
        FLINK,
        PRICES,
        ONE_PRICE,
        FLINK_MAP,
        f"CAST(MAP[CAST('a' AS STRING), CAST('1.50' AS DECIMAL(9,2))] AS {FLINK_MAP})",
    ),
    (FLINK, PRICES, NO_PRICES, FLINK_MAP, f"CAST(MAP_FROM_ARRAYS({NO_STRINGS}, {NO_DECIMALS}) AS {FLINK_MAP})"),
    (trino.DIALECT, "int", -1, "INTEGER", "INTEGER '-1'"),
    (
        trino.DIALECT,
        struct(x="double"),
        {"x": "-Infinity"},
        'ROW("x" DOUBLE)',
        "CAST(ROW(DOUBLE '-Infinity') AS ROW(\"x\" DOUBLE))",
    ),
    (
        trino.DIALECT,
        PRICES,
        ONE_PRICE,
        "MAP(VARCHAR, DECIMAL(9,2))",
        "CAST(MAP(ARRAY['a'], ARRAY[CAST('1.50' AS DECIMAL(9,2))]) AS MAP(VARCHAR, DECIMAL(9,2)))",
    ),
]


@pytest.mark.parametrize(("dialect", "type_", "value", "sql_type", "literal"), CASES)
def test_types_and_literals(dialect: Dialect, type_: Any, value: Any, sql_type: str, literal: str) -> None:
    assert sql_dialects.sql_type(type_, dialect) == sql_type
    assert sql_dialects.literal(type_, value, dialect) == literal


@pytest.mark.parametrize(
    ("dialect", "type_", "value"),
    [
        (SPARK, "time", "10:00:00.000000"),
        (SPARK, struct(x="geometry"), None),
        (FLINK, "double", "NaN"),
        (FLINK, "time", "10:00:00.000001"),
        (trino.DIALECT, "variant", None),
    ],
)
def test_a_literal_that_the_engine_lacks_is_unsupported(dialect: Dialect, type_: Any, value: Any) -> None:
    with pytest.raises(Unsupported):
        sql_dialects.literal(type_, value, dialect)


@pytest.mark.parametrize("type_", [TAGS, struct(Upper="int")])
def test_types_whose_parts_trino_cannot_express_are_unsupported(type_: Any) -> None:
    with pytest.raises(Unsupported):
        trino.sql_type(type_)
    with pytest.raises(Unsupported):
        trino.literal(type_, None)


DELETABLE = (
    *("boolean", "int", "long", "float", "double", "decimal(9,2)", "date", "time", "string", "uuid", "binary"),
    *("timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns", "fixed[3]", TAGS, PRICES, ODD),
)


@pytest.mark.parametrize("type_", DELETABLE, ids=str)
def test_a_deletion_in_flink_has_some_value_for_each_required_column(type_: Any) -> None:
    required = {"name": "c", "required": True, "type": type_}
    assert or_placeholder(required, None, "DELETE") != sql_dialects.literal(type_, None, FLINK)
    assert or_placeholder(required, None, "UPSERT") == sql_dialects.literal(type_, None, FLINK)
    assert or_placeholder({**required, "required": False}, None, "DELETE") == sql_dialects.literal(type_, None, FLINK)


def test_a_deletion_in_flink_gives_required_fields_of_structs_alone() -> None:
    inner = struct(a="long", b="string")
    inner["fields"][1]["required"] = True
    made = or_placeholder({"name": "c", "required": True, "type": inner}, None, "DELETE")
    assert made == sql_dialects.literal(inner, {"b": ""}, FLINK)


def test_a_change_of_a_schema_with_flink_is_of_the_columns_that_those_before_it_left() -> None:
    steps: list[Any] = []

    class Recorder:
        def run(self, _: str, statement: str) -> dict[str, str]:
            steps.append(statement.split("`w` ")[1])
            return {"metadata": ""}

    fields = [{"id": 1, "name": "k", "required": True, "type": "int"}, {"id": 2, "name": "p", "type": "string"}]
    changes = [
        {"op": "rename", "name": "k", "to": "key"},
        {"op": "promote", "name": "key", "type": "long"},
        {"op": "optional", "name": "key"},
        {"op": "drop", "name": "p"},
        {"op": "add", "name": "p", "type": "int"},
        {"op": "move", "name": "p", "after": None},
        {"op": "move", "name": "key", "after": "p"},
    ]
    writer = FlinkWriter(cast(Any, Recorder()), None, "w")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "_fields", lambda: fields)
        writer.alter_schema({"changes": changes})
        assert steps == [
            "RENAME `k` TO `key`",
            "MODIFY (`key` BIGINT NOT NULL)",
            "MODIFY (`key` BIGINT)",
            "DROP `p`",
            "ADD (`p` INT)",
            "MODIFY (`p` INT FIRST)",
            "MODIFY (`key` BIGINT AFTER `p`)",
        ]
        with pytest.raises(Invalid, match="no column k"):
            writer.alter_schema({"changes": [changes[0], {"op": "promote", "name": "k", "type": "long"}]})
        assert len(steps) == 7, "nothing ran of a step that is refused"


def test_a_decimal_without_digits_before_the_point_is_no_text_for_flink() -> None:
    with pytest.raises(Unsupported, match="without digits before the point"):
        sql_dialects.literal("decimal(9, 9)", "0.000000001", FLINK)
    assert sql_dialects.literal("decimal(10, 9)", "0.000000001", FLINK)


def test_trino_has_the_target_size_of_files_in_a_separate_property() -> None:
    properties = {"write.target-file-size-bytes": "600", "a": "b"}
    assert trino_target_size(properties, "483") == {"target_max_file_size": "'600B'"}
    assert properties == {"a": "b"}
    assert trino_target_size(properties, "483") == {}
    assert trino_target_size({}, "476") == {}
    with pytest.raises(Unsupported, match="no target size of files for a table"):
        trino_target_size({"write.target-file-size-bytes": "600"}, "476")


@pytest.mark.parametrize("type_", ["timestamp_ns", struct(a="timestamptz_ns"), {**TAGS, "element": "timestamp_ns"}])
def test_nanoseconds_are_not_rounded_in_trino_before_v3(type_: Any) -> None:
    with pytest.raises(Unsupported, match="before v3"):
        check_trino_types(type_, 2)
    check_trino_types(type_, 3)
    check_trino_types(struct(a_ns="timestamp", b=PRICES), 1)


def test_trino_sorts_by_columns_alone() -> None:
    fields = [{"name": "a.b", "type": "long"}, {"name": "c", "type": struct(d="long")}]
    assert trino_sort_order([{"source": "a.b"}], fields) == "ARRAY['\"a.b\" ASC NULLS FIRST']"
    with pytest.raises(Unsupported, match="not by fields inside a column"):
        trino_sort_order([{"source": "c.d"}], fields)
