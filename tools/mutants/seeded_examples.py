"""Tables and scripts for properties, generated from seeds without Hypothesis: each run uses the same ones."""

from __future__ import annotations

import random

from conformance.properties.metamorphic import add_property_operations
from conformance.properties.metamorphic_properties import Property
from conformance.properties.script_maker import REFUSED, SMALL
from conformance.properties.scripts import Maker
from conformance.properties.tables import TableCase, draw_case
from conformance.properties.values import Chance
from spec_ref.core.json_types import Json

ATTEMPTS = 5
"""The maximum number of scripts that are generated for one seed until one ends with operations of the property."""


def make_case(seed: int, exclude: frozenset[str] = frozenset()) -> TableCase:
    """Generate the table and predicate of a seed."""
    return draw_case(Chance(random.Random(seed), exclude))


def make_property_script(prop: Property, seed: int) -> Json | None:
    """Generate the script of a property and a seed; None if the property applies to no table that was tried."""
    for attempt in range(ATTEMPTS):
        chance = Chance(random.Random(f"{prop.name} {seed} {attempt}"), prop.exclude | {REFUSED}, nulls=0.2)
        maker = Maker(chance, SMALL)
        maker.create()
        last = maker.draw.randint(1, SMALL.operations - 2)
        for _ in range(2 * SMALL.operations):
            if len(maker.operations) <= last:
                maker.add(maker.pick())
        if add_property_operations(prop, maker):
            return maker.script
    return None
