"""DOC."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool

from rattler.index import index_fs

from stacks.channel import assemble, package
from stacks.channel import build as package_builds
from stacks.channel.offers import Channel, Offer
from stacks.channel.package import Built
from stacks.core.console import step
from stacks.core.disk import aside
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
    """Return the built packages by file name, building side by side what the cache lacks.

    All that is missing is fetched first, and what `also` names with it: after that nothing needs
    the network. `finished` is called for each package that had to be built.
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
    return {name: found for name, found in built.items() if found is not None}


def _sources(workspace: Workspace, offer: Offer, pins: Pins) -> Iterator[Pin]:
    """Yield the pins of an offer and of the tools that have to be built for it."""
    yield from offer.recipe.pins(pins)
    for tool in offer.tools:
        wanted = tool.pins(pins)
        if package.cached(workspace, tool, assemble.inputs_hash(tool, wanted)) is None:
            yield from wanted


def _build_missing(
    workspace: Workspace,
    channel: Channel,
    missing: Sequence[Offer],
    finished: Callable[[Offer], None],
) -> dict[str, Built]:
    # The largest first, so that the last worker is not left alone with it.
    def weight(offer: Offer) -> int:
        return sum(pin.size for pin in offer.recipe.pins(channel.pins))

    built = {}
    with ProcessPoolExecutor(
        max_workers=min(len(missing), len(os.sched_getaffinity(0))),
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_begin_worker,
    ) as pool:
        jobs = {
            pool.submit(package.build, workspace, offer.recipe, channel.pins, offer.tools): offer
            for offer in sorted(missing, key=weight, reverse=True)
        }
        try:
            for job in as_completed(jobs):
                built[jobs[job].file_name] = job.result()
                finished(jobs[job])
        except BrokenProcessPool as error:
            raise StacksError(
                "a process that built a package was killed",
                fix="if nobody did, memory was short: close other programs; then run it again, "
                "what is finished is kept",
            ) from error
        except BaseException:
            for process in list((pool._processes or {}).values()):
                process.terminate()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return built


def _begin_worker() -> None:
    """Leave ctrl-C to the parent, and end with the parent, even where that one is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    assert parent is not None

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


def write_index(
    workspace: Workspace,
    channel: Channel,
    built: Mapping[str, Built],
) -> None:
    """Write an indexed channel folder that any conda client can use, with the given packages."""
    with aside(workspace.channel) as made:
        for name, found in built.items():
            target = made / channel.offers[name].recipe.subdir / name
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(found.path, target)
            except OSError:
                target.write_bytes(found.path.read_bytes())
        (made / "noarch").mkdir(parents=True, exist_ok=True)
        asyncio.run(index_fs(made))


def build_packages(
    workspace: Workspace, channel: Channel, offers: Iterable[Offer], also: Iterable[Pin] = ()
) -> dict[str, Built]:
    """Return the built packages by file name, telling what had to be built.

    The pins in `also` are fetched together with the sources of what is missing.
    """
    offers = tuple(offers)
    fresh: list[Offer] = []
    with step("channel", "") as told:
        built = package_builds.build_missing(
            workspace, channel, offers, also=also, finished=fresh.append
        )
        told.append(f"{len(fresh)} packages built, {len(offers) - len(fresh)} from the cache")
    return built
