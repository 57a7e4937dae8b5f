"""TYP006: the Parquet variant encoding, version 1."""

import uuid
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spec_ref.core.errors import SpecError
from spec_ref.encodings.variant.physical_types import DECIMAL_DIGITS, MAX_DEPTH, PhysicalType, Variant, VariantPrimitive
from spec_ref.encodings.variant.value import decode_metadata, decode_variant, split_variant
from spec_ref.encodings.variant.value_writer import encode_variant

EMPTY = bytes.fromhex("010000")


def refused(function, *args):
    with pytest.raises(SpecError) as error:
        function(*args)
    assert error.value.violation.requirement == "TYP006"
    return error.value.violation


# The bytes that Iceberg-Java 1.12.0 writes (org.apache.iceberg.variants.Variants, VariantValue.writeTo). The first byte
# is the type id times 4; the rest is the table of primitive types: 17486 days = 0x444E; 1420 = 0x58C at scale 2.
JAVA_PRIMITIVES = [
    (PhysicalType.NULL, None, "00"),
    (PhysicalType.TRUE, True, "04"),
    (PhysicalType.FALSE, False, "08"),
    (PhysicalType.INT32, -34, "14DEFFFFFF"),
    (PhysicalType.DATE, 17486, "2C4E440000"),
    (PhysicalType.DOUBLE, 1.5, "1C000000000000F83F"),
    (PhysicalType.DECIMAL4, Decimal("14.20"), "20028C050000"),
    (PhysicalType.DECIMAL4, Decimal(-999999999), "2000013665C4"),
    (PhysicalType.DECIMAL8, Decimal("-1234567890.12"), "2402ECE56641E3FFFFFF"),
    (PhysicalType.DECIMAL8, Decimal("14.20"), "24028C05000000000000"),
    (PhysicalType.DECIMAL16, Decimal("-9876543210123456789.01"), "2802CBD3832BDBFB8A75CAFFFFFFFFFFFFFF"),
    (PhysicalType.STRING, "iceberg", "1D69636562657267"),
    (PhysicalType.STRING, "x" * 63, "FD" + "78" * 63),
    (PhysicalType.STRING, "é" * 32, "4040000000" + "C3A9" * 32),
    (PhysicalType.TIMESTAMP_NTZ, 1510871468000000, "3400C3262D215E0500"),
    (PhysicalType.TIMESTAMP, 1510871468000000, "3000C3262D215E0500"),
    (PhysicalType.TIMESTAMP_NTZ_NANOS, 1510871468000000001, "4C01B8695F98B1F714"),
    (PhysicalType.TIMESTAMP_NANOS, 1510871468000000001, "4801B8695F98B1F714"),
    (PhysicalType.TIME_NTZ, 81068000000, "44008307E012000000"),
    (PhysicalType.UUID, uuid.UUID("f79c3e09-677c-4bbd-a479-3f349cb785e7"), "50F79C3E09677C4BBDA4793F349CB785E7"),
    (PhysicalType.BINARY, bytes(range(4)), "3C0400000000010203"),
]

# By the table of primitive types; Iceberg-Java 1.12.0 reads these bytes as these values.
DERIVED_PRIMITIVES = [
    (PhysicalType.INT8, -1, "0CFF"),
    (PhysicalType.INT16, -300, "10D4FE"),
    (PhysicalType.INT64, -(1 << 63), "180000000000000080"),
    (PhysicalType.FLOAT, 1.5, "380000C03F"),
    (PhysicalType.DOUBLE, -0.0, "1C0000000000000080"),
    (PhysicalType.DECIMAL4, Decimal("-0.01"), "2002FFFFFFFF"),
    (PhysicalType.BINARY, b"", "3C00000000"),
    (PhysicalType.STRING, "", "01"),
]


