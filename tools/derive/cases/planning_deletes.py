"""Which deletes apply to which data files: by kind, sequence number, partition and referenced file."""

from __future__ import annotations

import struct
from collections.abc import Iterator

from tools.derive.cases.expression_forms import leaf
from tools.derive.planning import (
    ID,
    PlanTable,
    Spec,
    deletion_vector,
    either,
    entry,
    equality_deletes,
    position_deletes,
)
from tools.derive.vector import INVALID, Vector

Case = tuple[PlanTable, tuple[Vector, ...]]

PATH = 2147483546
"""The id of the path column of position deletes."""

NAME = {"id": 2, "name": "data", "required": False, "type": "string"}
BY_DATA = Spec(0, ((2, 1000, "data", "identity", "string"),))
EVERYWHERE = Spec(1)
AGES = [entry("older", number=2), entry("same", number=3), entry("newer", number=4)]


def _numbers() -> Iterator[Case]:
    table = PlanTable("number-position", "a position delete file among older and newer data").manifest(*AGES)
    table.deletes(position_deletes("p", number=3)).commit()
    planned = {"older": ["p"], "same": ["p"], "newer": []}
    note = "position deletes apply to data of the same sequence number and of lower ones"
    yield table, (table.case("all", "SCN009 SCN012", planned, note),)

    table = PlanTable("number-equality", "an equality delete file among older and newer data").manifest(*AGES)
    table.deletes(equality_deletes("e", [1], number=3)).commit()
    note = "equality deletes apply to data of lower sequence numbers alone"
    yield table, (table.case("all", "SCN010", {"older": ["e"], "same": [], "newer": []}, note),)

    table = PlanTable("number-vector", "deletion vectors of older data and of the same commit", 3).manifest(*AGES[:2])
    table.deletes(deletion_vector("v", "older", number=3), deletion_vector("w", "same", number=3)).commit()
    note = "deletion vectors apply to data of the same sequence number and of lower ones"
    case = table.case(
        "all",
        "SCN008 SCN012",
        {"older": ["v@4"], "same": ["w@4"]},
        note,
        optional_deletes={"older": ["w@4"], "same": ["v@4"]},
        contradiction="E32",
    )
    yield table, (case,)

    table = PlanTable("number-inherited", "data and deletes of one commit, whose numbers are null").manifest(
        entry("old", number=4), entry("new")
    )
    table.deletes(position_deletes("p"), equality_deletes("e", [1])).commit()
    note = "null numbers become that of the manifest, 5: the equality deletes do not apply to the data of their commit"
    planned = {"old": ["p", "e"], "new": ["p"]}
    yield table, (table.case("all", "SEQ006 SCN010 SCN012", planned, note),)

    table = PlanTable("number-vector-inherited", "vectors of one commit, whose numbers are null", 3).manifest(
        entry("old", number=4), entry("new")
    )
    table.deletes(deletion_vector("v", "old"), deletion_vector("w", "new")).commit()
    note = "the null sequence number of a vector becomes that of its manifest, which is not below that of its data file"
    case = table.case(
        "all",
        "SEQ006 SCN008 SCN012",
        {"old": ["v@4"], "new": ["w@4"]},
        note,
        optional_deletes={"old": ["w@4"], "new": ["v@4"]},
        contradiction="E32",
    )
    yield table, (case,)

    table = PlanTable("number-of-manifest", "an added entry in a manifest of an earlier commit").manifest(
        entry("one"), sequence_number=2, min_sequence_number=2
    )
    table.manifest(entry("two"), sequence_number=4, min_sequence_number=4)
    table.deletes(equality_deletes("e", [1], number=3)).commit()
    note = "an added entry inherits the number of its manifest, not that of the snapshot"
    yield table, (table.case("all", "SEQ006 MAN019 SCN010", {"one": ["e"], "two": []}, note),)

    rewritten = entry("compacted", number=1, status=1, file_number=None)
    table = PlanTable("number-rewritten", "a file of the last commit with rows of the first").manifest(rewritten)
    table.deletes(equality_deletes("e", [1], number=3)).commit()
    note = "the data sequence number decides, not the file sequence number"
    yield table, (table.case("all", "SEQ007 MAN021 SCN010", {"compacted": ["e"]}, note),)

    table = PlanTable("number-v1-manifest", "a manifest of v1 in an upgraded table").manifest(
        entry("old"), version=1, sequence_number=0, min_sequence_number=0
    )
    table.deletes(equality_deletes("e", [1], number=1)).commit()
    note = "the files of v1 manifests have sequence number 0"
    yield table, (table.case("all", "SEQ009 SCN010", {"old": ["e"]}, note),)


