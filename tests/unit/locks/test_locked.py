from __future__ import annotations

import pytest

from stacks.channel import package
from stacks.channel.locked_package import URL
from stacks.channel.offers import Channel, read_channel
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.locks.publication import entries_of, packages_of
from stacks.sources.pins import Pins
from stacks.variants.load import all_variants
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import body, entry


def test_each_package_of_the_locks_is_there_once() -> None:
    variants = all_variants(CHECKOUT)
    entries = entries_of(CHECKOUT, read_channel(CHECKOUT), variants)
    names = [one.package.file_name for one in entries]
    assert names == sorted(set(names))
    described = {one.package.file_name: one.package for one in entries}
    for variant in variants:
        for each in lock.read(CHECKOUT, variant).packages:
            assert described[each.file_name] == each
    assert all(one.offer for one in entries), "the committed locks are of these recipes"


def test_packages_of_another_channel_are_refused() -> None:
    variant = all_variants(CHECKOUT)[0].model_copy(update={"channel": "conda-forge"})
    with pytest.raises(UsageError, match="its packages are of another channel"):
        entries_of(CHECKOUT, read_channel(CHECKOUT), [variant])


@pytest.mark.parametrize("quiet", [False, True])
def test_a_package_is_taken_by_its_bytes_without_a_recipe(
    workspace: Workspace, quiet: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("THEANO_STACKS_VENDOR", raising=False)
    six = entry("six")
    file = workspace.cache / "six.conda"
    file.parent.mkdir(parents=True)
    file.write_bytes(body("six"))
    built = package.add(workspace, file, six.package.file_name, six.package.sha256)
    known = type(six)(six.package, six.index)
    files = packages_of(workspace, Channel({}, Pins()), [known], quiet=quiet)
    assert files == {f"noarch/{six.package.file_name}": built.path}


def test_what_is_nowhere_is_named_with_both_ways_on(
    own_workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("VENDOR", "CHANNEL"):
        monkeypatch.delenv(f"THEANO_STACKS_{name}", raising=False)
    six, other = entry("six"), entry("libopenblas")
    known = [type(six)(each.package, each.index) for each in (six, other)]
    with pytest.raises(UsageError) as caught:
        packages_of(own_workspace, Channel({}, Pins()), known, quiet=True)
    text = str(caught.value)
    assert "2 locked packages cannot be found" in text
    assert all(each.package.file_name in text for each in known)
    for way in ("THEANO_STACKS_CHANNEL", "THEANO_STACKS_VENDOR", "./invoke lock --upgrade"):
        assert way in text
    assert URL not in text
