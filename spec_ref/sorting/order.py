"""Sort orders (Sorting; Appendix C, Sort Orders)."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from spec_ref.core.errors import Description, spec_error
from spec_ref.core.records import EMPTY, record, spec_field
from spec_ref.core.versions import OMITTED, OPTIONAL, REQUIRED
from spec_ref.json.wire_types import INT, ListOf, RecordOf, enum_kind
from spec_ref.partitioning.spec import TRANSFORM, check_sources
from spec_ref.partitioning.transforms import Transform, Void
from spec_ref.schemas.schema import Schema

UNSORTED_ID = 0
"""The order id that is reserved for the unsorted order (SRT002)."""


class SortDirection(enum.Enum):
    """Which values come first."""

    ASC = "asc"
    DESC = "desc"


class NullOrder(enum.Enum):
    """Whether nulls sort first or last; the direction does not reverse it."""

    NULLS_FIRST = "nulls-first"
    NULLS_LAST = "nulls-last"


@record(kw_only=True)
class SortField:
    """One field of a sort order."""

    transform: Transform = spec_field(
        "transform", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="SRT010", type=TRANSFORM
    )
    """The transform applied to the source before sorting. An unknown one is kept (SRT009), and a reader
    ignores the field (SRT015)."""

    source_id: int | None = spec_field(
        "source-id", v1=REQUIRED, v2=REQUIRED, v3=OPTIONAL, requirement="SRT011", type=INT, default=None
    )
    """The id of the one source column; None where there are several."""

    source_ids: tuple[int, ...] | None = spec_field(
        "source-ids", v1=OMITTED, v2=OMITTED, v3=OPTIONAL, requirement="SRT012", type=ListOf(INT), default=None
    )
    """The ids of several source columns; None where there is one."""

    direction: SortDirection = spec_field(
        "direction",
        v1=REQUIRED,
        v2=REQUIRED,
        v3=REQUIRED,
        requirement="SRT013",
        type=enum_kind(SortDirection, "SRT007"),
        default=SortDirection.ASC,
    )

    null_order: NullOrder = spec_field(
        "null-order",
        v1=REQUIRED,
        v2=REQUIRED,
        v3=REQUIRED,
        requirement="SRT014",
        type=enum_kind(NullOrder, "SRT007"),
        default=NullOrder.NULLS_FIRST,
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""

    def __attrs_post_init__(self) -> None:
        check_sources("SRT008", self.source_id, self.source_ids)

    @property
    def sources(self) -> tuple[int, ...]:
        """The ids of the source columns, one or more."""
        return (self.source_id,) if self.source_ids is None else self.source_ids  # type: ignore[return-value]


SORT_FIELD = RecordOf(SortField, "a sort field", requirement="SRT006")


@record
class SortOrder:
    """How the rows of a file are sorted."""

    order_id: int = spec_field("order-id", v1=REQUIRED, v2=REQUIRED, v3=REQUIRED, requirement="SRT006", type=INT)

    fields: tuple[SortField, ...] = spec_field(
        "fields",
        v1=REQUIRED,
        v2=REQUIRED,
        v3=REQUIRED,
        requirement="SRT006",
        type=ListOf(SORT_FIELD),
        default=(),
        missing=None,
        converter=tuple,
    )

    extra: Mapping[str, Any] = attrs.field(default=EMPTY, hash=False)
    """Properties that no format version defines."""


ORDER = RecordOf(SortOrder, "a sort order", requirement="SRT006")

UNSORTED = SortOrder(UNSORTED_ID)


def check_schema_change(before: Schema, after: Schema, fields: Iterable[SortField]) -> None:
    """Refuse a change of the schema that drops a source of the sort order.

    Args:
        before: the schema before the change.
        after: the schema after the change.
        fields: the fields of the order that new data is sorted by.

    Raises:
        SpecError: PAR004 if a source of a field is dropped.
    """
    remaining = {column.id for column in after.columns()}
    dropped = {column.id: column.name for column in before.columns() if column.id not in remaining}
    for field in fields:
        for source in field.sources:
            if source in dropped and not isinstance(field.transform, Void):
                message = "the dropped column is a source of the sort order"
                raise spec_error(
                    "PAR004", message, found=Description(f"{dropped[source]}, source of sort field {field.transform}")
                )
