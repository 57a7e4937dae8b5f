"""Tables that are encrypted as Iceberg-Java encrypts them: keys, manifest lists, manifests and data files.

The spec has fields for keys (Encryption Keys; ``key_metadata`` of manifests and files) and leaves their format to
implementations. This module uses the format of Iceberg-Java, the only one that is known to be written:

- The key metadata of a file is the version byte 1, and an Avro record with an AES key, an AAD prefix and the length of
  the file.
- The key metadata of a manifest list is in the table's ``encryption-keys``, encrypted with another of these keys. The
  time when that key was created is the additional authenticated data, and a key service unwraps it.
- The key metadata of a manifest is in the manifest list, and that of a file in its manifest, both not encrypted again.
- Parquet files use Parquet's modular encryption with this key and prefix; all other files are AES GCM streams.
"""

from __future__ import annotations

import base64
import functools
import io
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import attrs

from conformance.core.failures import UsageError
from conformance.core.json_text import parse_json, pointer
from conformance.core.lazy_imports import lazy_imports
from conformance.table_io.file_access import FileAccessError
from conformance.table_io.store_file import open_rows_file
from spec_ref.core.errors import SpecError, spec_error
from spec_ref.core.numbers import parse_whole_number
from spec_ref.data_types.types import StructType
from spec_ref.manifest_lists.reader import read_manifest_list
from spec_ref.manifests.data_file import DataFile, FileFormat
from spec_ref.table_metadata import TableMetadata
from spec_ref.table_metadata.encryption import EncryptionKey

with lazy_imports():
    import fastavro
    from pyarrow.parquet import encryption as parquet_encryption

    from spec_ref.data_files import parquet_footer
    from spec_ref.encodings import aes_gcm_stream

KeyService: TypeAlias = Callable[[bytes, str], bytes]
"""Unwraps a key: takes the wrapped key and the id of the key that wraps it, and returns the key."""


class WritingKeyService(Protocol):
    """A key service that also wraps keys, as writing an encrypted table needs."""

    def __call__(self, wrapped: bytes, wrapping_id: str) -> bytes:
        """Unwrap a key, like `KeyService`."""

    def wrap(self, key: bytes, wrapping_id: str) -> bytes:
        """Wrap a key with the master key that has an id."""


KEY_ID = "encryption.key-id"
"""The table property that has the id of the key that wraps the table's keys; if it is set, new files are encrypted."""

KEY_LENGTH = "encryption.data-key-length"
"""The table property that has the length in bytes of the keys of new files."""

WRAPPING_KEY_MS = 730 * 86_400_000
"""How long Iceberg-Java, and so this module, uses a key that encrypts the keys of manifest lists for new lists."""

DEFAULT_KEY_LENGTH = 16
AAD_PREFIX_LENGTH = 16

VERSION = b"\x01"
KEY_TIMESTAMP = "KEY_TIMESTAMP"
"""The property with the time when a key was created, which is additional authenticated data of what it encrypts."""


@functools.cache
def _schema() -> Any:
    return fastavro.parse_schema(
        {
            "type": "record",
            "name": "key_metadata",
            "fields": [
                {"name": "encryption_key", "type": "bytes"},
                {"name": "aad_prefix", "type": ["null", "bytes"], "default": None},
                {"name": "file_length", "type": ["null", "long"], "default": None},
            ],
        }
    )


class UnsupportedEncryption(FileAccessError):
    """A file is encrypted in a form that is not supported here, which is not a violation of the spec."""


@attrs.frozen
class KeyMetadata:
    """What the decryption of a file needs: its key, the prefix of its authenticated data, and its length."""

    key: bytes = attrs.field(repr=False)
    aad_prefix: bytes = b""
    file_length: int | None = None
    """The trusted length of the encrypted file."""


def read_key_metadata(data: bytes, location: str) -> KeyMetadata:
    """Read the key metadata of a file.

    Args:
        data: the metadata.
        location: the file, for errors.

    Raises:
        UnsupportedEncryption: it does not have the form of Iceberg-Java.
    """
    if data[:1] != VERSION:
        raise UnsupportedEncryption(
            location, "the file is encrypted, and the form of its key metadata is not supported"
        )
    stream = io.BytesIO(data[1:])
    try:
        record: Any = fastavro.schemaless_reader(stream, _schema(), None)
    except (EOFError, IndexError, ValueError, OverflowError) as error:
        raise UnsupportedEncryption(location, "the file is encrypted, and its key metadata is truncated") from error
    if stream.read(1):
        raise UnsupportedEncryption(location, "the file is encrypted, and bytes follow its key metadata")
    return KeyMetadata(record["encryption_key"], record["aad_prefix"] or b"", record["file_length"])


