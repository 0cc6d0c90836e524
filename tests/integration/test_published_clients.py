"""A published channel as conda and rattler use it, sound and damaged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import zstandard
from rattler.exceptions import InstallerError

from integration.conda_client import Conda, names
from integration.published import (
    Published,
    copyleft_sources,
    locked_by,
    packages,
    published,
    share_sources,
)
from integration.test_serve import install, solve
from integration.tiny import Tiny, flip
from stacks.channel.locked_package import URL
from stacks.core.console import plural
from stacks.core.disk import sha256_of
from stacks.core.errors import IntegrityError
from stacks.core.workspace import Workspace
from stacks.distribution.channel import check_folder
from stacks.sources.channels import CHANNEL
from stacks.sources.pins import DebPin

pytestmark = pytest.mark.usefixtures("publishable")
PACKAGES = {"six", "python", "pip", "setuptools", "wheel", "tiny-settings"}


@pytest.fixture
def channel(tiny: Tiny, tmp_path: Path) -> Iterator[Published]:
    with published(tiny, tmp_path / "published") as channel:
        yield channel


@pytest.fixture
def file(tiny: Tiny, channel: Published, tmp_path: Path) -> Path:
    """Give the committed environment.yml for the address at which the test serves it."""
    text = (tiny.locks / "tiny/by-conda/environment.yml").read_text()
    path = tmp_path / "environment.yml"
    path.write_text(text.replace(URL, channel.address))
    return path


@pytest.fixture
def explicit(tiny: Tiny, channel: Published, tmp_path: Path) -> Path:
    """Give the lock as conda's list of addresses and MD5 sums."""
    path = tmp_path / "explicit.txt"
    path.write_text(channel.explicit(locked_by(tiny, "by-conda")))
    return path


def rewrite_index(
    channel: Published, change: Callable[[dict[str, dict[str, object]]], object]
) -> None:
    """Change the packages of the published index of noarch, in both forms."""
    path = channel.folder / "noarch/repodata.json"
    content = json.loads(path.read_bytes())
    change(content["packages.conda"])
    data = json.dumps(content).encode()
    path.write_bytes(data)
    path.with_name("repodata.json.zst").write_bytes(zstandard.compress(data))


def test_the_sources_of_copyleft_parts_are_beside_the_packages(
    tiny: Tiny, channel: Published, lacking: frozenset[DebPin]
) -> None:
    pins = [pin for pin in copyleft_sources(tiny) if pin not in lacking]
    published = {path.name: sha256_of(path) for path in (channel.folder / "sources").iterdir()}
    assert published == {pin.filename: pin.sha256 for pin in pins}
    assert "readline" in {pin.name for pin in (*pins, *lacking)}
    check_folder(tiny.workspace, channel.folder)


def test_conda_finds_a_package(conda: Conda, channel: Published) -> None:
    found = conda.succeed("search", "--override-channels", "-c", channel.address, "six", "--json")
    [six] = json.loads(found)["six"]
    assert six["sha256"] == sha256_of(channel.package("six"))
    assert six["size"] == channel.package("six").stat().st_size


def assert_refused(conda: Conda, channel: Published, file: Path, folder: Path) -> str:
    """Have conda and rattler refuse the package six; return conda's message."""
    done = conda.run("env", "create", "-f", file, "-p", folder / "conda")
    assert done.returncode != 0
    assert not (folder / "conda/lib/python2.7/site-packages/six.py").exists()
    records = solve(channel.address, file, folder / "client")
    with pytest.raises(InstallerError, match="six"):
        install(records, folder / "rattler", folder / "cache")
    return done.stderr


def test_a_changed_package_is_refused(
    tiny: Tiny, conda: Conda, channel: Published, file: Path, tmp_path: Path
) -> None:
    flip(channel.package("six"))
    error = assert_refused(conda, channel, file, tmp_path)
    assert "ChecksumMismatchError" in error and channel.package("six").name in error
    with pytest.raises(IntegrityError, match=f"noarch/{channel.package('six').name}: changed"):
        check_folder(tiny.workspace, channel.folder)


