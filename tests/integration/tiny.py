"""A framework that is small, so that environments come and go in a second: six on Python 2.7."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from stacks.channel import build as package_builds
from stacks.channel import offers as offers_module
from stacks.core.disk import REPOSITORY
from stacks.core.workspace import Workspace
from stacks.environments import build as pipeline
from stacks.environments import prefix
from stacks.locks import lock
from stacks.locks import update as lock_update
from stacks.sources.fetch import fetch
from stacks.variants.variant import Variant, load_variant

FRAMEWORK = """\
summary: six on Python 2.7
module: six
version: 1.16.0
default: true
python: "2.7"
flags_variable: THEANO_FLAGS
rc_variable: THEANORC
base: [python 2.7.*, pip ==20.3.4, setuptools ==44.1.1, wheel ==0.37.1]
packages: [six ==1.16.0]
pip: [six==1.16.0]
"""
FLAVOURS = {
    "by-conda": "summary: small\npython_packages: conda\nblas: numpy\n",
    "by-pip": "summary: small, with six by pip\npython_packages: pip\nblas: numpy\n",
}
BUILDER = Path(__file__).with_name("builder.py")


@dataclass(frozen=True)
class Tiny:
    """Settings, locks and a cache of their own, below one folder."""

    root: Path

    @property
    def envs(self) -> Path:
        return self.root / "envs"

    @property
    def locks(self) -> Path:
        return self.root / "locks"

    @property
    def cache(self) -> Path:
        return self.root / "cache"

    def variant(self, name: str) -> Variant:
        return load_variant(name, envs=self.envs)

    def place(self, name: str) -> Path:
        return self.root / "prefixes" / name

    def make(self, name: str) -> Path:
        return pipeline.make_environment(self.variant(name), self.place(name), self.locks)

    def is_ready(self, name: str) -> bool:
        variant, channel = self.variant(name), offers_module.read_channel()
        return prefix.is_ready(
            variant, lock.read(variant, channel.pins, self.locks), self.place(name)
        )

    def cached(self, pattern: str) -> Path:
        """Return the one path of the cache that matches."""
        [found] = self.cache.glob(pattern)
        return found

    def builder(self, name: str, point: str = "", wrapper: Iterable[str | Path] = ()) -> Builder:
        """Start the making of an environment in another process; see builder.py for points."""
        # Here a killed process leaves what it had for the moment.
        scratch = self.root / "scratch"
        scratch.mkdir(exist_ok=True)
        words = [BUILDER, self.envs, self.locks, self.place(name), name, point]
        return Builder(
            [*map(str, wrapper), sys.executable, *map(str, words)],
            cwd=self.root,
            env={
                **os.environ,
                "THEANO_STACKS_CACHE": str(self.cache),
                "PYTHONPATH": str(REPOSITORY),
                "TMPDIR": str(scratch),
                "DEBIAN_MIRROR": "http://127.0.0.1:9/debian",
                "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
                "PIP_FIND_LINKS": "",
                "PIP_RETRIES": "0",
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


Builder = subprocess.Popen[str]


def prepare(workspace: Workspace, root: Path) -> Tiny:
    """Write the settings and locks, and fill the cache with all that they need."""
    tiny = Tiny(root)
    shutil.copytree(REPOSITORY / "envs/blas", tiny.envs / "blas")
    for folder, files in (("frameworks", {"tiny": FRAMEWORK}), ("variants", FLAVOURS)):
        (tiny.envs / folder).mkdir()
        for name, text in files.items():
            (tiny.envs / folder / f"{name}.yaml").write_text(text)
    variants = [tiny.variant(name) for name in FLAVOURS]
    lock_update.relock(tiny.workspace, variants)
    channel = offers_module.read_channel(workspace)
    for variant in variants:
        locked = lock.read(tiny.workspace, variant, channel.pins)
        offers = [channel.offers[p.file_name] for p in locked.packages]
        kept = [
            found.path.parent
            for found in package_builds.build_missing(workspace, channel, offers).values()
        ]
        kept += [path.parent for path in fetch(workspace, locked.requirements).values()]
        for folder_of in kept:
            place = tiny.cache / folder_of.relative_to(workspace.cache)
            shutil.copytree(folder_of, place, dirs_exist_ok=True)
    return tiny


def flip(path: Path, position: int | None = None) -> None:
    """Change one bit of a file, in its middle where no position is given; links stay apart."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if position is None else position] ^= 1
    path.unlink()
    path.write_bytes(data)


def tree(root: Path) -> dict[str, tuple[str, int]]:
    """Return the content of every file below a folder, or the link's text, and its mode."""
    return {
        str(p.relative_to(root)): (
            os.readlink(p) if p.is_symlink() else p.read_bytes().hex(),  # noqa: PTH115
            p.lstat().st_mode,
        )
        for p in sorted(root.rglob("*"))
        if (p.is_symlink() or p.is_file()) and p.suffix not in (".pyc", ".pyo")
    }
