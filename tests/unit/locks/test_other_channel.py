"""Other channels: locked, fetched, installed; and everything that can be wrong with one."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
import zstandard

from stacks.core.disk import REPOSITORY
from stacks.core.errors import FetchError, IntegrityError, StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.locks import lock, update
from stacks.locks.lock import Lock
from stacks.sources.pins import Pins, write_pins
from stacks.variants.load import load_variant, select
from stacks.variants.variant import Variant
from unit.helpers.conda import PLACEHOLDER, Package, serve
from unit.helpers.serving import Site

FRAMEWORK = """\
summary: six
module: six
version: 1.16.0
default: true
python: "3.9"
flags_variable: THEANO_FLAGS
rc_variable: THEANORC
base: [python 3.9.*]
packages: [six ==1.16.0]
pip: []
"""
PACKAGES = (
    Package(
        "python",
        "3.9.2",
        "h1_0_cpython",
        ["__glibc >=2.17,<3.0.a0"],
        {"bin/x86_64-conda-linux-gnu-g++": b"", "lib/python3.9/site-packages/README.txt": b""},
    ),
    Package("six", "1.16.0", "pyh1_0", ["python"], {"site-packages/six.py": b"six"}, noarch=True),
    Package("libblas", "3.9.0", "8_netlib", files={"lib/libblas.so.3": b"slow"}),
    Package(
        "libblas", "3.9.0", "8_openblas", ["libopenblas"], links={"lib/libblas.so.3": "libo.so"}
    ),
    Package("libopenblas", "0.3.34", "pthreads_h1_0", files={"lib/libo.so": b"fast"}),
    Package(
        "openblas",
        "0.3.34",
        "pthreads_h1_0",
        ["libopenblas 0.3.34 pthreads_h1_0"],
        {"etc/conda/activate.d/openblas.sh": f"export HOME_OF={PLACEHOLDER}\n".encode()},
        {"share/openblas": "../lib", "share/nowhere": "not/there"},
    ),
)

SOLVED = [p for p in PACKAGES if p.build != "8_netlib"]


@dataclass(frozen=True)
class World:
    """A channel that ~/.condarc leads to, and a flavour to be made of it."""

    site: Site
    root: Path

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.root, self.root / "cache")

    @property
    def ours(self) -> tuple[Variant, ...]:
        return select(self.workspace, "small")

    @property
    def variant(self) -> Variant:
        return load_variant(self.workspace, "small@conda-forge")

    @property
    def place(self) -> Path:
        return self.root / "a place" / "small"

    @property
    def lock(self) -> Path:
        return self.workspace.locks / "tiny/small@conda-forge"

    def alias(self, url: str) -> None:
        (self.root / ".condarc").write_text(f"channel_alias: {url}\nremote_max_retries: 1\n")

    def relock(self, channel: str = "conda-forge") -> None:
        update.relock_from(self.workspace, self.ours, channel)

    def make(self) -> Path:
        return pipeline.make_environment(self.workspace, self.variant, self.place)

    def check(self) -> Lock:
        return lock.current(self.workspace, self.variant)


@pytest.fixture
def world(site: Site, room: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    for name in list(os.environ):
        if name.startswith(("CONDA", "XDG_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(room))
    for folder in ("frameworks", "variants", "blas"):
        (room / "envs" / folder).mkdir(parents=True)
    (room / "envs/frameworks/tiny.yaml").write_text(FRAMEWORK)
    (room / "envs/variants/small.yaml").write_text(
        "summary: small\npython_packages: conda\nblas: openblas\n"
    )
    (room / "envs/blas/openblas.yaml").write_text(
        "summary: OpenBLAS\npackage: libopenblas\nldflags: -lopenblas\nlibraries: [libo.so]\n"
        "environment: {LAYER: ours}\n"
        "conda_forge:\n  packages: [openblas]\n  ldflags: -lopenblas\n"
        "  libraries: [libo.so]\n  environment: {LAYER: theirs}\n"
    )
    write_pins(room / "recipes/sources.lock", Pins())
    world = World(site, room)
    world.alias(site.url)
    serve(site, "/conda-forge", PACKAGES)
    return world


def test_a_lock_of_another_channel_has_its_packages(world: World) -> None:
    world.relock()
    assert (world.lock / "environment.yml").read_text() == (
        "# Made by `./invoke lock`.\nname: small@conda-forge\nchannels:\n"
        "  - conda-forge\n  - nodefaults\ndependencies:\n  - libblas=*=*openblas\n"
        "  - openblas\n  - python 3.9.*\n  - six ==1.16.0\n"
    )
    locked = world.check()
    assert locked.channel == "conda-forge"
    assert {package.url for package in locked.packages} == {
        f"{world.site.url}/conda-forge/{p.subdir}/{p.file_name}" for p in SOLVED
    }
    assert locked.sizes == {p.file_name: len(p.archive()) for p in SOLVED}


def test_an_environment_is_made_of_it_and_nothing_is_asked_twice(world: World) -> None:
    world.relock()
    world.make()
    script = (world.place / "etc/conda/activate.d/openblas.sh").read_text()
    assert script == f"export HOME_OF={world.place}\n"
    assert (world.place / "lib/python3.9/site-packages/six.py").read_bytes() == b"six"
    assert (world.place / "lib/libblas.so.3").read_bytes() == b"fast"
    record = json.loads((world.place / "conda-meta/six-1.16.0-pyh1_0.json").read_bytes())
    assert record["url"] == f"{world.site.url}/conda-forge/noarch/six-1.16.0-pyh1_0.tar.bz2"
    assert "cxx = x86_64-conda-linux-gnu-g++" in (world.place / "etc/theanorc").read_text()
    hook = world.place / "lib/python3.9/site-packages/_theano_stacks.py"
    assert "('LAYER', 'theirs')" in hook.read_text()
    expected = json.loads((world.place / "etc/theano-stacks/expect.json").read_bytes())
    assert expected["variant"] == "small@conda-forge" and expected["blas"]["alone"]
    world.site.asked.clear()
    assert world.make() == world.place
    assert world.site.asked == []


def test_the_accelerator_is_installed_beside_the_locked_packages(world: World) -> None:
    path = world.root / "envs/frameworks/tiny.yaml"
    path.write_text(f"{FRAMEWORK}accelerator: [theano-stacks]\n")
    name = "recipes/theano-stacks"
    shutil.copytree(REPOSITORY / name, world.root / name)
    world.relock()
    assert {package.name for package in world.check().packages} == {p.name for p in SOLVED}
    assert "theano-stacks" not in (world.lock / "environment.yml").read_text()
    world.make()
    assert (world.place / "lib/python3.9/site-packages/theano_stacks_quick.pth").is_file()
    [record] = world.place.glob("conda-meta/theano-stacks-1.0.0-*.json")
    assert "/theano-stacks/noarch/theano-stacks-1.0.0-" in json.loads(record.read_bytes())["url"]
    expected = json.loads((world.place / "etc/theano-stacks/expect.json").read_bytes())
    assert "theano-stacks" in {package["name"] for package in expected["packages"]}
    assert world.make() == world.place, "ready"


def test_an_index_that_is_not_packed(world: World) -> None:
    serve(world.site, "/plain", PACKAGES, packed=False)
    world.relock("plain")
    assert (world.lock.with_name("small@plain") / "conda-lock.yml").is_file()


def test_a_mirror_that_is_chosen_later_is_asked_first(world: World) -> None:
    world.relock()
    path = f"/conda-forge/linux-64/{SOLVED[0].file_name}"
    stored = f"/conda-forge/linux-64/{SOLVED[2].file_name}"
    for name in [name for name in world.site.files if name != stored]:
        world.site.files[f"/mirror{name}"] = world.site.files.pop(name)
    world.alias(f"{world.site.url}/mirror")
    world.make()
    assert f"/mirror{path}" in world.site.paths() and path not in world.site.paths()
    assert world.site.paths().count(stored) == 1, "what the mirror has not is where it was locked"


def test_bytes_that_differ_from_the_lock_are_an_error(world: World) -> None:
    world.relock()
    path = f"/conda-forge/noarch/{SOLVED[1].file_name}"
    data = world.site.files[path]
    world.site.files[path] = data[:-1] + bytes([data[-1] ^ 1])
    with pytest.raises(IntegrityError, match=r"six-1.16.0.*not the pinned ones, twice"):
        world.make()
    assert not world.place.exists()
    world.site.files[path] = data
    assert world.make() == world.place


def test_a_package_dropped_by_the_channel_is_an_error(world: World) -> None:
    world.relock()
    before = (world.lock / "conda-lock.yml").read_bytes()
    dropped = SOLVED[1]
    del world.site.files[f"/conda-forge/noarch/{dropped.file_name}"]
    with pytest.raises(FetchError, match=r"six 1.16.0 .*is not at: http.*") as caught:
        world.make()
    assert caught.value.fix and "channel_alias" in caught.value.fix
    serve(world.site, "/conda-forge", [p for p in PACKAGES if p != dropped])
    without_solution = r"tiny/small@conda-forge: conda-forge cannot(.|\n)*No candidates.* for six"
    with pytest.raises(UsageError, match=without_solution):
        world.relock()
    assert (world.lock / "conda-lock.yml").read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "is not a conda channel"), (b"BZh", "is not a zstd file"), (b"", "cannot be read")],
)
def test_an_invalid_index_is_an_error(world: World, content: bytes | None, message: str) -> None:
    name = "/conda-forge/linux-64/repodata.json.zst"
    if content is None:
        del world.site.files[name]
    else:
        world.site.files[name] = content
    with pytest.raises(StacksError, match=message):
        world.relock()


def test_an_index_that_decompresses_without_end_is_an_error(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(update, "LARGEST_FILE", 1_000_000)
    name = "/conda-forge/linux-64/repodata.json.zst"
    world.site.files[name] = zstandard.compress(bytes(100_000_000))
    with pytest.raises(UsageError, match=rf"(?s){name}.*too large.*at most 1000000 bytes.*fix"):
        world.relock()


def test_a_package_without_a_hash_cannot_be_locked(world: World) -> None:
    name = "/conda-forge/noarch/repodata.json.zst"
    index = json.loads(zstandard.decompress(world.site.files[name]))
    for record in index["packages"].values():
        del record["sha256"]
    world.site.files[name] = zstandard.compress(json.dumps(index).encode())
    with pytest.raises(UsageError, match=r"six-1.16.0.* cannot be locked"):
        world.relock()


def test_a_lock_that_is_not_there_or_was_changed_by_hand(world: World) -> None:
    with pytest.raises(UsageError, match="tiny/small@conda-forge is not locked") as caught:
        world.make()
    assert caught.value.fix and "--variant small --channel" in caught.value.fix
    world.relock()
    path = world.lock / "environment.yml"
    path.write_text(path.read_text().replace("six ==1.16.0", "six"))
    with pytest.raises(UsageError, match="edited or damaged") as caught:
        world.make()
    assert caught.value.fix and "./invoke lock --variant small --channel" in caught.value.fix
