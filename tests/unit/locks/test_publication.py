"""What the locks give a channel: its packages, and the list of the digests of all its files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from stacks.channel import package
from stacks.channel.locked_package import URL
from stacks.channel.offers import Channel, read_channel
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.locks import solution as module
from stacks.locks.solution import DIGESTS, entries_of, packages_of, publication
from stacks.sources.pins import Pins
from stacks.variants.load import all_variants
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import body, entry


def test_the_committed_locks_give_each_package_once_and_the_committed_digests() -> None:
    variants, channel = all_variants(CHECKOUT), read_channel(CHECKOUT)
    entries = entries_of(CHECKOUT, channel, variants)
    names = [one.package.file_name for one in entries]
    assert names == sorted(set(names))
    described = {one.package.file_name: one.package for one in entries}
    for variant in variants:
        for each in lock.read(CHECKOUT, variant).packages:
            assert described[each.file_name] == each
    assert all(one.offer for one in entries), "the committed locks are of these recipes"
    committed = (CHECKOUT.locks / DIGESTS).read_text()
    assert publication(CHECKOUT, channel, variants).digests == committed
    other = variants[0].model_copy(update={"channel": "conda-forge"})
    with pytest.raises(UsageError, match="its packages are of another channel"):
        entries_of(CHECKOUT, channel, [other])


def test_only_what_may_be_republished_or_is_included_is_in_the_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    locked = tuple(map(entry, ("libcublas", "libopenblas", "mkl", "six")))
    monkeypatch.setattr(module, "entries_of", lambda *_: locked)
    channel = read_channel(CHECKOUT)
    found = publication(CHECKOUT, channel, [])
    names = [one.package.name for one in found.entries]
    left_out = [one.package.name for one in found.left_out]
    assert (names, left_out) == (["libopenblas", "six"], ["libcublas", "mkl"])
    index = b"".join(found.files.values())
    assert b'"libopenblas-' in index and b'"mkl-' not in index and b'"libcublas-' not in index
    assert "/mkl-" not in found.digests
    for path, data in found.files.items():
        assert f"{hashlib.sha256(data).hexdigest()}  {path}\n" in found.digests
    found = publication(CHECKOUT, channel, [], {"mkl", "libcublas"})
    assert [one.package.name for one in found.left_out] == ["libcublas"]
    assert "/mkl-" in found.digests


@pytest.fixture
def empty(own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Give a checkout with an empty cache, and no other place of packages."""
    for name in ("VENDOR", "CHANNEL"):
        monkeypatch.delenv(f"THEANO_STACKS_{name}", raising=False)
    return own_workspace


def test_a_package_is_taken_by_its_bytes_without_a_recipe(empty: Workspace, tmp_path: Path) -> None:
    six = entry("six")
    file = tmp_path / "six.conda"
    file.write_bytes(body("six"))
    built = package.add(empty, file, six.package.file_name, six.package.sha256)
    known = type(six)(six.package, six.index)
    files = packages_of(empty, Channel({}, Pins()), [known], quiet=True)
    assert files == {f"noarch/{six.package.file_name}": built.path}


def test_what_is_nowhere_is_named_with_both_ways_on(empty: Workspace) -> None:
    six, other = entry("six"), entry("libopenblas")
    known = [type(six)(each.package, each.index) for each in (six, other)]
    with pytest.raises(UsageError) as caught:
        packages_of(empty, Channel({}, Pins()), known, quiet=True)
    text = str(caught.value)
    assert "2 locked packages cannot be found" in text
    assert all(each.package.file_name in text for each in known)
    for way in ("THEANO_STACKS_CHANNEL", "THEANO_STACKS_VENDOR", "./invoke lock --upgrade"):
        assert way in text
    assert URL not in text
