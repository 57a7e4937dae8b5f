"""Manifests: the lists of data files and delete files (Manifests)."""

import warnings
from typing import Any

from spec_ref.manifests.checks import check_manifest
from spec_ref.manifests.data_file import DataFile, FileContent, FileFormat
from spec_ref.manifests.entry import EntryStatus, ManifestEntry
from spec_ref.manifests.manifest import Manifest
from spec_ref.manifests.reader import read_manifest
from spec_ref.manifests.writer import build_manifest_file, write_manifest

__all__ = [
    "DataFile",
    "EntryStatus",
    "FileContent",
    "FileFormat",
    "Manifest",
    "ManifestEntry",
    "build_manifest_file",
    "check_manifest",
    "read_manifest",
    "write_manifest",
]


def __getattr__(name: str) -> Any:
    if name != "manifest_file":  # the old name of build_manifest_file, for one release
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(f"{__name__}.{name} is deprecated; use build_manifest_file", DeprecationWarning, stacklevel=2)
    return build_manifest_file