def test_an_index_that_vouches_for_a_changed_package_is_refused_by_the_lock(
    tiny: Tiny, conda: Conda, channel: Published, file: Path, explicit: Path, tmp_path: Path
) -> None:
    six = channel.package("six")
    flip(six)

    def vouch(packages: dict[str, dict[str, object]]) -> None:
        packages[six.name]["sha256"] = sha256_of(six)
        del packages[six.name]["md5"]

    rewrite_index(channel, vouch)
    done = conda.run("create", "-y", "-p", tmp_path / "environment", "--file", explicit)
    assert done.returncode != 0 and "ChecksumMismatchError" in done.stderr
    assert not (tmp_path / "environment/lib/python2.7/site-packages/six.py").exists()
    with pytest.raises(IntegrityError) as error:
        check_folder(tiny.workspace, channel.folder)
    for path in (f"noarch/{six.name}", "noarch/repodata.json", "noarch/repodata.json.zst"):
        assert f"{path}: changed" in error.value.what


def test_a_missing_package_is_named(
    tiny: Tiny, conda: Conda, channel: Published, file: Path, tmp_path: Path
) -> None:
    six = channel.package("six")
    six.unlink()
    error = assert_refused(conda, channel, file, tmp_path)
    assert "404" in error and six.name in error
    with pytest.raises(IntegrityError, match=f"noarch/{six.name}: missing"):
        check_folder(tiny.workspace, channel.folder)


def test_an_old_index_cannot_give_what_it_lacks(
    tiny: Tiny, conda: Conda, channel: Published, file: Path, explicit: Path, tmp_path: Path
) -> None:
    name = channel.package("six").name
    rewrite_index(channel, lambda known: known.pop(name))
    done = conda.run("env", "create", "-f", file, "-p", tmp_path / "conda")
    assert done.returncode != 0 and "six" in done.stderr
    assert not (tmp_path / "conda/conda-meta").exists()
    # The lock needs no index.
    conda.succeed("create", "-y", "-p", tmp_path / "environment", "--file", explicit)
    assert names(tmp_path / "environment") == PACKAGES
    with pytest.raises(IntegrityError, match=r"noarch/repodata\.json: changed"):
        check_folder(tiny.workspace, channel.folder)


@pytest.mark.parametrize(
    ("fault", "warning"),
    [
        ("changed package", "its bytes are not the pinned ones"),
        ("changed index", ""),
        ("missing package", ""),
        ("old index", ""),
    ],
)
def test_a_build_takes_the_locked_bytes_whatever_the_channel_has(
    workspace: Workspace,
    tiny: Tiny,
    channel: Published,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: str,
    warning: str,
) -> None:
    share_sources(workspace, tiny)
    sound = packages(channel.folder)
    six = channel.package("six")
    if fault == "changed package":
        flip(six)
    elif fault == "changed index":
        rewrite_index(channel, lambda known: known[six.name].update(sha256="0" * 64))
    elif fault == "missing package":
        six.unlink()
    else:
        rewrite_index(channel, lambda known: known.clear())
    shutil.rmtree(tiny.cache / "packages")
    monkeypatch.setenv("THEANO_STACKS_VENDOR", "")
    monkeypatch.setenv(CHANNEL, channel.address)
    monkeypatch.setenv("DEBIAN_MIRROR", "http://127.0.0.1:9/debian")
    capsys.readouterr()
    place = tiny.make("by-conda")
    assert packages(tiny.cache) == sound
    assert names(place) == PACKAGES
    errors = capsys.readouterr().err
    built = 1 if fault.endswith("package") else 0
    fetched = f"{len(PACKAGES) - built} fetched from {channel.address}"
    assert f"{plural(built, 'package')} built, {fetched}" in errors
    assert errors.count("warning: ") == (1 if warning else 0) and warning in errors
