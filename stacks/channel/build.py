"""Building the channel's packages in parallel."""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from stacks.channel import assemble, package
from stacks.channel.offers import Channel, Offer
from stacks.channel.package import Built
from stacks.core import log
from stacks.core.console import step
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import Pin, Pins


def build_missing(
    workspace: Workspace,
    channel: Channel,
    offers: Iterable[Offer],
    *,
    also: Iterable[Pin] = (),
    finished: Callable[[Offer], None] = lambda offer: None,
) -> dict[str, Built]:
    """Return the packages by file name; build those missing from the cache, in parallel.

    All missing sources, and the pins in `also`, are fetched first: the rest needs no network.
    `finished` is called for each package that was built.
    """
    offers = tuple(offers)
    built = {o.file_name: package.cached(workspace, o.recipe, o.inputs) for o in offers}
    missing = [offer for offer in offers if built[offer.file_name] is None]
    fetch(
        workspace,
        {*also, *(pin for offer in missing for pin in _sources(workspace, offer, channel.pins))},
    )
    if missing:
        built |= _build_missing(workspace, channel, missing, finished)
    return {name: each for name, each in built.items() if each is not None}


def _sources(workspace: Workspace, offer: Offer, pins: Pins) -> Iterator[Pin]:
    """Yield the pins of an offer, and of its tools that are missing from the cache."""
    yield from offer.recipe.pins(pins)
    for tool in offer.tools:
        tool_pins = tool.pins(pins)
        if package.cached(workspace, tool, assemble.inputs_hash(tool, tool_pins)) is None:
            yield from tool_pins


def _build_missing(
    workspace: Workspace,
    channel: Channel,
    missing: Sequence[Offer],
    finished: Callable[[Offer], None],
) -> dict[str, Built]:
    # The largest first, so that no worker ends long after the others.
    def weight(offer: Offer) -> int:
        return sum(pin.size for pin in offer.recipe.pins(channel.pins))

    built = {}
    with ProcessPoolExecutor(
        max_workers=min(len(missing), len(os.sched_getaffinity(0))),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin_worker,
    ) as pool:
        jobs = {
            pool.submit(_build_logged, workspace, offer, channel.pins): offer
            for offer in sorted(missing, key=weight, reverse=True)
        }
        try:
            for job in as_completed(jobs):
                result, records = job.result()
                for record in records:
                    logging.getLogger(record.name).handle(record)
                if isinstance(result, StacksError):
                    raise result
                built[jobs[job].file_name] = result
                finished(jobs[job])
        except BrokenProcessPool as error:
            raise StacksError(
                "a process that built a package was killed",
                fix="if nobody killed it, memory was short: close other programs and try again; "
                "finished packages are kept",
            ) from error
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return built


def _build_logged(
    workspace: Workspace, offer: Offer, pins: Pins
) -> tuple[Built | StacksError, list[logging.LogRecord]]:
    """Build a package in a worker process; return it, or the error, and the log."""
    with log.collected() as records:
        try:
            return package.build(workspace, offer.recipe, pins, offer.tools), records
        except StacksError as error:
            return error, records


def _begin_worker() -> None:
    """Leave ctrl-C to the parent process, and end when it ends, even if it is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def build_packages(
    workspace: Workspace, channel: Channel, offers: Iterable[Offer], also: Iterable[Pin] = ()
) -> dict[str, Built]:
    """Do as `build_missing`, and print how many packages were built."""
    offers = tuple(offers)
    fresh: list[Offer] = []
    with step("channel", "") as summaries:
        built = build_missing(workspace, channel, offers, also=also, finished=fresh.append)
        summaries.append(f"{len(fresh)} packages built, {len(offers) - len(fresh)} from the cache")
    return built
