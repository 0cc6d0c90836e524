"""The way from a variant to its environment: lock -> channel -> prefix."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from stacks import channel as channels
from stacks import host, layer, local, lock, prefix, uses
from stacks.channel import Channel, Offer
from stacks.errors import StaleError, UsageError
from stacks.lock import Lock
from stacks.package import Built
from stacks.part import Part
from stacks.sources import Pin
from stacks.variant import Variant, load_variant


@contextmanager
def step(name: str, what: str) -> Iterator[list[str]]:
    """Print one line when a step is done: its name, what it did, and how long it took."""
    start = time.monotonic()
    told = [what]
    yield told
    seconds = time.monotonic() - start
    print(f"  {name:<9}{told[-1]:<58}{seconds:7.1f} s", file=sys.stderr, flush=True)


def read_lock(variant: Variant, locks: Path = lock.LOCKS) -> tuple[Channel, Lock]:
    """Return the channel and a variant's lock, told in two lines; StaleError where it is stale."""
    print(f"{variant.name} on {variant.framework.name}", file=sys.stderr, flush=True)
    with step("lock", "") as told:
        channel = channels.read_channel()
        locked = lock.check(variant, channel, locks)
        told.append(_contents(len(locked.packages), len(locked.requirements)))
    return channel, locked


def parts_of(variant: Variant, channel: Channel, locked: Lock) -> list[Part]:
    """Return a lock's packages: built, where the cache lacks them, or another channel's, fetched.

    What pip will install is fetched too. Raises UsageError where this machine cannot run them,
    FetchError or IntegrityError.
    """
    host.check(spec for package in locked.packages for spec in package.depends)
    if variant.channel:
        # Loaded here: it brings an HTTP library and conda's own code with it.
        from stacks import foreign

        with step("packages", f"{len(locked.packages)} from {locked.channel}"):
            return foreign.parts_of(locked)
    wheels = layer.wanted(prefix.layer_key(variant, locked, locked.packages), locked.requirements)
    offers = [channel.offers[package.file_name] for package in locked.packages]
    built = build_packages(channel, offers, wheels)
    return [Part(offer, built[offer.file_name]) for offer in offers]


def make_environment(
    variant: Variant, target: Path | None = None, locks: Path = lock.LOCKS
) -> Path:
    """Return the prefix of a variant's environment, made from its lock where it is not ready.

    `target` is where it goes instead of its place below build/.

    Raises a StacksError where the lock is stale, a source cannot be had, bytes are not the pinned
    ones, or the disk refuses.
    """
    channel, locked = read_lock(variant, locks)
    if target is None:
        uses.use_build(variant)
        target = prefix.place_of(variant)
    unlocked = local.packages(variant)
    if prefix.is_ready(variant, locked, target) and prefix.local_in(target) == prefix.hash_of(
        unlocked
    ):
        print(f"  {'ready':<9}{shown(target)}", file=sys.stderr, flush=True)
        return target
    parts = parts_of(variant, channel, locked)
    with step("install", shown(target)):
        prefix.make(variant, locked, parts, target, unlocked)
    return target


def ready_environment(name: str, framework: str | None) -> tuple[Variant, Path]:
    """Return a variant that is built and its prefix; UsageError where it must be built first."""
    variant = load_variant(name, framework)
    target = prefix.place_of(variant)
    locked = lock.check(variant, channels.read_channel())
    if not uses.is_ready(variant, locked):
        raise UsageError(
            f"{variant.id} is not built" + (" from its present lock" if target.is_dir() else ""),
            mend=f"./invoke build --variant {variant.name} --framework {variant.framework.name}",
        )
    return variant, target


def build_packages(
    channel: Channel, offers: Iterable[Offer], also: Iterable[Pin] = ()
) -> dict[str, Built]:
    """Return the built packages by file name, telling what had to be built.

    The pins in `also` are fetched together with the sources of what is missing.
    """
    offers = tuple(offers)
    fresh: list[Offer] = []
    with step("channel", "") as told:
        built = channels.build(channel, offers, also=also, finished=fresh.append)
        told.append(f"{len(fresh)} packages built, {len(offers) - len(fresh)} from the cache")
    return built


def relock(variants: Sequence[Variant], locks: Path = lock.LOCKS) -> None:
    """Solve the variants anew, build what their solutions need, and write their locks."""
    channel = channels.read_channel()
    solutions = {
        v.id: channels.solve(channel, v.conda_specs(), v.framework.glibc) for v in variants
    }
    offers = {offer.file_name: offer for offers in solutions.values() for offer in offers}
    built = build_packages(channel, offers.values())
    for variant in variants:
        lock.make(variant, channel, built, locks)
        print(f"  {'locked':<9}{variant.id}", file=sys.stderr)


def check_locks(variants: Sequence[Variant], locks: Path = lock.LOCKS) -> None:
    """Raise StaleError naming every variant whose committed lock is not what it should be."""
    channel = channels.read_channel()
    stale = []
    for variant in variants:
        try:
            lock.check(variant, channel, locks)
            print(f"  {'current':<9}{variant.id}", file=sys.stderr)
        except StaleError as error:
            stale.append(error)
    if stale:
        raise StaleError("\n".join(error.what for error in stale), mend=stale[0].mend)


def _contents(packages: int, requirements: int) -> str:
    return f"{packages} packages" + (f", {requirements} more by pip" if requirements else "")


def shown(path: Path) -> str:
    """Return a path as people want to read it, from the working folder if it is below that."""
    working = Path.cwd()
    return str(path.relative_to(working)) if path.is_relative_to(working) else str(path)
