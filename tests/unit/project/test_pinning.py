from __future__ import annotations

import pytest

from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.project import pinning
from stacks.sources.pins import read_pins


def test_the_pins_are_exactly_those_of_the_recipes_and_the_base(workspace: Workspace) -> None:
    debs, files = pinning.required_sources(workspace)
    pins = read_pins(workspace.sources_lock)
    packages = {(deb.suite, deb.name) for deb in debs if not deb.is_source}
    assert packages == {(pin.suite, pin.name) for pin in pins.debs}
    assert {file.filename for file in files} == {pin.filename for pin in pins.files}


def test_an_expired_suite_that_no_recipe_takes_is_an_error(workspace: Workspace) -> None:
    with pytest.raises(UsageError, match=r"(?s)--expired: no recipe takes debs of sarge.*bookworm"):
        pinning.pin(workspace, expired={"sarge"})
