"""The same commit makes the same packages and environments on every machine, and in 2036."""

import datetime
import json
import os
import shutil
import ssl
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from stat import S_ISDIR

import pytest
from unit.helpers.serving import Request, web_server

from integration.programs import called
from integration.published import move_packages, write_packages
from integration.registries import registry, write_certificate
from integration.tiny import DEAD, Tiny, share_files, share_packages, tree, workspace_below
from stacks.channel import build
from stacks.channel import candidates as candidates_module
from stacks.channel.build import obtain_packages
from stacks.channel.candidates import read_channel, with_settings
from stacks.channel.settings_files import MODULES
from stacks.core import records
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.distribution.channel import push
from stacks.environments import folders
from stacks.environments.make import build as pipeline
from stacks.locks import lock
from stacks.locks.solution import DIGESTS, publication
from stacks.sources.fetch import fetch
from stacks.sources.places import CHANNEL
from stacks.sources.registry import registry_at
from stacks.variants.load import all_variants, load_variant

# Builds every package, and prints its hash by its name.
PROGRAM = """
import json, os, sys
from stacks.channel import build, candidates
from stacks.channel.candidates import with_settings
from stacks.core.workspace import default_workspace
from stacks.variants.load import all_variants
if __name__ == "__main__":
    os.umask(int(sys.argv[1], 8))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(sys.argv[2])])
    workspace = default_workspace()
    channel = with_settings(candidates.read_channel(workspace), all_variants(workspace))
    built = build.build_packages(workspace, channel, channel.candidates.values(), quiet=True)
    print(json.dumps({name: found.sha256 for name, found in built.items()}))
"""


def build_all(workspace: Workspace, room: Path) -> dict[str, str]:
    """Build every package of the channel elsewhere, with a cache that has the sources alone."""
    room.mkdir()
    (room / "program.py").write_text(PROGRAM)
    channel = candidates_module.read_channel(workspace)
    sources = {pin for o in channel.candidates.values() for pin in o.recipe.pins(channel.pins)}
    share_files(fetch(workspace, sources).values(), workspace, room / "cache")
    output = subprocess.check_output(
        [sys.executable, room / "program.py", "077", "1"],
        cwd=room,
        env={
            **os.environ,
            "THEANO_STACKS_CACHE": str(room / "cache"),
            "PYTHONPATH": str(REPOSITORY),
            "HOME": str(room),
            "LC_ALL": "C",
            "TZ": "Pacific/Kiritimati",
            "PYTHONHASHSEED": "7",
            "SOURCE_DATE_EPOCH": "1",
        },
    )
    built: dict[str, str] = json.loads(output)
    return built


def test_every_package_is_identical_however_it_is_built(
    workspace: Workspace, tmp_path: Path
) -> None:
    """The locks have what was built on another machine; only what is in none is built here too."""
    channel = candidates_module.read_channel(workspace)
    expected = {
        package.filename: package.sha256
        for variant in all_variants(workspace)
        for package in lock.read(workspace, variant).packages
    }
    others = [candidate for name, candidate in channel.candidates.items() if name not in expected]
    here = build.build_packages(workspace, channel, others, quiet=True)
    expected |= {name: package.sha256 for name, package in here.items()}
    assert build_all(workspace, tmp_path / "a folder, naïve é") == expected


# The only files that contain the environment's own path, and the list with their hashes.
OWN_PATH = {
    "etc/theanorc",
    "etc/theano-stacks/expect.json",
    "etc/theano-stacks/files.json",
    MODULES,
    "etc/theano-stacks/ready.json",
    "pip.conf",
}


@pytest.mark.parametrize("framework", ["tiny", "theano-1.0.5", "theano-0.8.2"])
def test_two_environments_differ_only_in_their_paths(
    workspace: Workspace, tiny: Tiny, framework: str, tmp_path: Path
) -> None:
    """This holds for what pip installs too."""
    if is_tiny := framework == "tiny":
        workspace = tiny.workspace
    variant = load_variant(workspace, "by-pip" if is_tiny else "pip-openblas", framework)
    channel = candidates_module.read_channel(workspace)
    trees = []
    for name, umask in (("one", 0o022), ("an other, é", 0o077)):
        own = replace(workspace, cache=tmp_path / name / "cache")
        share_packages(workspace, channel, variant, own.cache)
        before = os.umask(umask)
        try:
            made = pipeline.make_environment(own, variant, tmp_path / name / "prefix")
        finally:
            os.umask(before)
        trees.append(tree(made))
    one, other = trees
    assert one.keys() == other.keys()
    # conda's record has the SHA-256 of theanorc as it was installed.
    [record] = made.glob("conda-meta/*-settings-*.json")
    own_path = {*OWN_PATH, f"conda-meta/{record.name}"}
    # Only an environment with the accelerator shares compiled modules.
    own_path -= {MODULES} if is_tiny else set()
    assert {name for name in one if one[name][0] != other[name][0]} == own_path
    assert [name for name in one if one[name][1] != other[name][1]] == []


