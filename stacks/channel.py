"""The project's own conda channel: what it offers, what specs need of it, and building that.

Solving needs metadata only, so only the packages of a solution are ever built.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rattler
from rattler.exceptions import InvalidMatchSpecError, SolverError
from rattler.index import index_fs

from stacks import conda, package
from stacks.disk import BUILD, aside, scratch
from stacks.errors import StacksError, UsageError
from stacks.fetch import fetch
from stacks.package import Built
from stacks.recipe import RECIPES, SOURCES_LOCK, Recipe, read_recipes
from stacks.sources import Pin, Pins, read_pins
from stacks.stages import LocalTarball

# Where locks say that the packages are: `./invoke serve` answers there.
PORT = 8420
URL = f"http://localhost:{PORT}/theano-stacks"
FOLDER = BUILD / "channel"
# The system that a lock is solved for, whatever the machine that solves it has.
VIRTUAL_PACKAGES = {"__unix": "0", "__linux": "5.4", "__archspec": "1"}


@dataclass(frozen=True)
class Offer:
    """A package that the channel can give: a recipe, and the hash of all that it is built from.

    `tools` are the recipes of the packages that it is built with.
    """

    recipe: Recipe
    inputs: str
    tools: tuple[Recipe, ...] = ()

    @property
    def file_name(self) -> str:
        """The package's file in the channel."""
        return package.file_name(self.recipe, self.inputs)

    @property
    def build_string(self) -> str:
        """The package's conda build string."""
        return package.build_string(self.recipe, self.inputs)

    @property
    def index(self) -> dict[str, Any]:
        """What conda's index.json and repodata.json say of the package, without its hashes."""
        return {
            "name": self.recipe.package.name,
            "version": self.recipe.package.version,
            "build": self.build_string,
            "build_number": self.recipe.build.number,
            "depends": list(self.recipe.requirements.run),
            "constrains": list(self.recipe.requirements.run_constraints),
            "subdir": self.recipe.subdir,
            "noarch": self.recipe.build.noarch,
            "license": self.recipe.about.license,
            "timestamp": int(package.TIMESTAMP.timestamp() * 1000),
        }

    @property
    def url(self) -> str:
        """Where a lock says that the package is."""
        return f"{URL}/{self.recipe.subdir}/{self.file_name}"


@dataclass(frozen=True)
class Channel:
    """Every package that the recipes describe, by file name, and the pins of their sources."""

    offers: Mapping[str, Offer]
    pins: Pins


def read_channel(recipes: Path = RECIPES, sources: Path = SOURCES_LOCK) -> Channel:
    """Return what the recipes and pins offer; UsageError where one of them is wrong."""
    pins = read_pins(sources)
    # What is made of a file of the user's own is nothing that a lock could promise.
    known = {
        name: recipe
        for name, recipe in read_recipes(recipes).items()
        if not isinstance(recipe.extra, LocalTarball)
    }
    offers = [_offer(recipe, known, pins) for recipe in known.values()]
    return Channel({offer.file_name: offer for offer in offers}, pins)


def _offer(recipe: Recipe, known: Mapping[str, Recipe], pins: Pins) -> Offer:
    tools = tuple(_tool(name, recipe, known) for name in recipe.requirements.build)
    hashes = [package.inputs_hash(tool, tool.pins(pins)) for tool in tools]
    return Offer(recipe, package.inputs_hash(recipe, recipe.pins(pins), hashes), tools)


def _tool(name: str, recipe: Recipe, known: Mapping[str, Recipe]) -> Recipe:
    """Return the recipe of a package that another one is built with."""
    found = [other for other in known.values() if other.package.name == name]
    if len(found) != 1 or found[0].requirements.build:
        raise UsageError(
            f"the recipe {recipe.package.name} cannot be built with {name}",
            expected="the name of exactly one package of the channel, itself built with none",
            found=f"{len(found)} packages of that name",
            mend="correct `requirements.build` in the recipe",
        )
    return found[0]


def repodata(offers: Iterable[Offer], subdir: str) -> str:
    """Return a repodata.json over the offers of one subdir, without hashes of packages."""
    packages = {offer.file_name: offer.index for offer in offers if offer.recipe.subdir == subdir}
    return json.dumps({"info": {"subdir": subdir}, "packages": {}, "packages.conda": packages})


