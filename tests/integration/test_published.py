"""Published channels: what conda, rattler and builds make of them, sound and damaged."""

import json
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard
from rattler.exceptions import InstallerError

from integration.conda_client import Conda, names
from integration.published import install, move_packages, serving, serving_folder, solve
from integration.tiny import Tiny, flip, share_files, tree, workspace_below
from stacks.channel.candidates import read_channel
from stacks.core.console import plural
from stacks.core.disk import sha256_of
from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace, default_workspace
from stacks.distribution.channel import check_folder, publish_to_folder
from stacks.environments.make import build as pipeline
from stacks.locks import lock
from stacks.locks.lock import lock_folder
from stacks.locks.solution import entries_of
from stacks.sources.fetch import fetch
from stacks.sources.pins import URL
from stacks.sources.places import CHANNEL
from stacks.variants.load import all_variants
from stacks.variants.variant import Variant

VARIANTS = all_variants(default_workspace())
PACKAGES = {"six", "python", "pip", "setuptools", "wheel", "tiny-settings"}
SIX = "lib/python2.7/site-packages/six.py"


@pytest.fixture(scope="module")
def address(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    own = workspace_below(tmp_path_factory.mktemp("channel"), workspace.cache)
    with serving(own, VARIANTS) as address:
        yield address


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the cache of a client that all solutions share."""
    return tmp_path_factory.mktemp("client")


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.id)
def test_a_new_solution_equals_the_lock(
    workspace: Workspace, variant: Variant, address: str, client: Path
) -> None:
    records = solve(address, lock_folder(workspace, variant) / "environment.yml", client)
    locked = lock.read(workspace, variant).packages
    assert {(r.file_name, r.sha256.hex()) for r in records if r.sha256} == {
        (p.filename, p.sha256) for p in locked
    }
    assert {r.url for r in records} == {p.url.replace(URL, address) for p in locked}


def share_sources(source: Workspace, tiny: Tiny) -> None:
    """Link the sources of the packages of `tiny` into its cache."""
    channel = read_channel(tiny.workspace)
    entries = entries_of(tiny.workspace, channel, [tiny.variant("by-conda")])
    pins = {pin for each in entries for pin in each.recipe.pins(channel.pins)}
    share_files(fetch(Workspace(tiny.root, source.cache), pins).values(), source, tiny.cache)


def packages(folder: Path) -> dict[str, bytes]:
    """Return the packages of `by-conda` below a folder: `by-pip` has settings of its own."""
    paths = (path for path in folder.rglob("*.conda") if "_by_pip." not in path.name)
    return {path.name: path.read_bytes() for path in paths}


@pytest.mark.usefixtures("no_other_place")
def test_a_channel_and_the_sources_give_the_same_bytes(
    workspace: Workspace,
    tiny: Tiny,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = move_packages(tiny, tmp_path / "published")

    def from_sources() -> None:
        place = tiny.place("by-conda")
        pipeline.make_environment(
            tiny.workspace, tiny.variant("by-conda"), place, from_sources=True
        )

    with serving_folder(folder) as address:
        monkeypatch.setenv(CHANNEL, address)
        with pytest.raises(FetchError):
            from_sources()
        assert packages(tiny.cache) == {}, "no place of packages was asked"
        capsys.readouterr()
        fetched = tree(tiny.make("by-conda"))
        fetches = f"0 packages built, 6 fetched from {address}, 0 from the cache"
        assert fetches in capsys.readouterr().err
        assert packages(tiny.cache) == packages(folder)
        # What came from a place does not count as built here.
        share_sources(workspace, tiny)
        shutil.rmtree(tiny.place("by-conda"))
        from_sources()
    assert "6 packages built, 0 from the cache" in capsys.readouterr().err
    assert packages(tiny.cache) == packages(folder)
    assert tree(tiny.place("by-conda")) == fetched


@dataclass(frozen=True)
class Published:
    """A folder that `./invoke publish-channel` wrote, and the address where it is served."""

    folder: Path
    address: str

    @property
    def six(self) -> Path:
        [path] = self.folder.glob("*/six-*.conda")
        return path


@pytest.fixture
def channel(publishable: None, tiny: Tiny, tmp_path: Path) -> Iterator[Published]:
    publish_to_folder(tiny.workspace, tmp_path / "published")
    with serving_folder(tmp_path / "published") as address:
        yield Published(tmp_path / "published", address)


def harm(channel: Published, fault: str) -> None:
    """Change or remove the package six, or its entry in both forms of the index."""
    path = channel.folder / "noarch/repodata.json"
    content = json.loads(path.read_bytes())
    if fault == "missing package":
        channel.six.unlink()
    elif fault == "old index":
        del content["packages.conda"][channel.six.name]
    else:
        flip(channel.six)
    if fault == "index of the changed package":
        content["packages.conda"][channel.six.name]["sha256"] = sha256_of(channel.six)
        del content["packages.conda"][channel.six.name]["md5"]
    if "index" in fault:
        path.write_bytes(json.dumps(content).encode())
        path.with_name("repodata.json.zst").write_bytes(zstandard.compress(path.read_bytes()))


@pytest.mark.usefixtures("no_other_place")
@pytest.mark.parametrize(
    ("fault", "refused_by", "message", "difference"),
    [
        ("changed package", "name", "ChecksumMismatchError", "noarch/six.*: changed"),
        ("missing package", "name", "404", "noarch/six.*: missing"),
        # The index vouches for it; the lock does not.
        (
            "index of the changed package",
            "lock",
            "ChecksumMismatchError",
            r"(?s)(?=.*noarch/repodata\.json: changed)(?=.*noarch/six.*: changed)",
        ),
        ("old index", "name", "six", r"noarch/repodata\.json: changed"),
    ],
)
def test_a_damaged_channel_is_refused_and_builds_take_the_locked_bytes(
    workspace: Workspace,
    tiny: Tiny,
    conda: Conda,
    channel: Published,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    fault: str,
    refused_by: str,
    message: str,
    difference: str,
) -> None:
    share_sources(workspace, tiny)
    sound = packages(channel.folder)
    file, explicit = tmp_path / "environment.yml", tmp_path / "explicit.txt"
    text = (tiny.locks / "tiny/by-conda/environment.yml").read_text()
    file.write_text(text.replace(URL, channel.address))
    locked = [f"{each.url}#{each.md5}" for each in tiny.lock("by-conda").packages]
    explicit.write_text("\n".join(["@EXPLICIT", *locked, ""]).replace(URL, channel.address))
    by_name = ("env", "create", "-f", file, "-p", tmp_path / "by-name")
    by_lock = ("create", "-y", "-p", tmp_path / "by-lock", "--file", explicit)
    if fault == "old index":
        # The lock needs no index.
        words = ("--override-channels", "-c", channel.address, "six", "--json")
        [six] = json.loads(conda.succeed("search", *words))["six"]
        assert six["sha256"] == sha256_of(channel.six)
    harm(channel, fault)

    done = conda.run(*(by_name if refused_by == "name" else by_lock))
    assert done.returncode and message in done.stderr, done.stderr
    assert not (tmp_path / f"by-{refused_by}" / SIX).exists()
    if fault == "old index":
        conda.succeed(*by_lock)
        assert names(tmp_path / "by-lock") == PACKAGES
    elif refused_by == "name":
        with pytest.raises(InstallerError, match="six"):
            records = solve(channel.address, file, tmp_path / "client")
            install(records, tmp_path / "rattler", tmp_path / "cache")
    with pytest.raises(IntegrityError) as caught:
        check_folder(tiny.workspace, channel.folder)
    assert re.search(difference, caught.value.what)

    shutil.rmtree(tiny.cache / "packages")
    monkeypatch.setenv(CHANNEL, channel.address)
    capsys.readouterr()
    assert names(tiny.make("by-conda")) == PACKAGES
    assert packages(tiny.cache) == sound
    errors, built = capsys.readouterr().err, int("package" in fault)
    fetched = f"{len(PACKAGES) - built} fetched from {channel.address}"
    assert f"{plural(built, 'package')} built, {fetched}" in errors
    warnings = [line for line in errors.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == int("changed" in fault)
    assert all("its bytes are not the pinned ones" in line for line in warnings)
