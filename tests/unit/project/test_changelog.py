"""CHANGELOG.md has the form of Keep a Changelog 1.1.0, and knows the version."""

from __future__ import annotations

import datetime
import re

from packaging.version import Version

from stacks.core.disk import REPOSITORY
from stacks.core.workspace import VERSION

TEXT = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
KINDS = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
SECTIONS = re.split(r"^## ", TEXT, flags=re.MULTILINE)[1:]
HEADS = [section.partition("\n")[0] for section in SECTIONS]


def test_the_sections_are_unreleased_and_dated_versions_newest_first() -> None:
    assert TEXT.startswith("# Changelog\n")
    assert HEADS[0] == "[Unreleased]"
    released = [re.fullmatch(r"\[(.+)\] - (.+)", head) for head in HEADS[1:]]
    pairs = [(Version(m[1]), datetime.date.fromisoformat(m[2])) for m in released if m]
    assert len(pairs) == len(HEADS) - 1, HEADS
    assert pairs == sorted(pairs, reverse=True)
    assert all(version <= Version(VERSION) for version, _ in pairs)


def test_each_section_has_each_kind_of_change_once_with_entries() -> None:
    for section in SECTIONS:
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert set(kinds) <= KINDS and len(kinds) == len(set(kinds)), kinds
        for part in re.split(r"^### .+\n", section, flags=re.MULTILINE)[1:]:
            lines = part.strip().splitlines()
            assert lines and all(line.startswith("- ") for line in lines), part
