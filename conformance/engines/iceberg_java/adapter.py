"""The adapter of Iceberg-Java: its public API and, where the API hides what a requirement names, the code behind it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.jvm import JVM
from conformance.adapter_sdk.serve import Invalid, Unsupported, serve, take_standard_output
from conformance.engines.iceberg_java import commits, writing
from conformance.engines.iceberg_java.expressions import Expressions
from conformance.engines.iceberg_java.manifests import Manifests
from conformance.engines.iceberg_java.metadata import Tables
from conformance.engines.iceberg_java.puffin import Puffin
from conformance.engines.iceberg_java.spark import Spark
from conformance.engines.iceberg_java.tables import TableReads

Arguments = dict[str, Any]

COORDINATES = {"xy": "createXY", "xyz": "createXYZ", "xym": "createXYM", "xyzm": "createXYZM"}


class IcebergJava:
    """The operations, on one virtual machine."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        self.spark = Spark(jvm)
        self._iceberg = jvm.root.org.apache.iceberg
        self.type_of = lru_cache(maxsize=4096)(self._type_of)
        self.transform_of = lru_cache(maxsize=4096)(self._transform_of)
        type_, value = "org.apache.iceberg.types.Type", "java.lang.Object"
        conversions, parser = "org.apache.iceberg.types.Conversions", "org.apache.iceberg.SingleValueParser"
        self._to_bytes = jvm.method(conversions, "toByteBuffer", type_, value)
        self._from_bytes = jvm.method(conversions, "fromByteBuffer", type_, "java.nio.ByteBuffer")
        self._to_json = jvm.method(parser, "toJson", type_, value)
        self._from_json = jvm.method(parser, "fromJson", type_, "java.lang.String")
        self._apply = jvm.method("java.util.function.Function", "apply", value)

    @cached_property
    def version(self) -> str:
        """The version that the library tells of itself."""
        return str(self._iceberg.IcebergBuild.version())

    def _schema(self, type_: Any) -> Any:
        field = {"id": 1_000_000_000, "name": "f", "required": False, "type": type_}
        text = json.dumps({"type": "struct", "schema-id": 0, "fields": [field]})
        with self._jvm.judged():
            return self._iceberg.SchemaParser.fromJson(text)

    def _type_of(self, text: str) -> Any:
        return self._schema(json.loads(text)).columns().get(0).type()

    def _transform_of(self, text: str) -> Any:
        with self._jvm.judged():
            return self._iceberg.transforms.Transforms.fromString(text)

    def _value(self, args: Arguments) -> tuple[Any, Any]:
        type_ = self.type_of(json.dumps(args["type"]))
        if native.kind(args["type"]) in ("geometry", "geography", "variant"):
            raise Unsupported(f"values of {native.kind(args['type'])} have no exchange form that this API takes")
        return type_, self._jvm.box(args["type"], native.read(args["type"], args["value"]))

    def hash(self, args: Arguments) -> object:
        """The hash inside the bucket transform, without the modulo."""
        name = native.kind(args["type"])
        if name in ("boolean", "unknown"):
            raise Unsupported(f"there is no hash of {name}")
        if name in ("float", "double"):
            method = self._jvm.method("org.apache.iceberg.util.BucketUtil", "hash", "double")
            value = self._value(args)[1]
            if name == "float":
                raise Unsupported("the hash of a float cannot be reached with the exact class")
            return self._jvm.call(method, None, value)
        with self._jvm.judged():
            bucket = self._iceberg.transforms.Transforms.bucket(1)
            bound = bucket.bind(self.type_of(json.dumps(args["type"])))
        _, value = self._value(args)
        if value is None:
            return self._jvm.call(self._apply, bound, None)
        method = next(m for m in bound.getClass().getDeclaredMethods() if m.getName() == "hash" and not m.isBridge())
        method.setAccessible(True)
        return self._jvm.call(method, bound, value)

    def transform(self, args: Arguments) -> object:
        """``Transforms.fromString``, ``canTransform``, ``bind``, ``apply``; written in ``getResultType``."""
        transform = self.transform_of(args["transform"])
        source = self.type_of(json.dumps(args["type"]))
        if "UnknownTransform" in str(transform.getClass().getName()):
            raise Invalid(f"{args['transform']} is unknown and cannot be applied")
        with self._jvm.judged():
            if not transform.canTransform(source):
                raise Invalid(f"{args['transform']} cannot be applied to {source.toString()}")
            result_type = str(transform.getResultType(source).toString())
            bound = transform.bind(source)
        _, value = self._value(args)
        return native.write(result_type, self._jvm.plain(self._jvm.call(self._apply, bound, value)))

    def encode(self, args: Arguments) -> object:
        """``Conversions.toByteBuffer``."""
        type_, value = self._value(args)
        buffer = self._jvm.call(self._to_bytes, None, type_, value)
        return None if buffer is None else self._jvm.bytes_of(buffer).hex().upper()

    def _decoded(self, args: Arguments) -> tuple[Any, Any]:
        type_ = self.type_of(json.dumps(args["type"]))
        if native.kind(args["type"]) in ("geometry", "geography", "variant"):
            raise Unsupported(f"{native.kind(args['type'])} is not converted to a value")
        buffer = self._jvm.root.java.nio.ByteBuffer.wrap(bytes.fromhex(args["bytes"]))
        return type_, self._jvm.plain(self._jvm.call(self._from_bytes, None, type_, buffer))

    def decode(self, args: Arguments) -> object:
        """``Conversions.fromByteBuffer``."""
        return native.write(args["type"], self._decoded(args)[1])

    def json_encode(self, args: Arguments) -> object:
        """``SingleValueParser.toJson`` of what ``Conversions.fromByteBuffer`` reads."""
        type_, value = self._decoded(args)
        return json.loads(self._jvm.call(self._to_json, None, type_, self._jvm.box(args["type"], value)))

    def _parsed(self, args: Arguments) -> tuple[Any, Any]:
        type_ = self.type_of(json.dumps(args["type"]))
        value = self._jvm.call(self._from_json, None, type_, json.dumps(args["json"]))
        return type_, value if type_.isNestedType() else self._jvm.box(args["type"], self._jvm.plain(value))

    def json_decode(self, args: Arguments) -> object:
        """``Conversions.toByteBuffer`` of what ``SingleValueParser.fromJson`` reads."""
        buffer = self._jvm.call(self._to_bytes, None, *self._parsed(args))
        return None if buffer is None else self._jvm.bytes_of(buffer).hex().upper()

    def json_round_trip(self, args: Arguments) -> object:
        """``SingleValueParser.toJson`` of what its ``fromJson`` reads."""
        return json.loads(self._jvm.call(self._to_json, None, *self._parsed(args)))

    def bound_encode(self, args: Arguments) -> object:
        """As `encode`; points through ``GeospatialBound``."""
        point = args["value"]
        if native.is_nan(args["type"], point):
            raise Unsupported("metrics leave NaN out before a bound is converted")
        if native.kind(args["type"]) not in ("geometry", "geography") or point is None:
            return self.encode(args)
        create = COORDINATES.get("".join(name for name in "xyzm" if name in point))
        if create is None:
            raise Unsupported("a GeospatialBound always has x and y")
        class_ = self._geospatial_bound()
        self.type_of(json.dumps(args["type"]))
        numbers = [self._jvm.box("double", native.read("double", point[name])) for name in "xyzm" if name in point]
        bound = self._jvm.call(self._jvm.method(class_, create, *["double"] * len(numbers)), None, *numbers)
        with self._jvm.judged():
            return self._jvm.bytes_of(bound.toByteBuffer()).hex().upper()

    def _geospatial_bound(self) -> str:
        name = "org.apache.iceberg.geospatial.GeospatialBound"
        if not self._jvm.has_class(name):
            raise Unsupported("this version has no bounds of geometries")
        return name

    def bound_decode(self, args: Arguments) -> object:
        """As `decode`; points through ``GeospatialBound``."""
        if native.kind(args["type"]) not in ("geometry", "geography"):
            return self.decode(args)
        self._geospatial_bound()
        self.type_of(json.dumps(args["type"]))
        nio = self._jvm.root.java.nio
        buffer = nio.ByteBuffer.wrap(bytes.fromhex(args["bytes"])).order(nio.ByteOrder.LITTLE_ENDIAN)
        with self._jvm.judged():
            bound = self._iceberg.geospatial.GeospatialBound.fromByteBuffer(buffer)
        has = {"x": True, "y": True, "z": bound.hasZ(), "m": bound.hasM()}
        return {name: native.write("double", getattr(bound, name)()) for name in "xyzm" if has[name]}

    def bound_truncate(self, args: Arguments) -> object:
        """``UnicodeUtil`` and ``BinaryUtil``, as the metrics of files use them."""
        name, side = native.kind(args["type"]), {"lower": "Min", "upper": "Max"}[args["side"]]
        if name not in ("string", "binary"):
            raise Unsupported(f"bounds of {name} are not shortened")
        value = native.read(args["type"], args["value"])
        util = self._iceberg.util.UnicodeUtil if name == "string" else self._iceberg.util.BinaryUtil
        given = value if name == "string" else self._jvm.root.java.nio.ByteBuffer.wrap(value)
        shorten = getattr(util, f"truncate{name.title()}{side}")
        with self._jvm.judged():
            literal = shorten(self._iceberg.expressions.Literal.of(given), args["width"])
            shortened = None if literal is None else literal.value()
        return native.write(args["type"], self._jvm.plain(shortened))

    def type_parse(self, args: Arguments) -> object:
        """``SchemaParser``, of a field with the type."""
        schema = self._schema(args["type"])
        with self._jvm.judged():
            return json.loads(self._iceberg.SchemaParser.toJson(schema))["fields"][0]["type"]

    def operations(self) -> dict[str, Callable[[Arguments], object]]:
        """What can be asked of Iceberg-Java, by name."""
        tables = Tables(self._jvm, self.type_of)
        return {
            "hash": self.hash,
            "transform": self.transform,
            "single-value.encode": self.encode,
            "single-value.decode": self.decode,
            "json-value.encode": self.json_encode,
            "json-value.decode": self.json_decode,
            "json-value.round-trip": self.json_round_trip,
            "bound.encode": self.bound_encode,
            "bound.decode": self.bound_decode,
            "bound.truncate": self.bound_truncate,
            "type.parse": self.type_parse,
            **tables.operations(),
            **Expressions(self._jvm).operations(),
            **Manifests(self._jvm).operations(),
            **Puffin(self._jvm).operations(),
            **TableReads(self._jvm).operations(),
            **commits.operations(self._jvm),
            **writing.operations(self._jvm, self.spark, tables),
        }


def main() -> None:
    """Serve Iceberg-Java on standard input and output."""
    answers = take_standard_output()
    jvm = JVM(os.environ["ICEBERG_CONFORMANCE_JARS"])
    try:
        java = IcebergJava(jvm)
        serve(
            {
                "implementation": "iceberg-java",
                "version": java.version,
                "language": "java",
                "format_versions": [1, 2, 3],
            },
            java.operations(),
            answers=answers,
        )
        java.spark.stop()
    finally:
        jvm.shutdown()


if __name__ == "__main__":
    main()