def _partitions() -> Iterator[Case]:
    rows = [entry(name, [value], 2) for name, value in (("x", "x"), ("y", "y"), ("null", None))]
    for kind, delete in (
        ("position", position_deletes("d", ["x"], 3)),
        ("equality", equality_deletes("d", [1], ["x"], 3)),
    ):
        table = PlanTable(f"partition-{kind}", f"{kind} deletes in one of three partitions", specs=[BY_DATA])
        table.manifest(*rows).deletes(delete).commit()
        codes = "SCN009 SCN011" if kind == "position" else "SCN010 SCN011"
        note = "deletes apply to data of the same partition alone"
        yield table, (table.case("all", codes, {"x": ["d"], "y": [], "null": []}, note),)

    table = PlanTable("partition-null", "deletes in the partition of null", specs=[BY_DATA]).manifest(*rows)
    table.deletes(equality_deletes("e", [1], [None], 3), position_deletes("p", [None], 3)).commit()
    note = "null is a partition value like others, equal to itself"
    yield table, (table.case("all", "SCN009 SCN010", {"x": [], "y": [], "null": ["e", "p"]}, note),)

    specs = [BY_DATA, EVERYWHERE]
    table = PlanTable("partition-global", "deletes of an unpartitioned spec", specs=specs).manifest(*rows)
    table.manifest(entry("free", (), 2), spec=1)
    table.deletes(equality_deletes("e", [1], (), 3), position_deletes("p", (), 3), spec=1).commit()
    planned = {"x": ["e"], "y": ["e"], "null": ["e"], "free": ["e", "p"]}
    note = "equality deletes of an unpartitioned spec apply everywhere, position deletes do not"
    yield table, (table.case("all", "SCN009 SCN010 SCN011", planned, note),)

    specs = [Spec(0), Spec(7, ((2, 1000, "data", "void", "string"),)), Spec(8, BY_DATA.fields)]
    table = PlanTable("partition-void", "equality deletes of a spec of which only a void field is left", specs=specs)
    table.manifest(entry("x", ["x"], 2), spec=8).deletes(equality_deletes("e", [1], [None], 3), spec=7).commit()
    note = "a spec of only void fields makes no partitions, so its equality deletes apply everywhere"
    yield table, (table.case("all", "SCN011", {"x": ["e"]}, note, contradiction="C14"),)

    specs = [Spec(3, BY_DATA.fields), Spec(4, ((2, 1001, "data_2", "identity", "string"),))]
    table = PlanTable("partition-spec", "one value in partitions of two specs", specs=specs)
    table.manifest(entry("three", ["x"], 2), spec=3).manifest(entry("four", ["x"], 2), spec=4)
    table.deletes(equality_deletes("e", [1], ["x"], 3), position_deletes("p", ["x"], 3), spec=4).commit()
    note = "a delete applies to a partition of the same spec, not only of the same values"
    yield table, (table.case("all", "SCN009 SCN010", {"three": [], "four": ["e", "p"]}, note),)

    specs = [Spec(1, BY_DATA.fields), Spec(0)]
    table = PlanTable("partition-spec-zero", "a partitioned spec, and an unpartitioned one with the id 0", specs=specs)
    table.manifest(entry("x", ["x"], 2), spec=1).deletes(equality_deletes("e", [1], (), 3), spec=0)
    table.deletes(equality_deletes("f", [1], ["y"], 3), spec=1).commit()
    note = "a spec is unpartitioned by its fields"
    yield table, (table.case("all", "SCN010 SCN011", {"x": ["e"]}, note),)

    was, now = ({**ID, "type": type_} for type_ in ("int", "long"))
    by_int, by_long = (Spec(0, ((1, 1000, "id", "identity", type_),)) for type_ in ("int", "long"))
    about = "partitions by an int, and by the long that it became"
    table = PlanTable("partition-promoted", about, columns=[was], specs=[by_int])
    table.manifest(entry("one", [1], 2), entry("two", [2], 2))
    table.schemas.append({"type": "struct", "schema-id": 1, "fields": [now]})
    table.specs = [by_long]
    table.manifest(entry("three", [1], 2)).deletes(
        equality_deletes("e", [1], [1], 3), position_deletes("p", [1], 3)
    ).commit()
    planned = {"one": ["e", "p"], "two": [], "three": ["e", "p"]}
    note = "a partition value of a promoted column is the same value"
    yield (
        table,
        (
            table.case("all", "EVO003 SCN009 SCN010", planned, note),
            table.case(
                "filter",
                "EVO003 SCN003",
                planned,
                note,
                filter=leaf("eq", 1, term="id"),
                optional=["two"],
                contradiction="E20",
            ),
        ),
    )

    floats = {"id": 3, "name": "f", "required": False, "type": "float"}
    by_float = Spec(0, ((3, 1000, "f", "identity", "float"),))
    nan, other = (struct.unpack("<f", bytes.fromhex(bits))[0] for bits in ("0000C07F", "0000C0FF"))
    table = PlanTable("partition-nan", "deletes in the partition of NaN", columns=[ID, floats], specs=[by_float])
    table.manifest(entry("nan", [nan], 2), entry("one", [1.0], 2))
    table.deletes(equality_deletes("e", [1], [other], 3), position_deletes("p", [other], 3)).commit()
    planned = {"nan": ["e", "p"], "one": []}
    note = "NaN is one partition value, whatever its bits"
    yield table, (table.case("all", "SCN013", planned, note, contradiction="B8"),)

    table = PlanTable("partition-zeros", "0.0 and -0.0 as partitions", columns=[ID, floats], specs=[by_float])
    table.manifest(entry("minus", [-0.0], 2), entry("plus", [0.0], 2))
    table.deletes(equality_deletes("e", [1], [-0.0], 3), position_deletes("p", [0.0], 3)).commit()
    note = "partition values are equal when their bits are: -0.0 and 0.0 are two"
    yield table, (table.case("all", "SCN013", {"minus": ["e"], "plus": ["p"]}, note, contradiction="B8"),)

    unknown = Spec(0, ((2, 1000, "data_z", "zorder[4]", "string"),))
    table = PlanTable("partition-unknown", "partitions of an unknown transform", specs=[unknown], version=3)
    table.manifest(entry("x", ["x"], 2), entry("y", ["y"], 2))
    table.deletes(equality_deletes("e", [1], ["x"], 3)).commit()
    note = "the values of an unknown transform count when partitions are compared"
    filtered = "nothing is left out by partitions of an unknown transform"
    everything = {"x": ["e"], "y": []}
    yield (
        table,
        (
            table.case("all", "SCN014", everything, note),
            table.case("filter", "SCN004 SCN014", everything, filtered, filter=leaf("eq", "y", term="data")),
        ),
    )


