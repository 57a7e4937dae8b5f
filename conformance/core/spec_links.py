"""Where the text of the spec can be read."""

from __future__ import annotations

from spec_ref.requirements import Requirement, sources


def section_link(rule: Requirement) -> str:
    """Where the section can be read, in the state of the text that the register was read from."""
    read = sources()
    place = read.documents[rule.document].path
    heading = "".join(one for one in rule.section.rpartition(" / ")[2].lower() if one.isalnum() or one in " -_")
    return f"{read.repository}/blob/{read.commit}/{place}#{heading.replace(' ', '-')}"