def test_an_environment_is_hard_links_into_the_cache(workspace: Workspace) -> None:
    """At most 5 MB are new files; what pip installs is not shared."""
    variant = load_variant(workspace, "openblas")
    workspace.cache.mkdir(parents=True, exist_ok=True)
    # Certainly on the cache's file system, whatever is mounted where.
    with tempfile.TemporaryDirectory(prefix=".test-", dir=workspace.cache) as folder:
        made = pipeline.make_environment(workspace, variant, Path(folder) / "made")
        if (made / "bin/python3.9").stat().st_nlink == 1:
            pytest.skip("the cache's file system has reflinks: nothing tells which blocks are new")
        statuses = [path.lstat() for path in made.rglob("*")]
        new = [each for each in statuses if S_ISDIR(each.st_mode) or each.st_nlink == 1]
        assert sum(each.st_blocks * 512 for each in new) <= 5_000_000
        locked = lock.current(workspace, variant)
        assert folders.key_in(made) == folders.key_of(workspace, variant, locked, made)


THEN = datetime.datetime(2036, 3, 1, tzinfo=datetime.timezone.utc)
# Compiles C with the environment's own compiler, and calls its BLAS.
COMPUTING = """
import datetime, theano
x = theano.tensor.dmatrix()
print(datetime.date.today().year, float(theano.function([x], x.dot(x.T))([[3.0, 4.0]])[0, 0]))
"""


@pytest.fixture(scope="module")
def server_pem(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a certificate for localhost with its key, valid from 2035 to 2037 only."""
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    write_certificate(path, THEN, 365)
    return path


@pytest.fixture
def in_2036(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the command that runs a program in the year 2036."""
    faketime = shutil.which("faketime")
    if not faketime:
        pytest.skip("faketime is not installed (Debian's package faketime)")
    # Only the calendar is moved: waiting is done by the other clock.
    monkeypatch.setenv("FAKETIME_DONT_FAKE_MONOTONIC", "1")
    return [faketime, "-f", f"@{THEN:%Y-%m-%d %H:%M:%S}"]


@pytest.mark.usefixtures("no_other_place")
def test_in_2036_from_a_registry(
    tiny: Tiny,
    server_pem: Path,
    in_2036: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    published, room = move_packages(tiny, tmp_path / "published"), tmp_path / "registry"
    variants = [tiny.variant(name) for name in ("by-conda", "by-pip")]
    found = publication(tiny.workspace, read_channel(tiny.workspace), variants)
    # The packages alone: their sources are not what an environment is made of.
    found = replace(found, sources=())
    files = {entry.path: published / entry.path for entry in found.entries}
    with registry(room) as plain:
        place = registry_at(plain.address("stacks"), "the test")
        push(place, found, files, {DIGESTS: records.digests_text(found.digests).encode()})
    with registry(room, server_pem) as running:
        address = running.address("stacks")
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server_pem))
        monkeypatch.setenv(CHANNEL, address)
        output, errors = tiny.builder("by-conda", wrapper=in_2036).communicate(timeout=300)
        assert f"6 fetched from {address}" in errors, errors
        assert output.strip() == str(tiny.place("by-conda"))
        assert "warning" not in errors
        made_then = tree(tiny.place("by-conda"))
        shutil.rmtree(tiny.cache / "packages")
        shutil.rmtree(tiny.place("by-conda"))
        # Today the server's certificate is not yet valid: the clock was indeed another one.
        assert "not yet valid" in tiny.builder("by-conda").communicate(timeout=300)[1]
    monkeypatch.setenv(CHANNEL, str(published))
    assert tree(tiny.make("by-conda")) == made_then


def test_in_2036_a_real_variant_comes_from_a_published_channel(
    workspace: Workspace, server_pem: Path, in_2036: list[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    own = workspace_below(tmp_path / "checkout", workspace.cache)
    variant = load_variant(own, "openblas")
    channel, locked = read_channel(own), lock.read(own, variant)
    # The user's cache has them, or they are built.
    obtain_packages(own, with_settings(channel, [variant]), locked.packages, quiet=True)
    folder = write_packages(own, [variant], tmp_path / "published")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server_pem)

    def reply(request: Request) -> None:
        file = folder / request.path.lstrip("/")
        found = file.is_file()
        request.send(200 if found else 404, {}, file.read_bytes() if found else b"")

    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(server_pem))
    empty = Tiny(own.root)
    with web_server(reply, tls=context) as port:
        address = f"https://localhost:{port}"
        monkeypatch.setenv(CHANNEL, address)
        output, errors = empty.builder("openblas", wrapper=in_2036).communicate(timeout=600)
    assert f"0 packages built, {len(locked.packages)} fetched from {address}" in errors
    place = empty.place("openblas")
    assert output.strip() == str(place)
    env = {**os.environ, **DEAD, "HOME": str(tmp_path)}
    computed = called([*in_2036, place / "bin/python", "-c", COMPUTING], env=env)
    assert computed.stdout.split() == ["2036", "25.0"], computed.stderr
