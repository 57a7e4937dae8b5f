"""The complete check of a manifest list."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping

import attrs

from spec_ref.avro_mapping.row_checks import MISSING_COLUMN, schema_problems
from spec_ref.checks import to_finding
from spec_ref.checks.findings import Finding
from spec_ref.core.errors import SpecError, Violation
from spec_ref.core.versions import FormatVersion
from spec_ref.data_types.types import StructType
from spec_ref.encodings.avro.container import Data, open_container
from spec_ref.encodings.avro.types import root_record
from spec_ref.manifest_lists.manifest_file import ManifestContent, ManifestFile, find_spec
from spec_ref.manifest_lists.reader import REQUIREMENT, read_manifest_list
from spec_ref.manifest_lists.rules import list_rules
from spec_ref.partitioning.spec import PartitionSpec


def check_manifest_list(
    data: Data,
    format_version: FormatVersion,
    *,
    specs: Mapping[int, PartitionSpec] | None = None,
    first_row_id: int | None = None,
    file: str | None = None,
) -> list[Finding]:
    """Find everything that is wrong with a manifest list.

    Args:
        data: the content of the file.
        format_version: the format version that the list was written for, because the spec has no key for it in the
            file.
        specs: the table's partition specs by id; None if they are not known.
        first_row_id: the ``first-row-id`` of the snapshot, from v3.
        file: the file name for findings.

    Returns:
        The findings; empty if the list follows the spec.
    """
    try:
        record = root_record(open_container(data, REQUIREMENT).metadata["avro.schema"], REQUIREMENT)
        manifests = read_manifest_list(data, format_version=format_version, file=file)
    except SpecError as error:
        return [to_finding(attrs.evolve(error.violation, file=file))]
    found = [
        to_finding(attrs.evolve(problem, path=f"/avro.schema{problem.path}"))
        for problem in schema_problems(ManifestFile, record, format_version, StructType(()))
        if problem.aspect != MISSING_COLUMN
    ]
    found += map(to_finding, manifest_list_problems(manifests, format_version, specs, first_row_id))
    return [Finding(attrs.evolve(one.violation, file=file), one.severity) for one in found]


def manifest_list_problems(
    manifests: tuple[ManifestFile, ...],
    format_version: FormatVersion,
    specs: Mapping[int, PartitionSpec] | None = None,
    first_row_id: int | None = None,
) -> list[Violation]:
    """Find what is wrong with the entries of a list, apart from how the list is encoded.

    Args:
        manifests: the entries of the list.
        format_version: the format version that the list was written for.
        specs: the table's partition specs by id; None if they are not known.
        first_row_id: the ``first-row-id`` of the snapshot, from v3.

    Returns:
        The violations, with paths from the root of the list.
    """
    problems: list[Violation] = []
    for number, manifest in enumerate(manifests):
        alone = (error.violation for error in list_rules(manifest, format_version))
        broken = itertools.chain(alone, _unknown_spec(manifest, specs))
        problems += (attrs.evolve(problem, path=f"/{number}{problem.path}") for problem in broken)
    return [*problems, *_repeated(manifests), *_row_ids(manifests, first_row_id)]


def _violation(
    requirement: str, message: str, path: str, found: str | None = None, expected: str | None = None, aspect: str = ""
) -> Violation:
    return Violation(requirement=requirement, message=message, aspect=aspect, path=path, found=found, expected=expected)


def _unknown_spec(manifest: ManifestFile, specs: Mapping[int, PartitionSpec] | None) -> Iterator[Violation]:
    if specs is None:
        return
    try:
        spec = find_spec(specs, manifest.partition_spec_id, "/partition_spec_id")
    except SpecError as error:
        yield error.violation
        return
    if manifest.partitions is not None and len(manifest.partitions) != len(spec.fields):
        found, expected = str(len(manifest.partitions)), str(len(spec.fields))
        yield _violation(
            "MLS016",
            "the number of field summaries differs from the number of partition fields",
            "/partitions",
            found,
            expected,
            aspect="count",
        )


def _repeated(manifests: tuple[ManifestFile, ...]) -> Iterator[Violation]:
    """Find manifests that are listed twice, so that their files are live twice."""
    seen: dict[str, int] = {}
    for number, manifest in enumerate(manifests):
        first = seen.setdefault(manifest.manifest_path, number)
        if first != number:
            path = f"/{number}/manifest_path"
            yield _violation(
                "MLS003", f"the manifest is already listed at /{first}", path, manifest.manifest_path, aspect="repeated"
            )


def _row_ids(manifests: tuple[ManifestFile, ...], first_row_id: int | None) -> Iterator[Violation]:
    """Find data manifests without a first row id in a snapshot that has one (LIN015, LIN027)."""
    if first_row_id is None:
        return
    for number, manifest in enumerate(manifests):
        if manifest.content is ManifestContent.DATA and manifest.first_row_id is None:
            yield _violation("LIN027", "the first row id of a data manifest is missing", f"/{number}/first_row_id")
