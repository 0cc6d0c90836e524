"""The pinned sources of recipes and images: pin them anew, and say which places still have each.

Published packages stand for the sources that they are made of.
"""

import json
import sys
import threading
from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from stacks.channel.build_context import Debs, Sources
from stacks.channel.candidates import read_channel, with_settings
from stacks.channel.recipe import read_recipes
from stacks.core.console import next_step, plural, print_table, step
from stacks.core.disk import write_atomically
from stacks.core.errors import FetchError, ScarceError, StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.use import kernel
from stacks.image import base
from stacks.locks import lock, texts, uv
from stacks.sources import places as known
from stacks.sources.debian_archive import DebRequest
from stacks.sources.debian_mirrors import (
    WHEEL_FILE,
    WHEEL_NAME,
    WHEEL_VERSION,
    current_mirrors,
    ended_releases,
)
from stacks.sources.pins import DebPin, IndexFile, LockedPackage, Pin, Pins, read_pins, write_pins
from stacks.sources.places import Holdings, Place, published_places
from stacks.sources.repin import difference, repin
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import Web, environment_web
from stacks.variants.load import all_variants

# Each file should be at so many places: one may go at any time.
ENOUGH = 2
# Of a pin in the report.
KEYS = ("name", "version", "filename", "size", "sha256")


def required_sources(workspace: Workspace) -> tuple[set[DebRequest], set[IndexFile]]:
    """Return every deb and file that the recipes, the images and notebooks need.

    With them are the source packages that are published or compiled, and the wheel that has the
    addresses of Debian's archive.
    """
    recipes = read_recipes(workspace.recipes).values()
    sources = [s for recipe in recipes for s in recipe.source]
    content = base.read_file(workspace)
    debs = {DebRequest(s.suite, n) for s in sources if isinstance(s, Debs) for n in s.debs}
    names = (*content.debs, content.static)
    debs |= {DebRequest(content.suite, name) for name in names}
    whole = [s for s in sources if isinstance(s, Sources)]
    whole += [s for recipe in recipes for s in recipe.about.sources]
    debs |= {DebRequest(s.suite, name, is_source=True) for s in whole for name in s.sources}
    files = {s for s in sources if isinstance(s, IndexFile)}
    files |= {
        IndexFile(*uv.release_of(name), name)
        for names in kernel.kernel_files(workspace).values()
        for name in names
    }
    files.add(IndexFile(uv.NAME, uv.VERSION, uv.FILE))
    files.add(IndexFile(WHEEL_NAME, WHEEL_VERSION, WHEEL_FILE))
    return debs, files


def pin(workspace: Workspace, *, check: bool = False, expired: Set[str] = frozenset()) -> None:
    """Pin what the archives offer now and print the changes.

    check: write nothing, and raise StaleError if the pins would change. expired: suites whose
    archive has ended, so that its Valid-Until is past; UsageError if no recipe takes one of them.
    """
    debs, files = required_sources(workspace)
    names = sorted({deb.suite for deb in debs})
    if unknown := sorted(expired - set(names)):
        raise UsageError(
            f"--expired: no recipe takes debs of {', '.join(unknown)}",
            expected=f"some of: {', '.join(names)}",
        )
    path = workspace.sources_lock
    old = read_pins(path) if path.exists() else Pins(debs=(), files=())
    new = repin(workspace, debs, files, expired=expired)
    changes = difference(old, new)
    print("\n".join(changes) if changes else "every pin is current")
    if check and changes:
        raise StaleError(
            f"{len(changes)} pins are stale: the archives now offer other versions",
            fix="./invoke pin, ./invoke lock, then check both differences and commit them",
        )
    if changes and not check:
        write_pins(path, new)
        print(f"written: {path.name}")
        next_step("./invoke lock")


@dataclass(frozen=True)
class Group:
    """One class of pinned files with the places of each."""

    name: str
    places: Mapping[Pin, Sequence[str]]

    @property
    def scarce(self) -> dict[Pin, str]:
        """The files that are at one place only, with that place, or at none."""
        return {
            pin: "".join(places) or "none"
            for pin, places in self.places.items()
            if len(places) < ENOUGH
        }


def report(workspace: Workspace, *, path: Path | None = None) -> None:
    """Ask every place that a build would ask for the pinned files, and print where they are.

    path: also write what each place has there, as JSON. Raises ScarceError if a file is at one
    place only or at none, FetchError if no place answers.
    """
    pins, stop = read_pins(workspace.sources_lock), threading.Event()
    web, roots = environment_web(stop), _archive_roots(workspace)
    places = [known.mirror_place(web, root) for root in roots]
    places += [*known.index_places(stop), *known.vendored_places(stop)]
    channels = _channels(workspace, web)
    made = packages_by_source(workspace, pins) if channels else {}
    packages = {package for members in made.values() for package in members}
    files: list[Pin] = [*pins.debs, *pins.sources, *pins.files]
    asked = [*files, *sorted(packages, key=lambda pin: pin.filename)]
    count = plural(len(places) + len(channels), "place")
    with step("asked", f"{count} for {len(asked)} files"):
        answers = known.survey([*places, *channels], asked, stop)
    failures = [each.failure for each in answers if each.failure]
    if answers and len(failures) == len(answers):
        raise FetchError(
            f"none of {count} answers to the end",
            found="; ".join(failures),
            fix="check the network and try again",
        )
    groups = _groups(pins, [with_sources(each, made) for each in answers])
    _print(groups, answers)
    if path:
        write_atomically(path, _as_json(groups, answers))
    _require_enough(groups)


