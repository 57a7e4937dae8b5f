"""Tables that are encrypted as Iceberg-Java encrypts them, made from those of `tools.table_kit`."""

from __future__ import annotations

import base64
import io

import attrs
import fastavro
import pyarrow.parquet as pq
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from pyarrow.parquet import encryption as parquet_encryption

from conformance.table_io.encryption import KeyFile
from conformance.table_io.file_access import read_bytes, write_bytes
from conformance.table_io.tables import Table, load_table
from spec_ref.core.versions import V3
from spec_ref.encodings.aes_gcm_stream import StreamKey, write_stream
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifest_lists.writer import write_manifest_list
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.table_metadata.encryption import EncryptionKey
from spec_ref.table_metadata.writer import to_bytes
from tools.table_kit import TableKit

MASTER, KEY, PREFIX = b"0123456789012345", b"k" * 16, b"file"
STREAM = StreamKey(KEY, PREFIX)
WRAPPING, TIMESTAMP = b"w" * 16, "1700000000000"
SERVICE = KeyFile({"master": MASTER})
ROWS = [{1: number, 2: f"text {number}"} for number in range(10)]


def key_metadata(length: int | None, version: bytes = b"\x01") -> bytes:
    """Key metadata with the names that Iceberg-Java gives its fields; the schema is not in the bytes."""
    schema = {
        "type": "record",
        "name": "StandardKeyMetadata",
        "fields": [
            {"name": "encryption_key", "type": "bytes"},
            {"name": "aad_prefix", "type": ["null", "bytes"]},
            {"name": "file_length", "type": ["null", "long"]},
        ],
    }
    out = io.BytesIO()
    fastavro.schemaless_writer(out, schema, {"encryption_key": KEY, "aad_prefix": PREFIX, "file_length": length})
    return version + out.getvalue()


def sealed(key: bytes, plaintext: bytes, aad: bytes = b"") -> str:
    nonce = b"n" * 12
    return base64.b64encode(nonce + AESGCM(key).encrypt(nonce, plaintext, aad)).decode()


def encrypt_in_place(location: str) -> tuple[bytes, int]:
    """Replace a file by its stream, and return its key metadata and length."""
    stream = write_stream(read_bytes(location), STREAM, block_length=100)
    write_bytes(location, stream)
    return key_metadata(len(stream)), len(stream)


def encrypted_file(file: DataFile) -> DataFile:
    if file.file_format is not FileFormat.PARQUET:
        key, length = encrypt_in_place(file.file_path)
        return attrs.evolve(file, key_metadata=key, file_size_in_bytes=length)
    out = io.BytesIO()
    given = parquet_encryption.create_encryption_properties(KEY, aad_prefix=PREFIX, store_aad_prefix=False)
    rows = pq.read_table(io.BytesIO(read_bytes(file.file_path)))
    pq.write_table(rows, out, encryption_properties=given)
    write_bytes(file.file_path, out.getvalue())
    return attrs.evolve(file, key_metadata=key_metadata(None), file_size_in_bytes=len(out.getvalue()))


def encrypted(kit: TableKit) -> Table:
    """The table with its manifests and the manifest list of its current snapshot encrypted."""
    table = kit.table()
    snapshot = table.metadata.current_snapshot
    assert snapshot is not None
    assert snapshot.manifest_list is not None
    manifests = []
    for one in read_manifest_list(read_bytes(snapshot.manifest_list)):
        key, length = encrypt_in_place(one.manifest_path)
        manifests.append(attrs.evolve(one, key_metadata=key, manifest_length=length))
    write_bytes(snapshot.manifest_list, write_manifest_list(manifests, V3))
    plain, _ = encrypt_in_place(snapshot.manifest_list)
    keys = (
        EncryptionKey(
            key_id="wrapping",
            encrypted_key_metadata=sealed(MASTER, WRAPPING),
            encrypted_by_id="master",
            properties={"KEY_TIMESTAMP": TIMESTAMP},
        ),
        EncryptionKey(
            key_id="list",
            encrypted_key_metadata=sealed(WRAPPING, plain, TIMESTAMP.encode()),
            encrypted_by_id="wrapping",
        ),
    )
    snapshots = (*table.metadata.snapshots[:-1], attrs.evolve(snapshot, key_id="list"))
    metadata = attrs.evolve(table.metadata, snapshots=snapshots, encryption_keys=keys)
    write_bytes(table.metadata_location, to_bytes(metadata))
    return load_table(table.metadata_location, key_service=SERVICE)
