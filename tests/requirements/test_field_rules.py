"""The fields that the code declares are those of the register: the same name, and the same rule in each version."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import attrs
import pytest

import spec_ref
from spec_ref.records import field_rules
from spec_ref.requirements import register
from spec_ref.versions import FieldRule, FormatVersion


def declared_fields() -> Iterator[tuple[str, FieldRule]]:
    for module in pkgutil.walk_packages(spec_ref.__path__, "spec_ref."):
        for cls in vars(importlib.import_module(module.name)).values():
            if inspect.isclass(cls) and attrs.has(cls) and cls.__module__ == module.name:
                for rule in field_rules(cls).values():
                    yield f"{cls.__name__}.{rule.name}", rule


@pytest.fixture(name="declared", scope="module")
def all_declared_fields() -> dict[str, FieldRule]:
    return dict(declared_fields())


def test_every_declared_field_names_a_requirement(declared: dict[str, FieldRule]) -> None:
    assert [name for name, rule in declared.items() if rule.requirement not in register()] == []


def test_every_declared_field_has_the_rules_of_its_row(declared: dict[str, FieldRule]) -> None:  # VER009
    differing = []
    for name, rule in declared.items():
        row = register()[rule.requirement]
        if row.rules is not None and (
            row.rules != {version: rule.write(version) for version in FormatVersion} or row.field != rule.name
        ):
            differing.append((name, rule.requirement))
    assert differing == []
