"""The way from a variant to its environment: lock -> channel -> prefix."""

from __future__ import annotations

import sys
from pathlib import Path

from stacks.channel import offers as offers_module
from stacks.channel.build import build_packages
from stacks.channel.offers import Channel
from stacks.core.console import display_path, step
from stacks.core.errors import UsageError
from stacks.environments import accelerator, host, in_use, pip_layer, prefix, user_packages
from stacks.environments.part import Part
from stacks.locks import lock
from stacks.locks.lock import Lock
from stacks.variants.variant import Variant, load_variant


def read_lock(variant: Variant, locks: Path = lock.LOCKS) -> tuple[Channel, Lock]:
    """Return the channel and a variant's lock, told in two lines; StaleError where it is stale."""
    print(f"{variant.name} on {variant.framework.name}", file=sys.stderr, flush=True)
    with step("lock", "") as told:
        channel = offers_module.read_channel()
        locked = lock.check(variant, channel, locks)
        told.append(_contents(len(locked.packages), len(locked.requirements)))
    return channel, locked


def parts_of(variant: Variant, channel: Channel, locked: Lock) -> list[Part]:
    """Return a lock's packages: built, where the cache lacks them, or another channel's, fetched.

    After another channel's come the accelerator packages, which their lock does not have.
    What pip will install is fetched too. Raises UsageError where this machine cannot run them,
    FetchError or IntegrityError.
    """
    host.check(spec for package in locked.packages for spec in package.depends)
    if variant.channel:
        # Loaded here: it brings an HTTP library and conda's own code with it.
        from stacks.environments import other_channel as fetched_packages

        with step("packages", f"{len(locked.packages)} from {locked.channel}"):
            return fetched_packages.parts_of(locked) + accelerator.parts(variant, channel.pins)
    wheels = pip_layer.wanted(
        prefix.layer_key(variant, locked, locked.packages), locked.requirements
    )
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
        in_use.use_build(variant)
        target = prefix.place_of(variant)
    unlocked = user_packages.packages(variant)
    if prefix.is_ready(variant, locked, target) and prefix.local_in(target) == prefix.hash_of(
        unlocked
    ):
        print(f"  {'ready':<9}{display_path(target)}", file=sys.stderr, flush=True)
        return target
    parts = parts_of(variant, channel, locked)
    with step("install", display_path(target)):
        prefix.make(variant, locked, parts, target, unlocked)
    return target


def ready_environment(name: str, framework: str | None) -> tuple[Variant, Path]:
    """Return a variant that is built and its prefix; UsageError where it must be built first."""
    variant = load_variant(name, framework)
    target = prefix.place_of(variant)
    locked = lock.check(variant, offers_module.read_channel())
    if not in_use.is_ready(variant, locked):
        raise UsageError(
            f"{variant.id} is not built" + (" from its present lock" if target.is_dir() else ""),
            fix=f"./invoke build --variant {variant.name} --framework {variant.framework.name}",
        )
    return variant, target


def _contents(packages: int, requirements: int) -> str:
    return f"{packages} packages" + (f", {requirements} more by pip" if requirements else "")
