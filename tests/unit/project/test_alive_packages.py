from __future__ import annotations

from stacks.core.workspace import Workspace
from stacks.project import alive_packages
from stacks.project.alive_packages import BUILT, with_packages
from stacks.sources.alive import Holdings
from stacks.sources.pins import CondaPin, Pin, read_pins
from unit.helpers.serving import deb, sha256

FIRST, SECOND, OTHER = (deb(path=f"pool/{name}.deb") for name in "abc")


def package(name: str) -> CondaPin:
    file = f"{name}-1-0.conda"
    return CondaPin(
        name=name,
        version="1",
        filename=file,
        size=1,
        sha256=sha256(name.encode()),
        urls=(f"linux-64/{file}",),
    )


ONE, TWO, NOTHING = package("one"), package("two"), package("nothing")
SOURCES: dict[CondaPin, tuple[Pin, ...]] = {ONE: (FIRST, SECOND), TWO: (SECOND,), NOTHING: ()}
NONE: frozenset[Pin] = frozenset()


def test_a_channel_stands_for_the_sources_of_all_its_packages() -> None:
    channel, _ = with_packages([Holdings("c", frozenset({ONE, TWO}))], SOURCES, NONE)
    assert channel.held == {ONE, TWO, FIRST, SECOND}


def test_a_source_of_a_package_that_the_channel_lacks_is_still_needed() -> None:
    channel, _ = with_packages([Holdings("c", frozenset({ONE}))], SOURCES, NONE)
    assert channel.held == {ONE, FIRST}


def test_what_pip_installs_is_needed_as_it_is() -> None:
    channel, _ = with_packages([Holdings("c", frozenset({ONE, TWO}))], SOURCES, frozenset({FIRST}))
    assert channel.held == {ONE, TWO, SECOND}


def test_a_package_can_be_built_while_its_sources_are_somewhere() -> None:
    holdings = [Holdings("a", frozenset({FIRST})), Holdings("b", frozenset({SECOND, OTHER}))]
    *unchanged, built = with_packages(holdings, SOURCES, NONE)
    assert unchanged == holdings
    assert built == Holdings(BUILT, frozenset({ONE, TWO}))
    *_, built = with_packages(holdings[:1], SOURCES, NONE)
    assert built.held == frozenset()


def test_the_packages_of_the_locks_and_what_they_are_made_of(workspace: Workspace) -> None:
    pins = read_pins(workspace.sources_lock)
    packages = alive_packages.locked_packages(workspace, pins)
    names = [pin.filename for pin in packages]
    assert len(names) == len(set(names)) and all(pin.size > 1000 for pin in packages)
    python = next(pin for pin in packages if pin.name == "python" and pin.version.startswith("2"))
    assert python.urls == (f"linux-64/{python.filename}",)
    sources = alive_packages.sources_of(workspace, packages, pins)
    assert {pin.name for pin in sources[python]} >= {"libpython2.7-stdlib"}
    compiled = next(pin for pin in packages if pin.name == "amdlibm-compat")
    assert {pin.name for pin in sources[compiled]} >= {"src:sleef", "g++-10"}


def test_the_wheels_that_pip_installs(workspace: Workspace) -> None:
    pins = read_pins(workspace.sources_lock)
    names = {pin.name for pin in alive_packages.installed_by_pip(workspace, pins)}
    assert {"numpy", "scipy", "theano"} <= names and "pocl-binary-distribution" not in names