def write_key_metadata(metadata: KeyMetadata) -> bytes:
    """Write the key metadata of a file.

    Args:
        metadata: the key of the file.
    """
    out = io.BytesIO(VERSION)
    out.seek(len(VERSION))
    record = {
        "encryption_key": metadata.key,
        "aad_prefix": metadata.aad_prefix,
        "file_length": metadata.file_length,
    }
    fastavro.schemaless_writer(out, _schema(), record)
    return out.getvalue()


def key_length(properties: Mapping[str, str]) -> int | None:
    """Return the length in bytes of the keys of new files; None if the table is not encrypted.

    Args:
        properties: the properties of the table.

    Raises:
        UsageError: the length is not one of AES.
    """
    if KEY_ID not in properties:
        return None
    text = properties.get(KEY_LENGTH, str(DEFAULT_KEY_LENGTH))
    if text not in ("16", "24", "32"):
        raise UsageError(f"{KEY_LENGTH}: expected 16, 24 or 32, found {text!r}")
    return int(text)


def new_file_key(length: int) -> KeyMetadata:
    """Generate the key of a new file, and the prefix of its authenticated data, at random.

    Args:
        length: the length of the key in bytes.
    """
    return KeyMetadata(os.urandom(length), os.urandom(AAD_PREFIX_LENGTH))


def encrypt_stream(data: bytes, key: KeyMetadata) -> tuple[bytes, KeyMetadata]:
    """Encrypt a file as an AES GCM stream.

    Args:
        data: the content of the file.
        key: the key of the file, from `new_file_key`.

    Returns:
        The encrypted file, and its key metadata with the length.
    """
    stream = aes_gcm_stream.write_stream(data, aes_gcm_stream.StreamKey(key.key, key.aad_prefix))
    return stream, attrs.evolve(key, file_length=len(stream))


def decrypt_stream(data: bytes, metadata: KeyMetadata, location: str) -> bytes:
    """Decrypt a file that is an AES GCM stream.

    Args:
        data: the encrypted file.
        metadata: its key metadata.
        location: the file, for errors.

    Raises:
        UnsupportedEncryption: the key metadata has no length, or the library for AES is not installed.
        SpecError: GCM001 to GCM007.
    """
    if metadata.file_length is None:
        raise UnsupportedEncryption(location, "the file is encrypted, and its key metadata has no trusted length")
    try:
        key = aes_gcm_stream.StreamKey(metadata.key, metadata.aad_prefix)
        return aes_gcm_stream.read_stream(data, key, metadata.file_length)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, file=location)) from None
    except ModuleNotFoundError as error:
        raise UnsupportedEncryption(location, f"the file is encrypted: {error}") from None


def decrypt_and_check_nonces(data: bytes, metadata: KeyMetadata, location: str) -> bytes:
    """Decrypt a file that is an AES GCM stream, and check that it uses no nonce twice.

    Args:
        data: the encrypted file.
        metadata: its key metadata.
        location: the file, for errors.

    Raises:
        UnsupportedEncryption: as `decrypt_stream`.
        SpecError: GCM001 to GCM007.
    """
    plain = decrypt_stream(data, metadata, location)
    try:
        aes_gcm_stream.check_nonces(data)
    except SpecError as error:
        raise SpecError(attrs.evolve(error.violation, file=location)) from None
    return plain


@attrs.frozen
class KeyFile:
    """A key service for tests: master keys are in a file, and wrap keys by AES GCM without AAD.

    Iceberg-Java's key service for tests wraps keys in the same way.
    """

    keys: Mapping[str, bytes] = attrs.field(repr=False)

    def __call__(self, wrapped: bytes, wrapping_id: str) -> bytes:
        """Unwrap a key.

        Raises:
            UsageError: the file lacks the wrapping key, or has another key with its id.
        """
        wrapping = self._key(wrapping_id)
        try:
            return aes_gcm_stream.open_block(wrapped, wrapping, b"")
        except SpecError as error:
            what = f"the key {wrapping_id!r} of the key file does not unwrap a key of the table"
            raise UsageError(f"{what}: {error.violation.message}") from None

    def wrap(self, key: bytes, wrapping_id: str) -> bytes:
        """Wrap a key.

        Raises:
            UsageError: the file lacks the wrapping key.
        """
        return aes_gcm_stream.seal_block(key, self._key(wrapping_id), b"")

    def _key(self, id_: str) -> bytes:
        if id_ not in self.keys:
            known = ", ".join(sorted(self.keys)) or "none"
            raise UsageError(f"the key file has no key {id_!r}; it has: {known}")
        return self.keys[id_]


