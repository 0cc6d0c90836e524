import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacks.channel import package
from stacks.channel.build import check_bytes
from stacks.channel.candidates import Channel, read_channel
from stacks.channel.package import Built
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.records import parse_digests
from stacks.core.workspace import Workspace
from stacks.locks import conda_lock, lock
from stacks.locks import solution as module
from stacks.locks.lock import Lock
from stacks.locks.solution import DIGESTS, entries_of, packages_of, publication
from stacks.locks.texts import texts_of
from stacks.sources.pins import URL, LockedPackage, Pins
from stacks.variants.load import all_variants
from unit.helpers.checkout import CHECKOUT
from unit.helpers.publication import body, entry

FILE = "six-1.16.0-py_0.conda"
ADDRESS = f"http://here/noarch/{FILE}"
PACKAGE = LockedPackage(
    "six", "1.16.0", "py_0", ADDRESS, "a" * 64, "b" * 32, 7, ("python >=3.9", "__glibc >=2.31")
)
SIZES = {FILE: 7}


def written(folder: Path, package: LockedPackage = PACKAGE) -> Path:
    path = folder / conda_lock.NAME
    text = conda_lock.render([package], "http://here", made_by="1.0", specs="d" * 64, files={})
    path.write_text(text)
    return path


def test_a_written_lock_is_read_again(tmp_path: Path) -> None:
    path = written(tmp_path)
    content = conda_lock.read(path, {})
    expected = replace(PACKAGE, depends=tuple(sorted(PACKAGE.depends)))
    assert content.packages(SIZES) == (expected,)
    assert (expected.filename, expected.subdir) == (FILE, "noarch")
    assert content.metadata.channels[0].url == "http://here"
    custom = content.metadata.custom_metadata
    assert (custom.made_by, custom.specs) == ("1.0", "d" * 64)
    with pytest.raises(UsageError, match="other content"):
        conda_lock.read(path, {"sizes.json": b"{}"})


def test_other_content_is_refused(tmp_path: Path) -> None:
    path = tmp_path / conda_lock.NAME
    for text in ("", "[]", "a: [", "version: 1\nmetadata: {}\npackage: []\n", "[" * 20_000):
        path.write_text(text)
        with pytest.raises(UsageError, match=rf"{conda_lock.NAME}:\d:"):
            conda_lock.read(path, {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a" * 64, "../" * 21 + "x"),
        ("b" * 32, "no MD5"),
        ("name: six", "name: ../six"),
        (f"noarch/{FILE}", "noarch/.."),
        (f"noarch/{FILE}", "noarch/"),
        (f"noarch/{FILE}", f"osx-64/{FILE}"),
        (f"noarch/{FILE}", '"a b.conda"'),
        ("url: http://here\n", 'url: "http://here\\n- pip"\n'),
        ("version: 1.16.0", r'version: "1\n2"'),
        ("dependencies:", "dependencies: &a"),
        ("  platform: linux-64", "  platform: osx-64"),
        ("manager: conda", "manager: pip"),
    ],
)
def test_a_value_that_leaves_its_place_is_refused_by_its_line(
    tmp_path: Path, old: str, new: str
) -> None:
    path = written(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=r"conda-lock.yml:\d+:\d+: "):
        conda_lock.read(path, {})


def test_the_address_of_another_package_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, replace(PACKAGE, build="py_1"))
    with pytest.raises(UsageError, match=f"{ADDRESS} is not the address of six-1.16.0-py_1"):
        conda_lock.read(path, {}).packages(SIZES)


def test_a_newer_form_names_the_version_that_made_it(tmp_path: Path) -> None:
    path = written(tmp_path)
    text = (
        path.read_text()
        .replace("made_by: '1.0'", "made_by: 9.1.0")
        .replace("form: '2'", "form: '3'")
    )
    path.write_text(text.replace("package:", "packages:"))
    with pytest.raises(UsageError, match=r"newer form .*\n.*\n  found: .*theano-stacks 9\.1\.0"):
        conda_lock.read(path, {})


@pytest.mark.parametrize(
    "change", [{"url": "http://here/noarch/.."}, {"name": "../six"}, {"version": "1\n2"}]
)
def test_what_an_index_cannot_name_is_not_locked(tmp_path: Path, change: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=rf"{conda_lock.NAME}:\d+:\d+: package\[0\]"):
        written(tmp_path, replace(PACKAGE, **change))


