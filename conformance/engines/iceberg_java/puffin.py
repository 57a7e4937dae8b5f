"""The operations of Iceberg-Java on Puffin files and deletion vectors: its reader and writer, its index of positions.

Files are in memory. The positions of a vector leave the virtual machine as one text, since each call into it is slow.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from conformance.adapter_sdk.jvm import JVM
from conformance.adapter_sdk.positions import MAX_POSITIONS, ranges
from conformance.adapter_sdk.serve import Invalid, Unsupported

Arguments = dict[str, Any]

PACKAGE = "org.apache.iceberg"
REFUSALS = ("java.io.IOException", "java.io.EOFException", "InvalidRoaringFormat", "MalformedInputException")
"""Ends of the names of exceptions that refuse the bytes of files, beyond those that `jvm` knows."""

OTHER_CARDINALITY = re.compile(r"Invalid cardinality: ([0-9]+), expected 0$")


class Puffin:
    """The operations, on one virtual machine."""

    def __init__(self, jvm: JVM) -> None:
        self._jvm = jvm
        self._iceberg = jvm.root.org.apache.iceberg
        index = f"{PACKAGE}.deletes.PositionDeleteIndex"
        self._for_each = jvm.method(index, "forEach", "java.util.function.LongConsumer")
        self._next = jvm.method("java.util.Iterator", "next")  # Py4J's own tells every exception as StopIteration
        self._cardinality = jvm.method(index, "cardinality")
        self._serialize = jvm.method(index, "serialize")
        self._new_index = jvm.class_(f"{PACKAGE}.deletes.BitmapPositionDeleteIndex").getDeclaredConstructor(
            jvm.array("java.lang.Class")
        )
        self._new_index.setAccessible(True)

    @contextlib.contextmanager
    def _judged(self) -> Iterator[None]:
        try:
            with self._jvm.judged():
                yield
        except RuntimeError as error:
            if str(error).partition(":")[0].endswith(REFUSALS):
                raise Invalid(str(error)) from None
            raise

    def _list(self, items: Iterable[Any]) -> Any:
        made = self._jvm.root.java.util.ArrayList()
        for item in items:
            made.add(item)
        return made

    def _map(self, items: dict[str, str]) -> Any:
        made = self._jvm.root.java.util.LinkedHashMap()
        for name, value in items.items():
            made.put(name, value)
        return made

    def read(self, args: Arguments) -> object:
        """``PuffinReader``, blob for blob."""
        file = self._iceberg.inmemory.InMemoryInputFile(bytes.fromhex(args["bytes"]))
        with self._judged():
            reader = self._iceberg.puffin.Puffin.read(file).build()
            metadata = reader.fileMetadata()
            blobs = [self._blob_form(reader, blob) for blob in metadata.blobs()]
            return {"blobs": blobs, "properties": dict(metadata.properties())}

    def _blob_form(self, reader: Any, blob: Any) -> dict[str, Any]:
        payload = self._jvm.call(self._next, reader.readAll(self._list([blob])).iterator()).second()
        return {
            "type": blob.type(),
            "fields": list(blob.inputFields()),
            "snapshot-id": str(blob.snapshotId()),
            "sequence-number": str(blob.sequenceNumber()),
            "offset": str(blob.offset()),
            "length": str(blob.length()),
            "compression-codec": blob.compressionCodec(),
            "properties": dict(blob.properties()),
            "payload": self._jvm.bytes_of(payload).hex().upper(),
        }

    def write(self, args: Arguments) -> object:
        """``PuffinWriter``."""
        file = self._iceberg.inmemory.InMemoryOutputFile()
        with self._judged():
            writer = self._iceberg.puffin.Puffin.write(file).setAll(self._map(args["properties"])).build()
            for form in args["blobs"]:
                writer.write(self._blob(form))
            writer.finish()
            return bytes(file.toByteArray()).hex().upper()

    def _blob(self, form: Arguments) -> Any:
        return self._iceberg.puffin.Blob(
            form["type"],
            self._list(form["fields"]),
            int(form["snapshot-id"]),
            int(form["sequence-number"]),
            self._jvm.root.java.nio.ByteBuffer.wrap(bytes.fromhex(form["payload"])),
            self._iceberg.puffin.PuffinCompressionCodec.forName(form["compression-codec"]),
            self._map(form["properties"]),
        )

    def decode(self, args: Arguments) -> object:
        """``PositionDeleteIndex.deserialize``.

        It compares the cardinality with the one in a manifest. No manifest is asked about, so the file is described
        with the cardinality that Iceberg-Java itself finds, which the first refusal tells.
        """
        data = bytes.fromhex(args["bytes"])
        try:
            index = self._deserialized(data, 0)
        except Invalid as refusal:
            told = OTHER_CARDINALITY.search(str(refusal))
            if told is None:
                raise
            index = self._deserialized(data, int(told[1]))
        cardinality = self._jvm.call(self._cardinality, index)
        if cardinality > MAX_POSITIONS:
            raise Unsupported(f"{cardinality} positions are too many to list")
        positions = self._jvm.root.java.util.stream.LongStream.builder()
        self._jvm.call(self._for_each, index, positions)
        text = self._jvm.root.java.util.Arrays.toString(positions.build().toArray())
        return {"cardinality": str(cardinality), "ranges": ranges(json.loads(text))}

    def _deserialized(self, data: bytes, cardinality: int) -> Any:
        file = (
            self._iceberg.FileMetadata.deleteFileBuilder(self._iceberg.PartitionSpec.unpartitioned())
            .ofPositionDeletes()
            .withFormat("puffin")
            .withPath("s3://b/wh/data.db/table/data/deletes.puffin")
            .withFileSizeInBytes(len(data) + 4)
            .withReferencedDataFile("s3://b/wh/data.db/table/data/a.parquet")
            .withContentOffset(4)
            .withContentSizeInBytes(len(data))
            .withRecordCount(cardinality)
            .build()
        )
        with self._judged():
            return self._iceberg.deletes.PositionDeleteIndex.deserialize(data, file)

    def encode(self, args: Arguments) -> object:
        """``BitmapPositionDeleteIndex``, to which ranges are added."""
        index = self._new_index.newInstance(self._jvm.array("java.lang.Object"))
        with self._judged():
            for first, last in ((int(low), int(high)) for low, high in args["ranges"]):
                index.delete(first, last)  # without the last, whose successor need not be a long
                index.delete(last)
        return self._jvm.bytes_of(self._jvm.call(self._serialize, index)).hex().upper()

    def operations(self) -> dict[str, Callable[[Arguments], object]]:
        """What can be asked of Iceberg-Java about Puffin files and deletion vectors, by name."""
        return {
            "puffin.read": self.read,
            "puffin.write": self.write,
            "dv.decode": self.decode,
            "dv.encode": self.encode,
        }
