"""The fields that the code declares are those of the register: the same name, and the same rule in each version."""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator

import attrs
import pytest

import spec_ref
from spec_ref.core.records import field_rules
from spec_ref.core.versions import FEATURES, OPTIONAL, REQUIRED, Feature, FieldRule, FormatVersion
from spec_ref.requirements import register
from tools.docs.versions import TABLES


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
            row.rules != {version: rule.writer_presence(version) for version in FormatVersion} or row.field != rule.name
        ):
            differing.append((name, rule.requirement))
    assert differing == []


def test_a_field_that_readers_do_not_require_says_what_they_take_instead(declared: dict[str, FieldRule]) -> None:
    without = [
        (name, version)
        for name, rule in declared.items()
        for version in FormatVersion
        if rule.reader_presence(version) is OPTIONAL and rule.missing is attrs.NOTHING
    ]
    assert without == []


def test_readers_require_no_field_that_their_writers_may_leave_out(declared: dict[str, FieldRule]) -> None:  # VER006
    stricter = [
        (name, version)
        for name, rule in declared.items()
        for version in FormatVersion
        if rule.reader_presence(version) is REQUIRED and rule.writer_presence(version) is not REQUIRED
    ]
    assert stricter == []


def test_every_field_whose_rules_differ_is_on_the_page_of_versions(declared: dict[str, FieldRule]) -> None:
    shown = {rule.requirement for rules in TABLES.values() for rule in rules}
    differing = {
        rule.requirement for rule in declared.values() if len({rule.writer_presence(one) for one in FormatVersion}) > 1
    }
    assert differing - shown == set()


STATED_OTHERWISE = {
    "DEL001": "concerns versions without the feature",
    "DEL002": "concerns the versions after the last that may add it",
    "MAN012": "a field of every version",
    "MAN017": "a rule of every version, about such a field",
    "NOT008": "describes what older writers do",
    "VER004": "a rule of every version, about several features",
}
"""Requirements of features that bind other versions than those that have the feature, and why."""


@pytest.mark.parametrize("feature", FEATURES, ids=lambda feature: feature.name)
def test_the_requirements_of_a_feature_bind_its_versions(feature: Feature) -> None:
    having = tuple(version for version in FormatVersion if feature.is_supported(version))
    rows = {code: register()[code].versions for code in feature.requirements if code not in STATED_OTHERWISE}
    assert {code: tuple(versions) for code, versions in rows.items() if tuple(versions) != having} == {}
    assert all(code in register() for code in feature.requirements)
