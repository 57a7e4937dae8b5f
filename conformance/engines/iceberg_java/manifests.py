"""The operations of Iceberg-Java on manifests and manifest lists: ``ManifestFiles`` and ``ManifestLists``.

Files are in memory. What is not public is called by reflection, as are the methods of classes that are not.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

from conformance.adapter_sdk import lenient_values as native
from conformance.adapter_sdk.jvm import JVM, Boxed
from conformance.adapter_sdk.serve import Invalid, Unsupported
from conformance.core.json_types import JsonObject

Arguments = dict[str, Any]

PACKAGE = "org.apache.iceberg"
REFUSALS = (
    "java.io.IOException", "java.io.EOFException", "InvalidAvroMagicException", "AvroRuntimeException",
    "AvroTypeException", "SchemaParseException", "InvalidNumberEncodingException", "java.util.zip.DataFormatException",
    "ZipException", "MalformedInputException", "UnresolvedUnionException", "SystemLimitException",
)  # fmt: skip
"""Ends of the names of exceptions that refuse the bytes of files, beyond those that `jvm` knows."""

UNASSIGNED = -1
"""The sequence number of manifests that are not committed yet."""

LONGS = ("recordCount", "fileSizeInBytes", "firstRowId", "contentOffset", "contentSizeInBytes")
FILE = {
    "file_path": "location", "record_count": "recordCount", "file_size_in_bytes": "fileSizeInBytes",
    "sort_order_id": "sortOrderId", "first_row_id": "firstRowId",
}  # fmt: skip
COUNTS = {
    "column_sizes": "columnSizes", "value_counts": "valueCounts", "null_value_counts": "nullValueCounts",
    "nan_value_counts": "nanValueCounts",
}  # fmt: skip
DELETES = {
    "referenced_data_file": "referencedDataFile", "content_offset": "contentOffset",
    "content_size_in_bytes": "contentSizeInBytes",
}  # fmt: skip
ENTRY = {
    "snapshot_id": "snapshotId", "sequence_number": "dataSequenceNumber", "file_sequence_number": "fileSequenceNumber",
}  # fmt: skip
LISTED = {
    "manifest_path": "path", "manifest_length": "length", "partition_spec_id": "partitionSpecId",
    "sequence_number": "sequenceNumber", "min_sequence_number": "minSequenceNumber", "added_snapshot_id": "snapshotId",
    "added_files_count": "addedFilesCount", "existing_files_count": "existingFilesCount",
    "deleted_files_count": "deletedFilesCount", "added_rows_count": "addedRowsCount",
    "existing_rows_count": "existingRowsCount", "deleted_rows_count": "deletedRowsCount", "first_row_id": "firstRowId",
}  # fmt: skip
TEXT_LONGS = frozenset(
    {
        "record_count", "file_size_in_bytes", "first_row_id", "content_offset", "content_size_in_bytes", "snapshot_id",
        "sequence_number", "file_sequence_number", "manifest_length", "min_sequence_number", "added_snapshot_id",
        "added_rows_count", "existing_rows_count", "deleted_rows_count",
    }
)  # fmt: skip


class Manifests:
    """The operations, on one virtual machine."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        self._iceberg = jvm.root.org.apache.iceberg
        self._entries = jvm.method(f"{PACKAGE}.ManifestReader", "entries")
        self._next = jvm.method("java.util.Iterator", "next")
        self._has_next = jvm.method("java.util.Iterator", "hasNext")
        self._iterator = jvm.method("java.lang.Iterable", "iterator")
        self._close = jvm.method("java.io.Closeable", "close")
        self._put = jvm.method("java.util.Map", "put", "java.lang.Object", "java.lang.Object")
        self._get_value = jvm.method(f"{PACKAGE}.StructLike", "get", "int", "java.lang.Class")
        self._set_value = jvm.method(f"{PACKAGE}.StructLike", "set", "int", "java.lang.Object")
        self._read_list = jvm.method(f"{PACKAGE}.ManifestLists", "read", f"{PACKAGE}.io.InputFile")
        self._object = jvm.class_("java.lang.Object")
        self._getters: dict[tuple[str, str], Any] = {}
        self._names = (f"memory:/m{number}.avro" for number in count())

    @contextlib.contextmanager
    def _judged(self) -> Iterator[None]:
        try:
            with self._jvm.judged():
                yield
        except RuntimeError as error:
            if str(error).partition(":")[0].endswith(REFUSALS):
                raise Invalid(str(error)) from None
            raise

    def _call(self, method: Any, target: Any, *arguments: Any) -> Any:
        try:
            return self._jvm.call(method, target, *arguments)
        except RuntimeError as error:
            if str(error).partition(":")[0].endswith(REFUSALS):
                raise Invalid(str(error)) from None
            raise

    def _get(self, owner: str, name: str, target: Any) -> Any:
        key = (owner, name)
        if key not in self._getters:
            self._getters[key] = self._jvm.method(f"{PACKAGE}.{owner}", name)
        return self._call(self._getters[key], target)

    def _table(self, args: Arguments, specs: Iterable[JsonObject]) -> tuple[Any, dict[int, Any]]:
        """The schema and the specs by id."""
        text = json.dumps({"type": "struct", "schema-id": 0, **args["schema"]})
        with self._judged():
            schema = self._iceberg.SchemaParser.fromJson(text)
            parser = self._iceberg.PartitionSpecParser
            return schema, {spec["spec-id"]: parser.fromJson(schema, json.dumps(spec)) for spec in specs}

    def _map(self, items: Iterable[tuple[Any, Any]]) -> Any:
        made = self._jvm.root.java.util.LinkedHashMap()
        for key, value in items:
            self._jvm.call(self._put, made, key, value)
        return made

    # Reading

    def read(self, args: Arguments) -> object:
        """``ManifestFiles.read`` and ``readDeleteManifest``, every entry."""
        if "header" in args.get("select", ()):
            raise Unsupported("the header of a manifest is not told")
        data = bytes.fromhex(args["bytes"])
        _, specs = self._table(args, args["specs"])
        by_id = self._map((self._jvm.box("int", spec_id), spec) for spec_id, spec in specs.items())
        path = next(self._names)
        io = self._iceberg.inmemory.InMemoryFileIO()
        io.addFile(path, data)
        try:
            listed = self._listed({**args["manifest_file"], "manifest_path": path, "manifest_length": str(len(data))})
            files = self._iceberg.ManifestFiles
            open_ = files.readDeleteManifest if args["manifest_file"]["content"] else files.read
            spec = specs.get(args["manifest_file"]["partition_spec_id"])
            with self._judged():
                reader = open_(listed, io, by_id)
            entries = self._call(self._entries, reader)
            try:
                return {"entries": list(self._forms(entries, spec, deletes=bool(args["manifest_file"]["content"])))}
            finally:
                self._call(self._close, entries)
        finally:
            io.deleteFile(path)

    def _items(self, iterable: Any) -> Iterator[Any]:
        iterator = self._call(self._iterator, iterable)
        while self._call(self._has_next, iterator):
            yield self._call(self._next, iterator)

    def _forms(self, entries: Any, spec: Any, *, deletes: bool) -> Iterator[JsonObject]:
        for entry in self._items(entries):  # one object for all: it has to be told before the next is read
            form = {name: self._long(self._get("ManifestEntry", method, entry)) for name, method in ENTRY.items()}
            status = self._get("ManifestEntry", "status", entry)
            form["status"] = status.id() if status is not None else None
            yield {**form, "data_file": self._file_form(self._get("ManifestEntry", "file", entry), spec, deletes)}

    @staticmethod
    def _long(value: Any) -> str | None:
        return None if value is None else str(value)

    def _file_form(self, file: Any, spec: Any, deletes: bool) -> JsonObject:
        form: JsonObject = {}
        for name, method in FILE.items():
            value = self._get("ContentFile", method, file)
            form[name] = self._long(value) if name in TEXT_LONGS else value
        form["content"] = self._get("ContentFile", "content", file).id()
        form["file_format"] = str(self._get("ContentFile", "format", file).toString()).lower()
        for name, method in COUNTS.items():
            counts = self._get("ContentFile", method, file)
            form[name] = None if counts is None else {str(key): str(counts[key]) for key in counts}
        for name, method in (("lower_bounds", "lowerBounds"), ("upper_bounds", "upperBounds")):
            bounds = self._get("ContentFile", method, file)
            form[name] = None if bounds is None else {str(key): self._hexadecimal(bounds[key]) for key in bounds}
        form["key_metadata"] = self._hexadecimal(self._get("ContentFile", "keyMetadata", file))
        offsets = self._get("ContentFile", "splitOffsets", file)
        form["split_offsets"] = None if offsets is None else [str(offset) for offset in offsets]
        ids = self._get("ContentFile", "equalityFieldIds", file)
        form["equality_ids"] = None if ids is None else list(ids)
        if deletes:
            for name, method in DELETES.items():
                value = self._get("DeleteFile", method, file)
                form[name] = self._long(value) if name in TEXT_LONGS else value
        form["partition"] = self._partition_form(self._get("ContentFile", "partition", file), spec)
        return form

    def _hexadecimal(self, buffer: Any) -> str | None:
        return None if buffer is None else self._jvm.bytes_of(buffer).hex().upper()

    def _partition_form(self, partition: Any, spec: Any) -> JsonObject:
        form = {}
        for place, field in enumerate(spec.partitionType().fields()):
            value = self._call(self._get_value, partition, place, self._object)
            if value is not None:
                form[str(field.fieldId())] = native.write(str(field.type().toString()), self._jvm.plain(value))
        return form

    def list_read(self, args: Arguments) -> object:
        """``ManifestLists.read``."""
        file = self._iceberg.inmemory.InMemoryInputFile("memory:/l.avro", bytes.fromhex(args["bytes"]))
        return {"manifests": [self._listed_form(one) for one in self._call(self._read_list, None, file)]}

    def _listed_form(self, manifest: Any) -> JsonObject:
        form = {}
        for name, method in LISTED.items():
            value = self._get("ManifestFile", method, manifest)
            form[name] = self._long(value) if name in TEXT_LONGS else value
        form["content"] = self._get("ManifestFile", "content", manifest).id()
        form["key_metadata"] = self._hexadecimal(self._get("ManifestFile", "keyMetadata", manifest))
        summaries = self._get("ManifestFile", "partitions", manifest)
        form["partitions"] = None if summaries is None else [self._summary_form(one) for one in self._items(summaries)]
        return form

    def _summary_form(self, summary: Any) -> JsonObject:
        owner = "ManifestFile$PartitionFieldSummary"
        return {
            "contains_null": self._get(owner, "containsNull", summary),
            "contains_nan": self._get(owner, "containsNaN", summary),
            "lower_bound": self._hexadecimal(self._get(owner, "lowerBound", summary)),
            "upper_bound": self._hexadecimal(self._get(owner, "upperBound", summary)),
        }

    # Writing

    def _buffer(self, text: str | None) -> Any:
        return None if text is None else self._jvm.root.java.nio.ByteBuffer.wrap(bytes.fromhex(text))

    def _boxed(self, type_: str, text: Any) -> Any:
        return self._jvm.box(type_, None if text is None else int(text))

    def _listed(self, form: JsonObject) -> Any:
        """A ``GenericManifestFile``; its constructor with all members is not public."""
        class_ = self._jvm.class_(f"{PACKAGE}.GenericManifestFile")
        constructor = max(class_.getDeclaredConstructors(), key=lambda one: one.getParameterCount())
        constructor.setAccessible(True)
        numbers = {name: UNASSIGNED if form.get(name) is None else form[name] for name in
                   ("sequence_number", "min_sequence_number")}  # fmt: skip
        given = {**form, **numbers}
        content = self._iceberg.ManifestContent.fromId(form.get("content", 0))
        values = [
            form["manifest_path"], self._boxed("long", form["manifest_length"]),
            self._boxed("int", form["partition_spec_id"]), content, self._boxed("long", given["sequence_number"]),
            self._boxed("long", given["min_sequence_number"]), self._boxed("long", form.get("added_snapshot_id")),
            self._summaries(form.get("partitions")), self._buffer(form.get("key_metadata")),
            *(
                self._boxed(type_, form.get(f"{kind}_{what}_count"))
                for kind in ("added", "existing", "deleted")
                for what, type_ in (("files", "int"), ("rows", "long"))
            ),
            self._boxed("long", form.get("first_row_id")),
        ]  # fmt: skip
        if constructor.getParameterCount() != len(values):
            raise RuntimeError(f"GenericManifestFile has no constructor of {len(values)} members: {constructor}")
        return self._new(constructor, values)

    def _new(self, constructor: Any, values: Iterable[Any]) -> Any:
        arguments = self._jvm.root.java.util.ArrayList()
        for value in values:
            if isinstance(value, Boxed):
                arguments.addAll(value.holder)
            else:
                arguments.add(value)
        with self._judged():
            return constructor.newInstance(arguments.toArray())

    def _summaries(self, forms: list[JsonObject] | None) -> Any:
        if forms is None:
            return None
        class_ = self._jvm.class_(f"{PACKAGE}.GenericPartitionFieldSummary")
        constructor = max(class_.getDeclaredConstructors(), key=lambda one: one.getParameterCount())
        constructor.setAccessible(True)
        made = self._jvm.root.java.util.ArrayList()
        for form in forms:
            if (nan := form.get("contains_nan")) is None:
                raise Unsupported("a summary is made with contains_nan")
            bounds = [self._buffer(form.get("lower_bound")), self._buffer(form.get("upper_bound"))]
            made.add(self._new(constructor, [form["contains_null"], nan, *bounds]))
        return made

    def write(self, args: Arguments) -> object:
        """``ManifestFiles.write`` and ``writeDeleteManifest``; new entries by ``add``, the others by their methods."""
        schema, specs = self._table(args, [args["spec"]])
        (spec,) = specs.values()
        if any(bool(form["data_file"].get("content")) != bool(args["content"]) for form in args["entries"]):
            raise Unsupported("the types of the writers keep data files and delete files apart")
        output = self._iceberg.inmemory.InMemoryOutputFile("memory:/w.avro")
        files = self._iceberg.ManifestFiles
        open_ = files.writeDeleteManifest if args["content"] else files.write
        with self._judged():
            encrypted = self._iceberg.encryption.EncryptedFiles.plainAsEncryptedOutput(output)
            writer = open_(args["format_version"], spec, encrypted, int(args["snapshot_id"]))
        for form in args["entries"]:
            self._add(writer, form, self._content_file(form["data_file"], schema, spec))
        with self._judged():
            self._call(self._close, writer)
        return bytes(output.toByteArray()).hex().upper()

    def _add(self, writer: Any, form: JsonObject, file: Any) -> None:
        owner, content_file = f"{PACKAGE}.ManifestWriter", f"{PACKAGE}.ContentFile"
        numbers = [self._boxed("long", form.get(name)) for name in ("sequence_number", "file_sequence_number")]
        if form["status"] == 1:
            self._call(self._writer_method(owner, "add", content_file), writer, file)
            return
        if None in numbers:
            raise Unsupported("the writer takes no existing or deleted file without sequence numbers")
        if form["status"] == 0:
            method = self._writer_method(owner, "existing", content_file, "long", "long", "java.lang.Long")
            self._call(method, writer, file, self._boxed("long", form["snapshot_id"]), *numbers)
        else:
            method = self._writer_method(owner, "delete", content_file, "long", "java.lang.Long")
            self._call(method, writer, file, *numbers)

    def _writer_method(self, owner: str, name: str, *parameters: str) -> Any:
        key = (owner, f"{name}{parameters}")
        if key not in self._getters:
            long = self._jvm.root.java.lang.Long.TYPE
            classes = [long if one == "long" else self._jvm.class_(one) for one in parameters]
            method = self._jvm.class_(owner).getDeclaredMethod(name, self._jvm.array("java.lang.Class", *classes))
            method.setAccessible(True)
            self._getters[key] = method
        return self._getters[key]

    def _content_file(self, form: JsonObject, schema: Any, spec: Any) -> Any:
        with self._judged():
            if form.get("content", 0) == 0:
                if form.get("equality_ids") is not None:
                    raise Unsupported("the builder of data files takes no equality ids")
                builder = self._iceberg.DataFiles.builder(spec)
            else:
                builder = self._iceberg.FileMetadata.deleteFileBuilder(spec)
                if form["content"] == 1:
                    builder.ofPositionDeletes()
                else:
                    ids = form.get("equality_ids") or []
                    array = self._jvm.gateway.new_array(self._jvm.gateway.jvm.int, len(ids))
                    for place, field_id in enumerate(ids):
                        array[place] = field_id
                    builder.ofEqualityDeletes(array)
            builder.withPath(form["file_path"]).withFormat(form["file_format"])
            builder.withFileSizeInBytes(int(form["file_size_in_bytes"]))
            builder.withMetrics(self._metrics(form)).withRecordCount(int(form["record_count"]))
            if spec.isPartitioned():
                builder.withPartition(self._partition(form.get("partition", {}), spec))
            self._more(builder, form, schema)
            return builder.build()

    def _more(self, builder: Any, form: JsonObject, schema: Any) -> None:
        if form.get("key_metadata") is not None:
            builder.withEncryptionKeyMetadata(self._buffer(form["key_metadata"]))
        if form.get("split_offsets") is not None:
            offsets = self._jvm.root.java.util.ArrayList()
            for offset in form["split_offsets"]:
                offsets.addAll(self._boxed("long", offset).holder)
            builder.withSplitOffsets(offsets)
        if form.get("sort_order_id"):
            order = self._iceberg.SortOrder.builderFor(schema).withOrderId(form["sort_order_id"])
            builder.withSortOrder(order.asc(schema.columns().get(0).name()).build())
        setters = {
            "referenced_data_file": "withReferencedDataFile", "content_offset": "withContentOffset",
            "content_size_in_bytes": "withContentSizeInBytes", "first_row_id": "withFirstRowId",
        }  # fmt: skip
        for name, setter in setters.items():
            if form.get(name) is not None:
                getattr(builder, setter)(int(form[name]) if name in TEXT_LONGS else form[name])

    def _metrics(self, form: JsonObject) -> Any:
        counts = [
            None
            if form.get(name) is None
            else self._map((self._boxed("int", key), self._boxed("long", value)) for key, value in form[name].items())
            for name in COUNTS
        ]
        bounds = [
            None
            if form.get(name) is None
            else self._map((self._boxed("int", key), self._buffer(value)) for key, value in form[name].items())
            for name in ("lower_bounds", "upper_bounds")
        ]
        class_ = self._jvm.class_(f"{PACKAGE}.Metrics")
        constructor = next(one for one in class_.getDeclaredConstructors() if one.getParameterCount() == 7)
        return self._new(constructor, [self._boxed("long", form["record_count"]), *counts, *bounds])

    def _partition(self, form: JsonObject, spec: Any) -> Any:
        data = self._iceberg.PartitionData(spec.partitionType())
        for place, field in enumerate(spec.partitionType().fields()):
            type_ = str(field.type().toString())
            value = native.read(type_, form.get(str(field.fieldId())))
            self._call(self._set_value, data, place, self._jvm.box(type_, value))
        return data

    def list_write(self, args: Arguments) -> object:
        """``ManifestLists.write``; what is null in a manifest of this commit is assigned by it."""
        output = self._iceberg.inmemory.InMemoryOutputFile("memory:/l.avro")
        class_ = self._jvm.class_(f"{PACKAGE}.ManifestLists")
        method = next(one for one in class_.getDeclaredMethods() if one.getName() == "write")
        method.setAccessible(True)
        encryption = []
        if method.getParameterCount() == 7:
            encryption = [self._iceberg.encryption.PlaintextEncryptionManager.instance()]
        numbers = [
            self._boxed("long", args.get(name))
            for name in ("snapshot_id", "parent_snapshot_id", "sequence_number", "first_row_id")
        ]
        writer = self._call(method, None, args["format_version"], output, *encryption, *numbers)
        add = self._jvm.method(f"{PACKAGE}.io.FileAppender", "add", "java.lang.Object")
        for form in args["manifests"]:
            self._call(add, writer, self._listed(form))
        self._call(self._close, writer)
        return bytes(output.toByteArray()).hex().upper()

    def operations(self) -> dict[str, Callable[[Arguments], object]]:
        """What can be asked of Iceberg-Java about manifests and manifest lists, by name."""
        return {
            "manifest.read": self.read,
            "manifest.write": self.write,
            "manifest-list.read": self.list_read,
            "manifest-list.write": self.list_write,
        }