def _archive_roots(workspace: Workspace) -> tuple[str, ...]:
    """Return the roots of Debian's archive: the mirrors, then the archives of ended releases."""
    wheel = address_wheel(workspace)
    ended, why = ended_releases(wheel)
    if not ended:
        print(f"warning: not asked: {why}", file=sys.stderr)
    return tuple(dict.fromkeys((*current_mirrors(wheel), *ended)))


def _groups(pins: Pins, holdings: Sequence[Holdings]) -> list[Group]:
    members: dict[str, list[Pin]] = {}
    for suite in sorted({pin.suite for pin in (*pins.debs, *pins.sources)}):
        for kind, every in (("debs", pins.debs), ("source packages", pins.sources)):
            members[f"{kind} of {suite}"] = [pin for pin in every if pin.suite == suite]
    members["files of the package index"] = [*pins.files]
    return [
        Group(name, {pin: [each.place for each in holdings if pin in each.held] for pin in group})
        for name, group in members.items()
        if group
    ]


def _print(groups: Sequence[Group], answers: Sequence[Holdings]) -> None:
    rows = []
    for group in groups:
        counts = [len(places) for places in group.places.values()]
        numbers = (len(counts), sum(c >= ENOUGH for c in counts), counts.count(1), counts.count(0))
        rows.append((group.name, *map(str, numbers)))
    print_table(("pinned",), ("files", f"{ENOUGH} places or more", "1 place", "none"), rows)
    if scarce := [row for group in groups for row in _scarce_rows(group)]:
        print()
        print_table(("file", "its only place"), (), scarce)
    for each in answers:
        if each.failure:
            print(f"\n{each.place} was not asked to the end: {each.failure}")
        for pin, problem in each.problems.items():
            print(f"\n{_label(pin)}: {problem}")


def _label(pin: Pin) -> str:
    if isinstance(pin, DebPin):
        return f"{pin.suite}/{pin.name} {pin.version}"
    return pin.filename


def _scarce_rows(group: Group) -> list[tuple[str, str]]:
    places = set(group.scarce.values())
    if len(group.scarce) == len(group.places) > 1 and len(places) == 1:
        return [(f"all {len(group.scarce)} {group.name}", places.pop())]
    return [(_label(pin), place) for pin, place in group.scarce.items()]


def _require_enough(groups: Sequence[Group]) -> None:
    scarce = [place for group in groups for place in group.scarce.values()]
    if scarce:
        gone = scarce.count("none")
        raise ScarceError(
            f"{plural(len(scarce), 'pinned file')} at fewer than {ENOUGH} places",
            expected=f"{ENOUGH} places or more for each",
            found=f"{len(scarce) - gone} at one place, {gone} at none",
            fix="keep a copy while you can; or name further places: DEBIAN_SNAPSHOT_MIRROR, pip's "
            "extra-index-url or find-links, THEANO_STACKS_CHANNEL, THEANO_STACKS_VENDOR",
        )


def _as_json(groups: Sequence[Group], answers: Sequence[Holdings]) -> str:
    """Return the report as JSON: the same answers give the same text."""
    content = {
        "places": [{"place": each.place, "failure": each.failure} for each in answers],
        "groups": [
            {
                "name": group.name,
                "files": [
                    {
                        **{key: getattr(pin, key) for key in KEYS},
                        "places": places,
                        "problems": [e.problems[pin] for e in answers if pin in e.problems],
                    }
                    for pin, places in group.places.items()
                ],
            }
            for group in groups
        ],
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


def _channels(workspace: Workspace, web: Web) -> list[Place]:
    """Return the vendored and published channels that a build asks."""
    channels = []
    for place in published_places(workspace, web):
        # Most repositories have none of those that nobody configured.
        with suppress(FetchError):
            if not place.warns:
                place.check()
            channels.append(place)
    return channels


def packages_by_source(workspace: Workspace, pins: Pins) -> dict[Pin, frozenset[LockedPackage]]:
    """Return the packages of the locks that are made of each source, but of what pip installs.

    A place that has all of them needs the source no more.
    """
    variants = all_variants(workspace)
    locked = (each for variant in variants for each in lock.read(workspace, variant).packages)
    packages = {each.filename: each for each in locked}
    direct = {pin for variant in variants for pin in texts.requirements_of(variant, pins)}
    made: dict[Pin, set[LockedPackage]] = {}
    for name, candidate in with_settings(read_channel(workspace), variants).candidates.items():
        # With the sources of the tools that make it.
        for each in (candidate, *candidate.tools) if name in packages else ():
            for pin in set(each.recipe.pins(pins)) - direct:
                made.setdefault(pin, set()).add(packages[name])
    return {pin: frozenset(members) for pin, members in made.items()}


def with_sources(holdings: Holdings, made: Mapping[Pin, frozenset[LockedPackage]]) -> Holdings:
    """Return the holdings of a place with the sources that its packages stand for."""
    covered = {pin for pin, packages in made.items() if holdings.held.issuperset(packages)}
    return replace(holdings, held=holdings.held | covered)