@pytest.mark.parametrize(("physical", "value", "data"), JAVA_PRIMITIVES + DERIVED_PRIMITIVES)
def test_primitives_have_the_bytes_of_their_type(physical, value, data):
    scalar = VariantPrimitive(physical, value)
    assert encode_variant(scalar).value == bytes.fromhex(data)
    found = decode_variant(Variant(EMPTY, bytes.fromhex(data)))
    assert found == scalar
    assert str(found.value) == str(value)  # distinguishes -0.0 from 0.0 and 14.20 from 14.2


def test_every_type_id_is_tried():
    assert {physical for physical, *_ in JAVA_PRIMITIVES + DERIVED_PRIMITIVES} == set(PhysicalType)


def test_a_long_string_and_a_short_string_are_the_same():
    assert decode_variant(Variant(EMPTY, bytes.fromhex("400100000061"))) == VariantPrimitive(PhysicalType.STRING, "a")


I34 = VariantPrimitive(PhysicalType.INT32, -34)


def test_objects_arrays_and_dictionaries_are_what_iceberg_java_writes():
    bound = {"$['b']['c']": VariantPrimitive(PhysicalType.STRING, "iceberg"), "$['a']": I34}
    variant = encode_variant(bound)
    assert variant.metadata.hex() == "1102000611245b2761275d245b2762275d5b2763275d"
    assert variant.value.hex() == "0202000100050d14deffffff1d69636562657267"
    assert decode_variant(variant) == bound
    array = (I34, VariantPrimitive(PhysicalType.NULL, None), VariantPrimitive(PhysicalType.STRING, "x" * 63))
    assert encode_variant(array).value.hex() == "03030005064614deffffff00fd" + "78" * 63
    assert decode_variant(encode_variant(array)) == array


def test_sizes_grow_when_they_must():
    names = [f"k{number:03}" for number in range(300)]
    variant = encode_variant(dict.fromkeys(names, I34))
    # Derivation, and what Iceberg-Java 1.12.0 writes: 300 = 0x012C and 1200 bytes of names need 2 bytes, so the header
    # is 01 (2 bytes) 0 1 (sorted) 0001; 300 elements are large, ids and 1500 bytes of values need 2 bytes: 1 01 01 10.
    assert variant.metadata[:7].hex() == "512c0100000400"
    assert variant.value[:9].hex() == "562c01000000000100"
    assert len(variant.metadata) == 1 + 2 + 301 * 2 + 1200
    assert len(variant.value) == 1 + 4 + 300 * 2 + 301 * 2 + 1500
    assert list(decode_variant(variant)) == names


def test_names_are_in_the_order_of_their_utf_8_bytes():
    # UTF-16 would order the surrogates of U+1F600 before U+FFFD; UTF-8 and code points the other way round.
    names = ["\ufffd", "\U0001f600"]
    assert decode_metadata(encode_variant(dict.fromkeys(reversed(names), I34)).metadata) == tuple(names)


def test_an_unsorted_dictionary_may_hold_names_in_any_order_and_twice():
    metadata = bytes.fromhex("01 03 00 01 02 03 626162")  # b, a, b
    assert decode_metadata(metadata) == ("b", "a", "b")
    value = bytes.fromhex("02 02 01 00 00 01 02 04 08")  # ids 1 (a), 0 (b)
    assert decode_variant(Variant(metadata, value)) == {
        "a": VariantPrimitive(PhysicalType.TRUE, True),
        "b": VariantPrimitive(PhysicalType.FALSE, False),
    }
    twice = bytes.fromhex("02 02 00 02 00 01 02 04 08")  # ids 0 (b), 2 (b)
    assert refused(decode_variant, Variant(metadata, twice)).expected == "ids of unique names in their order"


def test_values_of_an_object_may_stand_in_any_order():
    # The example of the encoding's text: {"c": 3, "b": 2, "a": 1} with the values as they come, as int8.
    metadata = bytes.fromhex("11 03 00 01 02 03 616263")
    value = bytes.fromhex("02 03 000102 04020006 0C03 0C02 0C01")
    assert decode_variant(Variant(metadata, value)) == {
        name: VariantPrimitive(PhysicalType.INT8, number) for name, number in (("a", 1), ("b", 2), ("c", 3))
    }


