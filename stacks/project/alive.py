"""The places that still have each pinned source, and which sources will be dropped soon.

Published packages stand for the sources that they are made of.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from stacks.channel.offers import read_channel, with_settings
from stacks.channel.retrieval import pin_of
from stacks.core.console import plural, print_table, step
from stacks.core.disk import write_atomically
from stacks.core.errors import FetchError, ScarceError, StacksError
from stacks.core.workspace import Workspace
from stacks.locks import lock, texts
from stacks.sources import debian_release
from stacks.sources import places as known
from stacks.sources.channels import published_channels
from stacks.sources.debian_mirrors import EndedReleases, current_mirrors
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import public_url
from stacks.sources.pins import CondaPin, DebPin, Pin, Pins, read_pins
from stacks.sources.places import Holdings, Place
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import StoppedError, Web, environment_web
from stacks.variants.load import all_variants

# Each file should be at so many places: one may go at any time.
ENOUGH = 2
SOON = timedelta(days=180)
BUILT = "built from sources"
# Of a pin in the report.
KEYS = ("name", "version", "filename", "size", "sha256")


@dataclass(frozen=True)
class Group:
    """One class of pinned files: its name, the files, and why mirrors will drop them soon."""

    name: str
    pins: tuple[Pin, ...]
    warnings: tuple[str, ...] = ()


def report(workspace: Workspace, *, path: Path | None = None, now: datetime | None = None) -> None:
    """Ask every place that a build would ask for the pinned files, and print where they are.

    path: also write what each place has there, as JSON. Raises ScarceError if a file is at one
    place only or at none, FetchError if no place answers.
    """
    pins, stop = read_pins(workspace.sources_lock), threading.Event()
    web, roots = environment_web(stop), _archive_roots(workspace)
    places = [known.mirror_place(web, root) for root in roots]
    channels = published(workspace, pins, web)
    places += [*known.index_places(stop), *known.vendored_places(stop), *channels.places]
    files: list[Pin] = [*pins.debs, *pins.sources, *pins.files, *channels.packages]
    with step("asked", f"{plural(len(places), 'place')} for {len(files)} files"):
        answers = known.survey(places, files, stop)
    failures = [each.failure for each in answers if each.failure]
    if places and len(failures) == len(places):
        raise FetchError(
            f"none of {plural(len(places), 'place')} answers to the end",
            found="; ".join(failures),
            fix="check the network and try again",
        )
    holdings = with_packages(answers, channels)
    now = now or datetime.now(timezone.utc)
    groups = _groups(pins, _warnings(workspace, pins, web, roots, now))
    if channels.packages:
        groups.append(Group("packages made of these", channels.packages))
    _print(groups, holdings)
    if path:
        write_atomically(path, as_json(groups, holdings))
    _require_enough(groups, holdings)


def _archive_roots(workspace: Workspace) -> tuple[str, ...]:
    """Return the roots of Debian's archive: the mirrors, then the archives of ended releases."""
    wheel = address_wheel(workspace)
    ended = EndedReleases(wheel)
    if not ended.roots():
        print(f"warning: not asked: {', '.join(ended.origins())}", file=sys.stderr)
    mirrors = [mirror.url for mirror in current_mirrors(wheel)]
    return tuple(dict.fromkeys((*mirrors, *ended.roots())))


def _warnings(
    workspace: Workspace, pins: Pins, web: Web, roots: Sequence[str], now: datetime
) -> dict[str, tuple[str, ...]]:
    """Return by suite why mirrors may drop its files soon."""
    table = [pin for pin in pins.debs if pin.name == debian_release.PACKAGE]
    dates: Mapping[str, debian_release.Support] = {}
    try:
        dates = debian_release.support_dates(fetch(workspace, table)[table[0]]) if table else {}
    except StacksError as error:
        # The places of the files matter more than the dates.
        print(f"warning: the ends of support are unknown: {error}", file=sys.stderr)
    return {
        suite: (
            *_support_warnings(dates.get(suite.partition("-")[0]), now),
            *(text for root in roots if (text := _expired(web, root, suite, now))),
        )
        for suite in sorted({pin.suite for pin in (*pins.debs, *pins.sources)})
    }


def _support_warnings(support: debian_release.Support | None, now: datetime) -> list[str]:
    if support is None:
        return ["end of support unknown"]
    today = now.date()
    if support.released is None or support.released > today:
        return ["not released: its files change every day"]
    if support.ends and support.ends < today:
        return [f"support ended {support.ends}"]
    if support.ends and support.ends < today + SOON:
        return [f"support ends {support.ends}"]
    return []


def _expired(web: Web, root: str, suite: str, now: datetime) -> str | None:
    try:
        until = debian_release.valid_until(web, root, suite)
    except StoppedError:
        raise
    except FetchError:
        # That the place fails, or has no such suite, shows in its files.
        return None
    return f"expired {until:%Y-%m-%d} at {public_url(root)}" if until and until < now else None


def _groups(pins: Pins, warnings: Mapping[str, tuple[str, ...]]) -> list[Group]:
    groups = [
        Group(f"{kind} of {suite}", members, warnings[suite])
        for suite in sorted(warnings)
        for kind, every in (("debs", pins.debs), ("source packages", pins.sources))
        if (members := tuple(pin for pin in every if pin.suite == suite))
    ]
    if pins.files:
        groups.append(Group("files of the package index", pins.files))
    return groups


def _places_of(pin: Pin, holdings: Sequence[Holdings]) -> list[str]:
    return [each.place for each in holdings if pin in each.held]


