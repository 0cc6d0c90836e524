from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

import pytest

from stacks.channel.index import IndexEntry
from stacks.channel.offers import read_channel
from stacks.channel.package import Built, Digests
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock, locked
from stacks.locks.locked import entries_of, packages_of
from stacks.variants.load import all_variants
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import entry


def test_each_package_of_the_locks_is_there_once_with_its_digests_and_size() -> None:
    channel = read_channel(CHECKOUT)
    variants = all_variants(CHECKOUT)
    entries = entries_of(CHECKOUT, channel, variants)
    names = [one.offer.file_name for one in entries]
    assert names == sorted(set(names))
    described = {
        one.offer.file_name: (*astuple(one.digests), one.path.split("/")[0]) for one in entries
    }
    for variant in variants:
        each = lock.read(CHECKOUT, variant, channel.pins)
        for package in each.packages:
            name = package.file_name
            assert described[name] == (
                package.sha256,
                package.md5,
                each.sizes[name],
                package.url.split("/")[-2],
            )


def test_packages_of_another_channel_are_refused() -> None:
    variant = all_variants(CHECKOUT)[0].model_copy(update={"channel": "conda-forge"})
    with pytest.raises(UsageError, match="its packages are of another channel"):
        entries_of(CHECKOUT, read_channel(CHECKOUT), [variant])


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Digests]]:
    """Build nothing: give the digests that each build was asked for."""
    asked = []

    def build(
        workspace: Workspace, channel: object, offers: object, *, locked: dict[str, Digests]
    ) -> dict[str, Built]:
        asked.append(locked)
        return {six().offer.file_name: Built(Path("six.conda"), six().digests.sha256)}

    monkeypatch.setattr(locked, "build_missing", build)
    monkeypatch.setattr(locked, "build_packages", build)
    return asked


def six() -> IndexEntry:
    return entry("six")


@pytest.mark.parametrize("quiet", [False, True])
def test_the_files_of_locked_packages_by_path(made: list[dict[str, Digests]], quiet: bool) -> None:
    channel = read_channel(CHECKOUT)
    files = packages_of(CHECKOUT, channel, [six()], quiet=quiet)
    assert files == {six().path: Path("six.conda")}
    assert made == [{six().offer.file_name: six().digests}]


def test_a_package_with_other_bytes_is_refused(made: list[dict[str, Digests]]) -> None:
    other = IndexEntry(six().offer, Digests("0" * 64, "0" * 32, 1))
    with pytest.raises(
        IntegrityError, match="has other bytes in the cache than in the lock"
    ) as caught:
        packages_of(CHECKOUT, read_channel(CHECKOUT), [other])
    assert other.path in caught.value.what
    assert caught.value.expected == f"sha256 {'0' * 64}"
    assert caught.value.found == f"sha256 {six().digests.sha256}"