def test_sizes_may_be_larger_than_they_need_to_be():
    # is_large with 4-byte ids and offsets: 1 11 11 10.
    value = bytes.fromhex("7E 01000000 00000000 00000000 01000000 04")
    assert decode_variant(Variant(bytes.fromhex("D1 01000000 00000000 01000000 61"), value)) == {
        "a": VariantPrimitive(PhysicalType.TRUE, True)
    }


@pytest.mark.parametrize(
    ("name", "metadata"),
    [
        ("nothing", ""),
        ("version 2", "020000"),
        ("a reserved bit", "210000"),
        ("no size", "01"),
        ("no offsets", "0100"),
        ("2^32 - 1 names", "C1 FFFFFFFF 00000000"),
        ("first offset not 0", "01 01 01 01 61"),
        ("offsets that descend", "01 02 00 02 01 6161"),
        ("names cut off", "01 01 00 02 61"),
        ("bytes left", "01 01 00 01 61 62"),
        ("not UTF-8", "01 01 00 01 FF"),
        ("a surrogate", "01 01 00 03 EDA080"),
        ("flagged as sorted, descending", "11 02 00 01 02 6261"),
        ("flagged as unique, twice", "11 02 00 01 02 6161"),
    ],
)
def test_damaged_metadata_is_refused(name, metadata):
    refused(decode_metadata, bytes.fromhex(metadata))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nothing", ""),
        ("type id 21", "54"),
        ("null with data", "0000"),
        ("int8 cut off", "0C"),
        ("int8 with a byte too many", "0C0101"),
        ("short string cut off", "0961"),
        ("string cut off", "40020000 0061"),
        ("string without its size", "400000"),
        ("string of 2^32 - 1 bytes", "40FFFFFFFF61"),
        ("string that is not UTF-8", "05FF"),
        ("scale 39", "202701000000"),
        ("10 digits in a decimal4", "2000FFFFFF7F"),
        ("a time of 24 hours", "44 0060D71D14000000"),
        ("an array without offsets", "0301"),
        ("an array of 2^32 - 1 elements", "13FFFFFFFF00"),
        ("a reserved bit in an array", "2300"),
        ("a reserved bit in an object", "8200"),
        ("an empty array with values", "03000100"),
        ("a first offset after a gap", "030101020404"),
        ("an end before the last byte", "03010001 0404"),
        ("an end after the last byte", "03010002 04"),
        ("elements that share a value", "0302000001 04"),
        ("an element without a value", "0302000101 04"),
        ("elements that overlap", "0302000102 0C01"),
        ("a field id outside the dictionary", "0201 05 0001 04"),
        ("ids not in the order of names", "0202 0100 000102 0408"),
        ("an id twice", "0202 0000 000102 0408"),
    ],
)
def test_damaged_values_are_refused(name, value):
    refused(decode_variant, Variant(bytes.fromhex("11020001026162"), bytes.fromhex(value)))


def test_a_small_value_does_not_unfold_into_a_huge_one():
    # 200 elements at each of 20 levels, all pointing at one child: 200^20 values in 20 * 403 bytes, if it were read.
    value = b"\x00"
    for _ in range(20):
        value = bytes([0b0111, 200]) + bytes(400) + len(value).to_bytes(2, "little") + value
    refused(decode_variant, Variant(EMPTY, value))


def test_containers_nest_to_a_limit():
    node = VariantPrimitive(PhysicalType.NULL, None)
    for _ in range(MAX_DEPTH):
        node = (node,)
    variant = encode_variant(node)
    assert decode_variant(variant) == node
    refused(encode_variant, (node,))
    refused(
        decode_variant,
        Variant(EMPTY, bytes.fromhex("0F010000") + len(variant.value).to_bytes(2, "little") + variant.value),
    )
    for _ in range(3000):
        node = (node,)
    refused(encode_variant, node)