def solve(channel: Channel, specs: Sequence[str], glibc: str = "2.31") -> tuple[Offer, ...]:
    """Return the packages that satisfy the specs and their dependencies, sorted by name.

    `glibc` is the oldest C library that they must run on.

    Raises UsageError with the solver's own explanation where there is no solution.
    """
    with scratch() as folder:
        for subdir in ("linux-64", "noarch"):
            (folder / subdir).mkdir()
            text = repodata(channel.offers.values(), subdir)
            (folder / subdir / "repodata.json").write_text(text)
        mend = "correct the specs in envs/, or the requirements of the recipes"
        records = solve_index(folder, specs, glibc, "the channel", mend)
    return tuple(channel.offers[record.file_name] for record in records)


def solve_index(
    folder: Path, specs: Sequence[str], glibc: str, name: str, mend: str
) -> list[rattler.RepoDataRecord]:
    """Return the packages of an indexed folder that satisfy the specs, sorted by name.

    Where it cannot satisfy them, a UsageError tells so of `name`, with the mend.
    """
    try:
        with conda.told(folder, f"the index of {name} cannot be read"):
            records = asyncio.run(_solve(folder, specs, glibc))
    except (SolverError, InvalidMatchSpecError) as error:
        raise UsageError(f"{name} cannot satisfy {', '.join(specs)}\n{error}", mend=mend) from error
    return sorted(records, key=lambda record: record.name.normalized)


async def _solve(folder: Path, specs: Sequence[str], glibc: str) -> list[rattler.RepoDataRecord]:
    return await rattler.solve(
        sources=[rattler.Channel(folder.as_uri() + "/")],
        specs=[rattler.MatchSpec(spec, strict=False) for spec in specs],
        gateway=rattler.Gateway(cache_dir=folder / "cache"),
        platforms=["linux-64", "noarch"],
        virtual_packages=[
            rattler.GenericVirtualPackage(
                rattler.PackageName(name),
                rattler.Version(version),
                rattler.BuildString("x86_64" if name == "__archspec" else "0"),
            )
            for name, version in {**VIRTUAL_PACKAGES, "__glibc": glibc}.items()
        ],
        timeout=datetime.timedelta(minutes=1),
    )


def build(
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
    built = {o.file_name: package.cached(o.recipe, o.inputs) for o in offers}
    missing = [offer for offer in offers if built[offer.file_name] is None]
    fetch({*also, *(pin for offer in missing for pin in _sources(offer, channel.pins))})
    if missing:
        built |= _build_missing(channel, missing, finished)
    return {name: found for name, found in built.items() if found is not None}


def _sources(offer: Offer, pins: Pins) -> Iterator[Pin]:
    """Yield the pins of an offer and of the tools that have to be built for it."""
    yield from offer.recipe.pins(pins)
    for tool in offer.tools:
        wanted = tool.pins(pins)
        if package.cached(tool, package.inputs_hash(tool, wanted)) is None:
            yield from wanted


def _build_missing(
    channel: Channel, missing: Sequence[Offer], finished: Callable[[Offer], None]
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
            pool.submit(package.build, offer.recipe, channel.pins, offer.tools): offer
            for offer in sorted(missing, key=weight, reverse=True)
        }
        try:
            for job in as_completed(jobs):
                built[jobs[job].file_name] = job.result()
                finished(jobs[job])
        except BrokenProcessPool as error:
            raise StacksError(
                "a process that built a package was killed",
                mend="if nobody did, memory was short: close other programs; then run it again, "
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


def publish(channel: Channel, built: Mapping[str, Built], folder: Path = FOLDER) -> None:
    """Write an indexed channel folder that any conda client can use, with the given packages."""
    with aside(folder) as made:
        for name, found in built.items():
            target = made / channel.offers[name].recipe.subdir / name
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(found.path, target)
            except OSError:
                target.write_bytes(found.path.read_bytes())
        (made / "noarch").mkdir(parents=True, exist_ok=True)
        asyncio.run(index_fs(made))