def test_other_bytes_under_the_name_of_a_committed_lock_are_refused(tmp_path: Path) -> None:
    workspace, variant = Workspace(tmp_path, tmp_path / "cache"), all_variants(CHECKOUT)[0]
    # Of another channel, and one that cannot be read, and so is written again.
    for name in ("by-conda", "mkl@there", "by-pip"):
        folder = workspace.locks / "tiny" / name
        folder.mkdir(parents=True)
        for file, text in texts_of(variant, Lock((PACKAGE,)), "1.0").items():
            (folder / file).write_text(text)
    (workspace.locks / "tiny/by-pip/conda-lock.yml").write_text("{")
    known = lock.known_packages(workspace)
    assert known.keys() == {FILE}
    check_bytes(known.values(), {FILE: Built(tmp_path / FILE, PACKAGE.sha256)})
    with pytest.raises(IntegrityError, match=f"{FILE}: built from its sources") as caught:
        check_bytes(known.values(), {FILE: Built(tmp_path / FILE, "c" * 64)})
    assert caught.value.expected == f"sha256 {PACKAGE.sha256}"
    assert caught.value.found == f"sha256 {'c' * 64}"
    assert caught.value.fix and "raise the `revision`" in caught.value.fix


def test_the_committed_locks_give_each_package_once_and_the_committed_digests() -> None:
    variants, channel = all_variants(CHECKOUT), read_channel(CHECKOUT)
    entries = entries_of(CHECKOUT, channel, variants)
    names = [one.package.filename for one in entries]
    assert names == sorted(set(names))
    described = {one.package.filename: one.package for one in entries}
    for variant in variants:
        for each in lock.read(CHECKOUT, variant).packages:
            assert described[each.filename] == each
    assert all(one.candidate for one in entries), "the committed locks are of these recipes"
    committed = parse_digests((CHECKOUT.locks / DIGESTS).read_text())
    assert publication(CHECKOUT, channel, variants).digests == committed
    other = variants[0].model_copy(update={"channel": "conda-forge"})
    with pytest.raises(UsageError, match="its packages are of another channel"):
        entries_of(CHECKOUT, channel, [other])


def test_only_what_may_be_republished_or_is_included_is_in_the_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    locked = tuple(map(entry, ("libcublas", "libgcc-runtime", "libopenblas", "mkl", "six")))
    monkeypatch.setattr(module, "entries_of", lambda *_: locked)
    channel = read_channel(CHECKOUT)
    found = publication(CHECKOUT, channel, [], {"six"})
    names = [one.package.name for one in found.entries]
    left_out = [one.package.name for one in found.left_out]
    assert (names, left_out) == (["libgcc-runtime", "libopenblas", "six"], ["libcublas", "mkl"])
    index = b"".join(found.files.values())
    assert b'"libopenblas-' in index and b'"mkl-' not in index and b'"libcublas-' not in index
    assert not any("/mkl-" in path for path in found.digests)
    for path, data in found.files.items():
        assert hashlib.sha256(data).hexdigest() == found.digests[path]
    found = publication(CHECKOUT, channel, [], {"mkl", "libcublas"})
    assert [one.package.name for one in found.left_out] == ["libcublas"]
    assert any("/mkl-" in path for path in found.digests)


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
    built = package.add(empty, file, six.package.filename, six.package.sha256)
    known = type(six)(six.package, six.index)
    files = packages_of(empty, Channel({}, Pins()), [known], quiet=True)
    assert files == {f"noarch/{six.package.filename}": built.path}


def test_what_is_nowhere_is_named_with_both_ways_on(empty: Workspace) -> None:
    six, other = entry("six"), entry("libopenblas")
    known = [type(six)(each.package, each.index) for each in (six, other)]
    with pytest.raises(UsageError) as caught:
        packages_of(empty, Channel({}, Pins()), known, quiet=True)
    text = str(caught.value)
    assert "2 locked packages cannot be found" in text
    assert all(each.package.filename in text for each in known)
    for way in ("THEANO_STACKS_CHANNEL", "THEANO_STACKS_VENDOR", "./invoke lock --upgrade"):
        assert way in text
    assert URL not in text