def _files() -> Iterator[Case]:
    one, two = entry("one", number=2), entry("two", number=2)
    table = PlanTable("file-referenced", "position deletes of one data file").manifest(one, two)
    table.deletes(position_deletes("p", number=3, of="two"), position_deletes("q", number=3)).commit()
    note = "position deletes with a referenced data file apply to that file alone"
    case = table.case(
        "all", "SCN009", {"one": ["q"], "two": ["p", "q"]}, note, optional_deletes={"one": ["p"]}, contradiction="E32"
    )
    yield table, (case,)

    table = PlanTable("file-bounds", "position deletes whose bounds show that they are of one data file").manifest(
        one, two
    )
    path = table.path("two")
    table.deletes(position_deletes("p", number=3, stats={PATH: ("string", path, path, 1, 0)})).commit()
    note = "a planner may leave out a delete file if its bounds of paths show that it has no delete for a file"
    case = table.case(
        "all", "SCN009 SCN005", {"one": [], "two": ["p"]}, note, optional_deletes={"one": ["p"]}, contradiction="C12"
    )
    yield table, (case,)

    table = PlanTable("file-bounds-cut", "position deletes whose bounds of paths are truncated").manifest(one, two)
    lower, upper = path.replace(table.name, "x")[:16].encode(), b"/tmp/iceberg-coo"
    table.deletes(position_deletes("p", number=3, stats={PATH: ("string", lower, upper, 2, 0)})).commit()
    note = "truncated bounds of paths do not name a single file"
    yield table, (table.case("all", "SCN009", {"one": ["p"], "two": ["p"]}, note, contradiction="C12"),)

    table = PlanTable("vector-over-positions", "a file with a deletion vector and older position deletes", 3)
    table.manifest(one, two)
    table.deletes(
        position_deletes("p", number=3),
        position_deletes("q", number=3, of="one"),
        deletion_vector("v", "one", number=4),
    ).commit()
    note = "a deletion vector has all deletes of the position delete files, which are ignored for its file"
    case = table.case(
        "all",
        "SCN009 DEL011",
        {"one": ["v@4"], "two": ["p"]},
        note,
        optional_deletes={"one": ["p", "q"], "two": ["q", "v@4"]},
        contradiction="E32",
    )
    yield table, (case,)

    table = PlanTable("vector-and-equality", "a file with a deletion vector and equality deletes", 3).manifest(one, two)
    table.deletes(deletion_vector("v", "one", number=3), equality_deletes("e", [1], number=4)).commit()
    note = "a deletion vector has no equality deletes"
    yield table, (table.case("all", "SCN008 SCN010", {"one": ["v@4", "e"], "two": ["e"]}, note),)

    table = PlanTable("vectors-in-one-file", "two deletion vectors in one Puffin file", 3).manifest(one, two)
    table.deletes(
        deletion_vector("v", "two", number=3, content_offset=4),
        deletion_vector("v", "one", number=3, content_offset=44),
    ).commit()
    note = "a vector is recognised by the offset in its file, and its data file by the reference"
    case = table.case(
        "all",
        "SCN008 DEL010",
        {"one": ["v@44"], "two": ["v@4"]},
        note,
        optional_deletes={"one": ["v@4"], "two": ["v@44"]},
        contradiction="E32",
    )
    yield table, (case,)

    table = PlanTable("vector-unknown-file", "a deletion vector of a file that the snapshot does not have", 3)
    table.manifest(one).deletes(deletion_vector("v", "gone", number=3)).commit()
    note = "a vector applies to the file that it refers to and to no other"
    case = table.case("all", "SCN008", ["one"], note, optional_deletes={"one": ["v@4"]}, contradiction="E32")
    yield table, (case,)

    table = PlanTable("vector-older", "a deletion vector that is older than its data file", 3)
    table.manifest(entry("one", number=4)).deletes(deletion_vector("v", "one", number=3)).commit()
    note = "a vector of a lower sequence number does not apply; a reader may take it for corruption"
    case = either(table.case("all", "SCN008", ["one"], note, contradiction="C11"), INVALID)
    yield table, (case,)

    table = PlanTable(
        "vector-partition", "a deletion vector in another partition than its data file", 3, specs=[BY_DATA]
    )
    table.manifest(entry("one", ["x"], 2)).deletes(deletion_vector("v", "one", ["y"], 3)).commit()
    note = "a vector of another partition does not apply; a reader may take it for corruption"
    yield table, (either(table.case("all", "SCN008", ["one"], note, contradiction="C11"), INVALID),)

    table = PlanTable("vectors-twice", "two deletion vectors of one data file", 3).manifest(one)
    table.deletes(deletion_vector("v", "one", number=3), deletion_vector("w", "one", number=4)).commit()
    note = "only one vector may be there; a reader may refuse, or take one of them or both"
    first = table.case(
        "all", "DEL003 SCN008", {"one": ["w@4"]}, note, optional_deletes={"one": ["v@4"]}, contradiction="C22 E32"
    )
    second = table.case("all", "DEL003 SCN008", {"one": ["v@4"]}, note)
    yield table, (either(first, second, INVALID),)

    deleted = position_deletes("p", number=3, status=2)
    table = PlanTable("delete-removed", "a delete file that was removed").manifest(one)
    table.deletes(deleted, position_deletes("q", number=3)).commit()
    yield table, (table.case("all", "SCN001", {"one": ["q"]}, "deleted entries of delete manifests are not used"),)