def load_key_file(path: str | Path) -> KeyFile:
    """Read a key file: a JSON object of master keys in hexadecimal, by their ids.

    Args:
        path: the file.

    Raises:
        UsageError: the file cannot be read, or is not such an object.
    """
    try:
        keys = parse_json(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(keys, dict):
        raise UsageError(f"{path}: expected a JSON object of AES keys in hexadecimal by their ids")
    wrong = [id_ for id_, key in keys.items() if not _is_key(key)]
    if wrong:  # the message does not have the value, which may be part of a key
        raise UsageError(f"{path}: {pointer(wrong[:1])}: expected 16, 24 or 32 bytes in hexadecimal")
    return parse_key_file(keys)


def _is_key(text: Any) -> bool:
    try:
        return len(bytes.fromhex(text)) in (16, 24, 32)
    except (TypeError, ValueError):
        return False


def parse_key_file(keys: Mapping[str, str]) -> KeyFile:
    """Make a key service from master keys in hexadecimal, by their ids.

    Args:
        keys: the content of a key file.

    Raises:
        UsageError: the library for AES is not installed.
    """
    try:
        _ = aes_gcm_stream.KEY_LENGTHS
    except ModuleNotFoundError as error:
        raise UsageError(str(error)) from None
    return KeyFile({id_: bytes.fromhex(key) for id_, key in keys.items()})


def manifest_list_key(metadata: TableMetadata, key_id: str, service: KeyService, location: str) -> KeyMetadata:
    """Find and decrypt the key metadata of a manifest list.

    Args:
        metadata: the metadata of the table.
        key_id: the ``key-id`` of the snapshot.
        service: unwraps the key that encrypts the key metadata.
        location: the manifest list, for errors.

    Raises:
        SpecError: SNP012 if the table does not have the key; ENC002 if a key is not in base64.
        UnsupportedEncryption: the keys do not have the form of Iceberg-Java.
        FileAccessError: the authentication of a key failed, as it was changed.
    """
    keys = {key.key_id: key for key in metadata.encryption_keys or ()}
    if key_id not in keys:
        error = spec_error("SNP012", "the table does not have a key with this id", found=key_id)
        raise SpecError(attrs.evolve(error.violation, file=location))
    own = keys[key_id]
    wrapping = keys.get(own.encrypted_by_id or "")
    timestamp = None if wrapping is None else (wrapping.properties or {}).get(KEY_TIMESTAMP)
    if wrapping is None or wrapping.encrypted_by_id is None or timestamp is None:
        expected = f"{key_id!r} encrypted by a key of the table with {KEY_TIMESTAMP}, which a key service wraps"
        reason = f"the manifest list is encrypted, and its keys are not supported; expected {expected}"
        raise UnsupportedEncryption(location, reason)
    wrapped, block = _decode_key_metadata(wrapping, location), _decode_key_metadata(own, location)
    key = service(wrapped, wrapping.encrypted_by_id)
    try:
        return read_key_metadata(aes_gcm_stream.open_block(block, key, timestamp.encode()), location)
    except SpecError as error:
        reason = f"the key {key_id!r} of the manifest list cannot be decrypted: {error.violation.message}"
        raise FileAccessError(location, reason) from None


def find_wrapping_key(keys: Iterable[EncryptionKey], master_id: str, now_ms: int) -> EncryptionKey | None:
    """Find the newest key that may encrypt the key metadata of a new manifest list; None if there is none.

    Args:
        keys: the keys of the table.
        master_id: the id of the master key that the key service wraps keys with.
        now_ms: the time in milliseconds.
    """
    usable = [
        (created, key)
        for key in keys
        if key.encrypted_by_id == master_id
        and (created := parse_whole_number((key.properties or {}).get(KEY_TIMESTAMP, ""))) is not None
        and now_ms - created < WRAPPING_KEY_MS
    ]
    return max(usable, key=lambda pair: pair[0])[1] if usable else None


def new_wrapping_key(service: WritingKeyService, master_id: str, length: int, now_ms: int) -> EncryptionKey:
    """Make a key that encrypts the key metadata of manifest lists.

    Args:
        service: wraps the new key.
        master_id: the id of the master key that the service wraps it with.
        length: the length of the key in bytes.
        now_ms: the time in milliseconds.
    """
    wrapped = service.wrap(os.urandom(length), master_id)
    return EncryptionKey(
        key_id=str(uuid.uuid4()),
        encrypted_key_metadata=base64.b64encode(wrapped).decode(),
        encrypted_by_id=master_id,
        properties={KEY_TIMESTAMP: str(now_ms)},
    )


def encrypt_key_metadata(plain: bytes, wrapping: EncryptionKey, service: KeyService) -> EncryptionKey:
    """Encrypt the key metadata of a manifest list, as a key of the table.

    Args:
        plain: the key metadata.
        wrapping: the key of the table that encrypts it.
        service: unwraps this key.
    """
    assert wrapping.encrypted_by_id is not None, "a key service wraps it"
    key = service(base64.b64decode(wrapping.encrypted_key_metadata), wrapping.encrypted_by_id)
    timestamp = (wrapping.properties or {})[KEY_TIMESTAMP]
    sealed = aes_gcm_stream.seal_block(plain, key, timestamp.encode())
    return EncryptionKey(
        key_id=str(uuid.uuid4()),
        encrypted_key_metadata=base64.b64encode(sealed).decode(),
        encrypted_by_id=wrapping.key_id,
    )


def _decode_key_metadata(key: EncryptionKey, location: str) -> bytes:
    try:
        return base64.b64decode(key.encrypted_key_metadata, validate=True)
    except ValueError:
        error = spec_error("ENC002", "the key is not in base64", found=key.encrypted_key_metadata, path=key.key_id)
        raise SpecError(attrs.evolve(error.violation, file=location)) from None


class DecryptingReader:
    """A function for scan planning that reads manifest lists and manifests by their locations, and decrypts them."""

    def __init__(self, metadata: TableMetadata, service: KeyService | None, read: Callable[[str], bytes]) -> None:
        self._metadata = metadata
        self._service = service
        self._read = read
        snapshots = [one for one in metadata.snapshots or () if one.key_id is not None]
        self._lists = {one.manifest_list: one.key_id for one in snapshots if one.manifest_list is not None}
        self._manifests: dict[str, bytes] = {}

    def __call__(self, location: str) -> bytes:
        """Read a file, and decrypt it if the table has a key for it.

        Raises:
            FileAccessError: the file cannot be read, or its key metadata is not supported.
            SpecError: the file or a key was changed, or a key is missing.
        """
        key_id = self._lists.get(location)
        if key_id is not None and self._service is None:
            raise FileAccessError(location, "the manifest list is encrypted, and no key service is given")
        data = self._read(location)
        if key_id is not None and self._service is not None:
            key = manifest_list_key(self._metadata, key_id, self._service, location)
            data = decrypt_stream(data, key, location)
            for manifest in read_manifest_list(data, file=location):
                if manifest.key_metadata is not None:
                    self._manifests[manifest.manifest_path] = manifest.key_metadata
        elif location in self._manifests:
            data = decrypt_stream(data, read_key_metadata(self._manifests[location], location), location)
        return data


@contextmanager
def open_data_file(file: DataFile) -> Iterator[tuple[Any, Any]]:
    """Open a data file or delete file, decrypted if it is encrypted.

    Args:
        file: its manifest entry.

    Yields:
        The open file, and for an encrypted Parquet file the properties that pyarrow decrypts it with.

    Raises:
        FileAccessError: it cannot be read, or its key metadata is not supported.
        SpecError: GCM001 to GCM007.
    """
    streamed = file.key_metadata is not None and file.file_format is not FileFormat.PARQUET
    layout = FileFormat.AVRO if streamed else file.file_format
    with open_rows_file(file.file_path, layout, file.file_size_in_bytes) as opened:
        if file.key_metadata is None:
            yield opened, None
            return
        metadata = read_key_metadata(bytes(file.key_metadata), file.file_path)
        if file.file_format is FileFormat.PARQUET:
            yield opened, parquet_decryption(metadata, file.file_path)
        else:
            with io.BytesIO(decrypt_stream(opened.read(), metadata, file.file_path)) as plain:
                yield plain, None


def parquet_encryption_properties(key: KeyMetadata, struct: StructType, location: str) -> Any:
    """Return pyarrow's ``FileEncryptionProperties`` for a Parquet file.

    Args:
        key: the key of the file, for its footer and all columns.
        struct: the columns of the file.
        location: the file, for errors.

    Raises:
        UsageError: the file has a column that cannot be written encrypted.
        UnsupportedEncryption: this pyarrow is too old.
    """
    if any(logical is not None for logical in parquet_footer.logical_types(struct)):
        reason = "variants, and geographies whose edges are not spherical, cannot be written to encrypted Parquet files"
        raise UsageError(f"{location}: {reason}")
    create = _pyarrow_function("create_encryption_properties", location)
    return create(key.key, aad_prefix=key.aad_prefix, store_aad_prefix=False)


def parquet_decryption(metadata: KeyMetadata, location: str) -> Any:
    """Return pyarrow's ``FileDecryptionProperties`` for a Parquet file.

    Args:
        metadata: the key metadata of the file.
        location: the file, for errors.

    Raises:
        UnsupportedEncryption: this pyarrow is too old.
    """
    create = _pyarrow_function("create_decryption_properties", location)
    return create(metadata.key, aad_prefix=metadata.aad_prefix)


def _pyarrow_function(name: str, location: str) -> Callable[..., Any]:
    found = getattr(parquet_encryption, name, None)
    if found is None:
        reason = "the file is encrypted, which this pyarrow does not support; expected release 26"
        raise UnsupportedEncryption(location, reason)
    return found  # type: ignore[no-any-return]
