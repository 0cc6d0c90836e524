"""Building the channel's packages in parallel."""

from __future__ import annotations

import logging
import os
import queue
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from graphlib import TopologicalSorter

from stacks.channel import package
from stacks.channel.build_process import BuildProcess
from stacks.channel.locked_package import LockedPackage
from stacks.channel.offers import Channel, Offer
from stacks.channel.package import Built
from stacks.core import log
from stacks.core.console import plural, step
from stacks.core.errors import IntegrityError, StacksError, UsageError
from stacks.core.workspace import VERSION, Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import Pin, Pins

# The origin of a package that was built.
SOURCES = "sources"


def build_packages(
    workspace: Workspace,
    channel: Channel,
    offers: Iterable[Offer],
    also: Iterable[Pin] = (),
    *,
    quiet: bool = False,
) -> dict[str, Built]:
    """Return the packages by file name; build in parallel those that this code has not built.

    All missing sources, and the pins in `also`, are fetched first: the rest needs no network.
    Unless quiet, a line says how many were built.
    """
    offers = tuple(offers)
    with _counted(len(offers), quiet) as counted:
        return _build(workspace, channel, offers, also, counted)


def obtain_packages(
    workspace: Workspace,
    channel: Channel,
    packages: Sequence[LockedPackage],
    also: Iterable[Pin] = (),
    made_by: str = "",
    *,
    quiet: bool = False,
) -> dict[str, Built]:
    """Return the packages of a lock by file name, each with the locked bytes.

    A package is taken by its SHA-256 from the cache, else from the first place that has it, and
    only else built from sources, if a recipe of the channel gives its file name. Pins in `also` are
    fetched too. Unless quiet, a line says how many came from where. made_by: the version that made
    the lock, if known. Raises MissingPackagesError for packages that are nowhere, IntegrityError if
    one that was built has other bytes.
    """
    with _counted(len(packages), quiet) as counted:
        found = {}
        for each in packages:
            if built := package.sound(workspace, each.file_name, each.sha256):
                found[each.file_name] = built
        if missing := [each for each in packages if each.file_name not in found]:
            # Loaded here: most runs find all in the cache and need no HTTP library.
            from stacks.channel import retrieval
            from stacks.sources.channels import published_channels

            channels = published_channels(workspace)
            for name, taken in retrieval.retrieve(workspace, channels, missing).items():
                counted.origins[name], found[name] = taken.place.name, taken.built
            missing = [each for each in missing if each.file_name not in found]
        if nowhere := [each for each in missing if each.file_name not in channel.offers]:
            raise MissingPackagesError(nowhere, made_by)
        offers = [channel.offers[each.file_name] for each in missing]
        built_here = _build(workspace, channel, offers, also, counted)
        check_bytes(missing, built_here)
        return found | built_here


class MissingPackagesError(UsageError):
    """Packages of a lock that no place has and no recipe gives."""

    def __init__(self, packages: Sequence[LockedPackage], made_by: str) -> None:
        names = "".join(f"\n  - {each.file_name}" for each in packages)
        maker = f"theano-stacks {made_by}" if made_by else "an earlier version of theano-stacks"
        super().__init__(
            f"{plural(len(packages), 'locked package')} cannot be found:{names}",
            expected="each in the cache, a vendored folder, a published channel, or the recipes of "
            "this version",
            found=f"the lock was made by {maker}; this is {VERSION}",
            fix="name a channel or a vendored folder that has them (THEANO_STACKS_CHANNEL, "
            "THEANO_STACKS_VENDOR; that version writes both), or take the packages of this "
            "version: `./invoke lock --upgrade`, with the --variant that you build",
        )


def check_bytes(locked: Iterable[LockedPackage], built: Mapping[str, Built]) -> None:
    """Raise IntegrityError if a package that was built has other bytes than the locked ones."""
    for each in locked:
        found = built[each.file_name]
        if found.sha256 != each.sha256:
            raise IntegrityError(
                f"{each.file_name}: built from its sources, it has other bytes than the lock names",
                expected=f"sha256 {each.sha256}",
                found=f"sha256 {found.sha256}",
                fix="if this checkout's code or tools were changed: raise the `revision` of its "
                "stage (its class in stacks/channel/staging/), or the recipe's build number, then "
                "`./invoke lock`; if the lock was edited: put it back; else please report it: a "
                "build must not depend on the machine",
            )


def _build(
    workspace: Workspace,
    channel: Channel,
    offers: Sequence[Offer],
    also: Iterable[Pin],
    counted: _Counted,
) -> dict[str, Built]:
    """Return the packages by file name; the origin of each that was built is SOURCES."""
    packages = {}
    for offer in offers:
        if built := package.built_before(workspace, offer):
            packages[offer.file_name] = built
    missing = [offer for offer in offers if offer.file_name not in packages]
    pins = {pin for offer in missing for pin in _sources(workspace, offer, channel.pins)}
    fetch(workspace, {*also, *pins})
    if missing:
        packages |= _build_missing(workspace, channel, missing, counted)
        counted.origins |= {offer.file_name: SOURCES for offer in missing}
    return packages