def _skipping() -> Iterator[Case]:
    low = entry("low", number=2, stats={1: ("long", 1, 10, 10, 0)})
    high = entry("high", number=2, stats={1: ("long", 100, 110, 10, 0)})
    unknown = entry("unknown", number=2)
    table = PlanTable("equality-bounds", "equality deletes with bounds").manifest(low, high, unknown)
    table.deletes(equality_deletes("e", [1], number=3, stats={1: ("long", 1, 4, 4, 0)})).commit()
    nine, three = leaf("eq", 9, term="id"), leaf("eq", 3, term="id")
    yield (
        table,
        (
            table.case(
                "data",
                "SCN005 SCN010",
                {"low": ["e"], "high": [], "unknown": ["e"]},
                "deletes whose bounds show that they delete no row of a file may be left out; unknown bounds may match",
                optional_deletes={"high": ["e"]},
                contradiction="E20",
            ),
            table.case(
                "filter-outside",
                "SCN005",
                {"low": [], "unknown": [], "high": []},
                "deletes of rows that do not match the filter may be left out",
                filter=nine,
                optional=["high"],
                optional_deletes={"low": ["e"], "unknown": ["e"], "high": ["e"]},
                contradiction="E20",
            ),
            table.case(
                "filter-inside",
                "SCN005",
                {"low": ["e"], "unknown": ["e"], "high": []},
                "deletes of rows that match the filter apply",
                filter=three,
                optional=["high"],
                optional_deletes={"high": ["e"]},
                contradiction="E20",
            ),
        ),
    )

    table = PlanTable("equality-nulls", "equality deletes of null").manifest(
        entry("nulls", number=2, stats={1: ("long", 5, 9, 10, 3)}),
        entry("full", number=2, stats={1: ("long", 5, 9, 10, 0)}),
        entry("only", number=2, stats={1: ("long", None, None, 10, 10)}),
    )
    table.deletes(equality_deletes("e", [1], number=3, stats={1: ("long", None, None, 1, 1)})).commit()
    case = table.case(
        "all",
        "DEL020 SCN010",
        {"nulls": ["e"], "full": [], "only": ["e"]},
        "null equals null, so deletes of null apply where there may be nulls",
        optional_deletes={"full": ["e"]},
        contradiction="E20",
    )
    yield table, (case,)

    table = PlanTable("equality-two-columns", "equality deletes with bounds of one of two columns").manifest(
        entry("one", number=2, stats={1: ("long", 1, 10, 10, 0), 2: ("string", "a", "c", 10, 0)})
    )
    table.deletes(
        equality_deletes("e", [1, 2], number=3, stats={1: ("long", 4, 4, 1, 0)}),
        equality_deletes("f", [1, 2], number=3, stats={1: ("long", 4, 4, 1, 0), 2: ("string", "d", "e", 1, 0)}),
    ).commit()
    case = table.case(
        "all",
        "SCN005 SCN010",
        {"one": ["e"]},
        "bounds of one column that are missing are not known",
        optional_deletes={"one": ["f"]},
        contradiction="E20",
    )
    yield table, (case,)

    table = PlanTable("equality-other-column", "equality deletes with a column that is not compared").manifest(
        entry("one", number=2, stats={1: ("long", 1, 10, 10, 0), 2: ("string", "a", "b", 10, 0)})
    )
    stats = {1: ("long", 3, 3, 1, 0), 2: ("string", "zz", "zz", 1, 0)}
    table.deletes(equality_deletes("e", [1], number=3, stats=stats)).commit()
    case = table.case(
        "filter",
        "DEL021 SCN010",
        ["one"],
        "a column that is not compared may be that of the deleted row: its metrics may be used or ignored",
        filter=leaf("eq", "a", term="data"),
        optional_deletes={"one": ["e"]},
        contradiction="E23",
    )
    yield table, (case,)


def cases() -> Iterator[Case]:
    """Yield the tables with deletes, and their expected plans."""
    yield from _numbers()
    yield from _partitions()
    yield from _files()
    yield from _skipping()