@pytest.mark.parametrize(
    ("physical", "value"),
    [
        (PhysicalType.NULL, 0),
        (PhysicalType.TRUE, False),
        (PhysicalType.TRUE, 1),
        (PhysicalType.INT8, 128),
        (PhysicalType.INT32, 1.0),
        (PhysicalType.INT32, True),
        (PhysicalType.FLOAT, 1e39),
        (PhysicalType.DOUBLE, 1),
        (PhysicalType.TIME_NTZ, 86_400_000_000),
        (PhysicalType.STRING, b"a"),
        (PhysicalType.STRING, "\ud800"),
        (PhysicalType.BINARY, "a"),
        (PhysicalType.UUID, "f79c3e09"),
        (PhysicalType.DECIMAL4, Decimal(10**9)),
        (PhysicalType.DECIMAL4, Decimal("1E1")),
        (PhysicalType.DECIMAL4, 1),
        (PhysicalType.DECIMAL4, Decimal("1E-39")),
        (PhysicalType.DECIMAL4, Decimal("NaN")),
    ],
)
def test_a_value_that_is_not_of_its_type_is_not_written(physical, value):
    refused(encode_variant, VariantPrimitive(physical, value))


def test_a_name_with_a_lone_surrogate_is_not_written():
    refused(encode_variant, {"\ud800": I34})


def test_metadata_and_value_are_reported_apart():
    variant = encode_variant({"$": I34})
    assert split_variant(variant.metadata + variant.value) == variant


def integers(bits):
    return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)


@st.composite
def decimals(draw):
    physical, digits = draw(st.sampled_from(sorted(DECIMAL_DIGITS.items())))
    unscaled = draw(st.integers(1 - 10**digits, 10**digits - 1))
    return VariantPrimitive(physical, Decimal(f"{unscaled}E-{draw(st.integers(0, 38))}"))


scalars = st.one_of(
    st.just(VariantPrimitive(PhysicalType.NULL, None)),
    integers(8).map(lambda value: VariantPrimitive(PhysicalType.INT8, value)),
    integers(64).map(lambda value: VariantPrimitive(PhysicalType.TIMESTAMP_NANOS, value)),
    st.floats(allow_nan=False).map(lambda value: VariantPrimitive(PhysicalType.DOUBLE, value)),
    st.floats(allow_nan=False, width=32).map(lambda value: VariantPrimitive(PhysicalType.FLOAT, value)),
    decimals(),
    st.text(max_size=70).map(lambda value: VariantPrimitive(PhysicalType.STRING, value)),
    st.binary(max_size=5).map(lambda value: VariantPrimitive(PhysicalType.BINARY, value)),
    st.uuids().map(lambda value: VariantPrimitive(PhysicalType.UUID, value)),
)
nodes = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4).map(tuple) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(nodes)
def test_a_value_comes_back_from_its_encoding(node):  # TYP036
    assert decode_variant(encode_variant(node)) == node


@given(st.dictionaries(st.text(max_size=3), scalars, max_size=4), st.randoms())
def test_the_encoding_does_not_depend_on_the_order_of_fields(node, random):
    items = list(node.items())
    random.shuffle(items)
    assert encode_variant(dict(items)) == encode_variant(node)


@given(st.binary(max_size=40), st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(metadata, value):
    for variant in (Variant(metadata, value), Variant(bytes.fromhex("11020001026162"), value)):
        try:
            node = decode_variant(variant)
        except SpecError:
            continue
        assert repr(decode_variant(encode_variant(node))) == repr(node)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(nodes, st.data())
def test_damaged_bytes_are_read_or_refused(node, data):
    variant = encode_variant(node)
    damaged = bytearray(variant.metadata + variant.value)
    for _ in range(data.draw(st.integers(1, 3))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        decode_variant(split_variant(bytes(damaged)))
    except SpecError:
        return