def _print(groups: Sequence[Group], holdings: Sequence[Holdings]) -> None:
    rows = []
    for group in groups:
        counts = [len(_places_of(pin, holdings)) for pin in group.pins]
        numbers = (len(counts), sum(c >= ENOUGH for c in counts), counts.count(1), counts.count(0))
        rows.append((group.name, "; ".join(group.warnings), *map(str, numbers)))
    print_table(
        ("pinned", "dropped soon?"), ("files", f"{ENOUGH} places or more", "1 place", "none"), rows
    )
    scarce = [row for group in groups for row in _scarce_rows(group, holdings)]
    if scarce:
        print()
        print_table(("file", "its only place"), (), scarce)
    for each in holdings:
        if each.failure:
            print(f"\n{each.place} was not asked to the end: {each.failure}")
        for pin, problem in each.problems.items():
            print(f"\n{_label(pin)}: {problem}")


def _label(pin: Pin) -> str:
    if isinstance(pin, DebPin):
        return f"{pin.suite}/{pin.name} {pin.version}"
    return pin.filename


def _scarce(group: Group, holdings: Sequence[Holdings]) -> list[tuple[Pin, str]]:
    """Return the files of a group that have one place or none, with that place."""
    located = [(pin, _places_of(pin, holdings)) for pin in group.pins]
    return [(pin, "".join(where) or "none") for pin, where in located if len(where) < ENOUGH]


def _scarce_rows(group: Group, holdings: Sequence[Holdings]) -> list[tuple[str, str]]:
    scarce = _scarce(group, holdings)
    places = {place for _, place in scarce}
    if len(scarce) == len(group.pins) > 1 and len(places) == 1:
        return [(f"all {len(scarce)} {group.name}", places.pop())]
    return [(_label(pin), place) for pin, place in scarce]


def _require_enough(groups: Sequence[Group], holdings: Sequence[Holdings]) -> None:
    scarce = [each for group in groups for each in _scarce(group, holdings)]
    if scarce:
        gone = sum(place == "none" for _, place in scarce)
        raise ScarceError(
            f"{plural(len(scarce), 'pinned file')} at fewer than {ENOUGH} places",
            expected=f"{ENOUGH} places or more for each",
            found=f"{len(scarce) - gone} at one place, {gone} at none",
            fix="keep a copy while you can; or name further places: DEBIAN_SNAPSHOT_MIRROR, pip's "
            "extra-index-url or find-links, THEANO_STACKS_CHANNEL, THEANO_STACKS_VENDOR",
        )


def as_json(groups: Sequence[Group], holdings: Sequence[Holdings]) -> str:
    """Return the report as JSON: the same answers give the same text."""
    content = {
        "places": [{"place": each.place, "failure": each.failure} for each in holdings],
        "groups": [
            {
                "name": group.name,
                "dropped_soon": list(group.warnings),
                "files": [
                    {
                        **{key: getattr(pin, key) for key in KEYS},
                        "places": _places_of(pin, holdings),
                        "problems": [e.problems[pin] for e in holdings if pin in e.problems],
                    }
                    for pin in group.pins
                ],
            }
            for group in groups
        ],
    }
    return json.dumps(content, indent=1, sort_keys=True) + "\n"


@dataclass(frozen=True)
class Published:
    """The vendored and published channels that a build asks, and the packages of the locks.

    sources: what each package is made of. direct: the pins that environments need as they are.
    """

    places: tuple[Place, ...] = ()
    packages: tuple[CondaPin, ...] = ()
    sources: Mapping[CondaPin, Sequence[Pin]] = field(default_factory=dict)
    direct: frozenset[Pin] = frozenset()


def published(workspace: Workspace, pins: Pins, web: Web) -> Published:
    """Return the channels and their packages; nothing if no channel is known."""
    places = [
        place
        for channel in published_channels(workspace)
        if (place := channel.place(web)) and (channel.configured or _is_published(place))
    ]
    if not places:
        return Published()
    variants = all_variants(workspace)
    locked = (each for variant in variants for each in lock.read(workspace, variant).packages)
    packages = {each.file_name: pin_of(each) for each in locked}
    offers = with_settings(read_channel(workspace), variants).offers
    sources = {
        # With those of the tools that make it.
        package: tuple(pin for each in (offer, *offer.tools) for pin in each.recipe.pins(pins))
        for name, package in packages.items()
        # One that the recipes no longer give cannot be built.
        if (offer := offers.get(name))
    }
    direct = {pin for variant in variants for pin in texts.requirements_of(variant, pins)}
    ordered = tuple(packages[name] for name in sorted(packages))
    return Published(tuple(places), ordered, sources, frozenset(direct))


def _is_published(place: Place) -> bool:
    """Return whether a channel that nobody configured exists: most repositories have none."""
    try:
        place.check()
    except StoppedError:
        raise
    except FetchError:
        return False
    return True


def with_packages(holdings: Sequence[Holdings], channels: Published) -> list[Holdings]:
    """Return the holdings with what the packages of a place stand for, and what can be built.

    A place that has every package made of a source needs that source no more, unless it is one of
    `direct`. A package whose sources are all somewhere has a place more: it can be built.
    """
    if not channels.packages:
        return list(holdings)
    made: dict[Pin, set[Pin]] = {}
    for package, pins in channels.sources.items():
        for pin in pins:
            made.setdefault(pin, set()).add(package)
    somewhere = {pin for each in holdings for pin in each.held}
    buildable = frozenset(
        package for package, pins in channels.sources.items() if somewhere.issuperset(pins)
    )
    needless = {pin: packages for pin, packages in made.items() if pin not in channels.direct}
    found = []
    for each in holdings:
        covered = {pin for pin, packages in needless.items() if each.held.issuperset(packages)}
        found.append(replace(each, held=each.held | covered))
    return [*found, Holdings(BUILT, buildable)]