def _sources(workspace: Workspace, offer: Offer, pins: Pins) -> Iterator[Pin]:
    """Yield the pins of an offer, and of its tools that must be built first."""
    yield from offer.recipe.pins(pins)
    for tool in offer.tools:
        if package.built_before(workspace, tool) is None:
            yield from tool.recipe.pins(pins)


def _build_missing(
    workspace: Workspace, channel: Channel, missing: Sequence[Offer], counted: _Counted
) -> dict[str, Built]:
    offers = {offer.file_name: offer for offer in missing}

    def size(name: str) -> int:
        return sum(pin.size for pin in offers[name].recipe.pins(channel.pins))

    built = {}
    processes = [BuildProcess() for _ in range(min(len(missing), len(os.sched_getaffinity(0))))]
    idle: queue.SimpleQueue[BuildProcess] = queue.SimpleQueue()
    for process in processes:
        idle.put(process)

    def build_one(offer: Offer) -> tuple[Built | StacksError, list[logging.LogRecord]]:
        process = idle.get()
        counted.begin(offer, len(missing))
        try:
            result: tuple[Built | StacksError, list[logging.LogRecord]] = process.call(
                _build_logged, workspace, offer, channel.pins
            )
            return result
        finally:
            counted.end(offer, len(missing))
            idle.put(process)

    tools = _tools_of(missing)
    awaited = {name for names in tools.values() for name in names}
    order = TopologicalSorter(tools)
    order.prepare()
    jobs: dict[Future[tuple[Built | StacksError, list[logging.LogRecord]]], str] = {}
    ready: list[str] = []
    with ThreadPoolExecutor(max_workers=len(processes)) as pool:
        try:
            while order.is_active():
                ready += order.get_ready()
                # What others wait for comes first, then the largest, so that no worker ends long
                # after the others.
                ready.sort(key=lambda name: (name in awaited, size(name)))
                while ready and len(jobs) < len(processes):
                    name = ready.pop()
                    jobs[pool.submit(build_one, offers[name])] = name
                for job in wait(jobs, return_when=FIRST_COMPLETED).done:
                    name = jobs.pop(job)
                    result, records = job.result()
                    for record in records:
                        logging.getLogger(record.name).handle(record)
                    if isinstance(result, StacksError):
                        raise result
                    built[name] = result
                    order.done(name)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        finally:
            for process in processes:
                process.end()
            # They were killed with what they had begun, if not all was built.
            package.remove_left_by_killed(workspace)
    return built


def _tools_of(missing: Sequence[Offer]) -> dict[str, list[str]]:
    """Return for each package those that it is built with, so that no worker waits for another."""
    return {
        offer.file_name: [tool.file_name for tool in missing if tool in offer.tools]
        for offer in missing
    }


def _build_logged(
    workspace: Workspace, offer: Offer, pins: Pins
) -> tuple[Built | StacksError, list[logging.LogRecord]]:
    """Build a package in a process of its own; return it, or the error, and the log."""
    with log.collected() as records:
        try:
            return package.build(workspace, offer, pins), records
        except StacksError as error:
            return error, records


class _Counted:
    """What a step says of its packages.

    origins: of each that was not in the cache, the name of the place that had it, or SOURCES.
    summaries: those of `step`; the last one is what it does now.
    """

    def __init__(self, summaries: list[str]) -> None:
        self.origins: dict[str, str] = {}
        self.summaries = summaries
        self._running: list[str] = []
        self._ended = 0
        self._lock = threading.Lock()

    def begin(self, offer: Offer, total: int) -> None:
        """Name a package that is being built, one of `total`."""
        with self._lock:
            self._running.append(_title(offer))
            self._say(total)

    def end(self, offer: Offer, total: int) -> None:
        """Count a package that is built."""
        with self._lock:
            self._running.remove(_title(offer))
            self._ended += 1
            self._say(total)

    def _say(self, total: int) -> None:
        done = f"{self._ended} of {plural(total, 'package')} built"
        now = f"building {' and '.join(self._running)}" if self._running else ""
        self.summaries.append(", ".join(filter(None, (now, done))))


def _title(offer: Offer) -> str:
    about = offer.recipe.package
    return f"{about.name} {about.version}"


@contextmanager
def _counted(total: int, quiet: bool) -> Iterator[_Counted]:
    """Give the origins for each package that was not in the cache; print their counts."""
    if quiet:
        yield _Counted([])
        return
    with step("channel", plural(total, "package")) as summaries:
        counted = _Counted(summaries)
        yield counted
        origins = counted.origins
        counts = Counter(origins.values())
        words = [f"{plural(counts.pop(SOURCES, 0), 'package')} built"]
        words += [f"{count} fetched from {place}" for place, count in counts.items()]
        words.append(f"{total - len(origins)} from the cache")
        summaries.append(", ".join(words))
