"""Building the channel's packages in parallel."""

from __future__ import annotations

import logging
import os
import queue
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from graphlib import TopologicalSorter

from stacks.channel import assemble, package
from stacks.channel.build_process import BuildProcess
from stacks.channel.offers import Channel, Offer
from stacks.channel.package import Built, Digests
from stacks.core import log
from stacks.core.console import plural, step
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import Pin, Pins

# The origin of a package that was built.
SOURCES = "sources"


def build_missing(
    workspace: Workspace,
    channel: Channel,
    offers: Iterable[Offer],
    *,
    also: Iterable[Pin] = (),
    locked: Mapping[str, Digests] | None = None,
    origins: dict[str, str] | None = None,
) -> dict[str, Built]:
    """Return the packages by file name; take those missing from the cache from the places.

    What no place has is built, in parallel. All missing sources, and the pins in `also`, are
    fetched first: the rest needs no network. locked: the bytes of each package; with None, no place
    is asked, and what came from one is built again. origins: gets the place of each package that
    was not in the cache, or SOURCES.
    """
    offers, origins = tuple(offers), {} if origins is None else origins
    built_here = locked is None
    packages = {}
    for offer in offers:
        built = package.cached(workspace, offer.recipe, offer.inputs, built_here=built_here)
        if built:
            packages[offer.file_name] = built
    missing = [offer for offer in offers if offer.file_name not in packages]
    if missing and locked is not None:
        for name, (place, built) in _take(workspace, missing, locked).items():
            origins[name], packages[name] = place, built
        missing = [offer for offer in missing if offer.file_name not in packages]
    fetch(
        workspace,
        {
            *also,
            *(
                pin
                for offer in missing
                for pin in _sources(workspace, offer, channel.pins, built_here)
            ),
        },
    )
    if missing:
        packages |= _build_missing(workspace, channel, missing, built_here)
        origins |= {offer.file_name: SOURCES for offer in missing}
    return packages


def _take(
    workspace: Workspace, missing: Sequence[Offer], locked: Mapping[str, Digests]
) -> dict[str, tuple[str, Built]]:
    """Take packages from the places into the cache; return each with the name of its place."""
    # Loaded here: most runs find all in the cache and need no HTTP library.
    from stacks.channel import places, retrieval

    asked = places.places_of(workspace)
    taken = retrieval.retrieve(workspace, asked, missing, locked) if asked else {}
    return {name: (each.place.name, each.built) for name, each in taken.items()}


def _sources(workspace: Workspace, offer: Offer, pins: Pins, built_here: bool) -> Iterator[Pin]:
    """Yield the pins of an offer, and of its tools that are missing from the cache."""
    yield from offer.recipe.pins(pins)
    for tool in offer.tools:
        tool_pins = tool.pins(pins)
        inputs = assemble.inputs_hash(tool, tool_pins)
        if package.cached(workspace, tool, inputs, built_here=built_here) is None:
            yield from tool_pins


def _build_missing(
    workspace: Workspace, channel: Channel, missing: Sequence[Offer], built_here: bool
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
        try:
            result: tuple[Built | StacksError, list[logging.LogRecord]] = process.call(
                _build_logged, workspace, offer, channel.pins, built_here
            )
            return result
        finally:
            idle.put(process)

    order = TopologicalSorter(_tools_of(missing))
    order.prepare()
    jobs = {}
    with ThreadPoolExecutor(max_workers=len(processes)) as pool:
        try:
            while order.is_active():
                # The largest first, so that no worker ends long after the others.
                for name in sorted(order.get_ready(), key=size, reverse=True):
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
    return built


def _tools_of(missing: Sequence[Offer]) -> dict[str, list[str]]:
    """Return for each package those that it is built with, so that no worker waits for another."""
    return {
        offer.file_name: [tool.file_name for tool in missing if tool.recipe in offer.tools]
        for offer in missing
    }


def _build_logged(
    workspace: Workspace, offer: Offer, pins: Pins, built_here: bool
) -> tuple[Built | StacksError, list[logging.LogRecord]]:
    """Build a package in a process of its own; return it, or the error, and the log."""
    with log.collected() as records:
        try:
            built = package.build(workspace, offer.recipe, pins, offer.tools, built_here=built_here)
            return built, records
        except StacksError as error:
            return error, records


def build_packages(
    workspace: Workspace,
    channel: Channel,
    offers: Iterable[Offer],
    also: Iterable[Pin] = (),
    locked: Mapping[str, Digests] | None = None,
) -> dict[str, Built]:
    """Do as `build_missing`, and print how many packages came from where."""
    offers = tuple(offers)
    origins: dict[str, str] = {}
    with step("channel", "") as summaries:
        built = build_missing(workspace, channel, offers, also=also, locked=locked, origins=origins)
        counts = Counter(origins.values())
        words = [f"{plural(counts.pop(SOURCES, 0), 'package')} built"]
        words += [f"{count} fetched from {place}" for place, count in counts.items()]
        words.append(f"{len(offers) - len(origins)} from the cache")
        summaries.append(", ".join(words))
    return built
