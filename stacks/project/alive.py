"""The places that still have each pinned source, and which sources will be dropped soon."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from stacks.core.console import plural, print_table, step
from stacks.core.disk import write_atomically
from stacks.core.errors import FetchError, ScarceError, StacksError
from stacks.core.workspace import Workspace
from stacks.project import alive_packages
from stacks.sources import alive, suites
from stacks.sources.alive import Holdings
from stacks.sources.debian_archive import Clock
from stacks.sources.debian_mirrors import EndedReleases, current_mirrors
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import public_url
from stacks.sources.pins import DebPin, Pin, Pins, read_pins
from stacks.sources.places import Place, index_places, mirror_place, vendored_places
from stacks.sources.retrieve import address_wheel
from stacks.sources.web import StoppedError, Web, environment_web

# Each file should be at so many places: one may go at any time.
ENOUGH = 2
SOON = timedelta(days=180)


@dataclass(frozen=True)
class Group:
    """One class of pinned files: its name, the files, and why mirrors will drop them soon."""

    name: str
    pins: tuple[Pin, ...]
    warnings: tuple[str, ...] = ()


def report(
    workspace: Workspace,
    *,
    path: Path | None = None,
    clock: Clock = lambda: datetime.now(timezone.utc),
) -> None:
    """Ask every place that a build would ask for the pinned files, and print where they are.

    path: also write what each place has there, as JSON. Raises ScarceError if a file is at one
    place only or at none, FetchError if no place answers.
    """
    pins, stop = read_pins(workspace.sources_lock), threading.Event()
    web, roots = environment_web(stop), _archive_roots(workspace)
    places = [mirror_place(web, root) for root in roots]
    places += [*index_places(stop), *vendored_places(stop)]
    published = alive_packages.published(workspace, pins, web)
    places += published.places
    files: list[Pin] = [*pins.debs, *pins.sources, *pins.files, *published.packages]
    with step("asked", f"{plural(len(places), 'place')} for {len(files)} files"):
        answers = alive.survey(places, files, stop)
    _require_an_answer(places, answers)
    holdings = alive_packages.with_packages(answers, published)
    groups = _groups(pins, _warnings(workspace, pins, web, roots, clock()))
    if published.packages:
        groups.append(Group("packages made of these", published.packages))
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
    return tuple(
        dict.fromkeys((*(mirror.url for mirror in current_mirrors(wheel)), *ended.roots()))
    )


def _require_an_answer(places: Sequence[Place], holdings: Sequence[Holdings]) -> None:
    failures = [each.failure for each in holdings if each.failure]
    if places and len(failures) == len(places):
        raise FetchError(
            f"none of {plural(len(places), 'place')} answers to the end",
            found="; ".join(failures),
            fix="check the network and try again",
        )


def _warnings(
    workspace: Workspace, pins: Pins, web: Web, roots: Sequence[str], now: datetime
) -> dict[str, tuple[str, ...]]:
    """Return by suite why mirrors may drop its files soon."""
    table = [pin for pin in pins.debs if pin.name == suites.PACKAGE]
    dates: Mapping[str, suites.Support] = {}
    try:
        dates = suites.support_dates(fetch(workspace, table)[table[0]]) if table else {}
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


def _support_warnings(support: suites.Support | None, now: datetime) -> list[str]:
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
        until = suites.valid_until(web, root, suite)
    except StoppedError:
        raise
    except FetchError:
        # That the place fails, or has no such suite, shows in its files.
        return None
    return f"expired {until:%Y-%m-%d} at {public_url(root)}" if until and until < now else None


def _groups(pins: Pins, warnings: Mapping[str, tuple[str, ...]]) -> list[Group]:
    kinds: dict[tuple[str, str], list[Pin]] = {}
    for pin in pins.debs:
        kinds.setdefault((pin.suite, "debs"), []).append(pin)
    for pin in pins.sources:
        kinds.setdefault((pin.suite, "source packages"), []).append(pin)
    groups = [
        Group(f"{kind} of {suite}", tuple(members), warnings[suite])
        for (suite, kind), members in sorted(kinds.items())
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
                        "name": pin.name,
                        "version": pin.version,
                        "filename": pin.filename,
                        "size": pin.size,
                        "sha256": pin.sha256,
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
