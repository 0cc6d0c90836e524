"""A small framework, six on Python 2.7, whose environments are made in a second.

tiny.py ROOT CACHE TARGET VARIANT    makes an environment in a process of its own
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from stacks.channel import build as package_builds
from stacks.channel.candidates import Channel, read_channel, with_settings
from stacks.core.disk import REPOSITORY, sha256_of
from stacks.core.errors import StacksError
from stacks.core.workspace import Workspace
from stacks.environments.make import build as pipeline
from stacks.environments.make.pip_install import link_or_copy
from stacks.locks import lock
from stacks.locks import update as lock_update
from stacks.locks.lock import Lock
from stacks.sources.fetch import fetch
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

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
# Variables for programs that may reach neither Debian's archive nor a package index.
DEAD = {
    "DEBIAN_MIRROR": "http://127.0.0.1:9/debian",
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_FIND_LINKS": "",
    "PIP_RETRIES": "0",
}


@dataclass(frozen=True)
class Tiny:
    """Settings, locks and a cache of their own, below one folder."""

    root: Path

    @property
    def workspace(self) -> Workspace:
        return Workspace(self.root, self.root / "cache")

    @property
    def envs(self) -> Path:
        return self.workspace.envs

    @property
    def locks(self) -> Path:
        return self.workspace.locks

    @property
    def cache(self) -> Path:
        return self.workspace.cache

    def variant(self, name: str) -> Variant:
        return load_variant(self.workspace, name)

    def lock(self, name: str) -> Lock:
        return lock.read(self.workspace, self.variant(name))

    def place(self, name: str) -> Path:
        return self.root / "prefixes" / name

    def make(self, name: str) -> Path:
        return pipeline.make_environment(self.workspace, self.variant(name), self.place(name))

    def copy_checkout(self, folder: Path) -> None:
        """Copy what `./invoke` needs of this checkout, with these settings and locks."""
        ignored = shutil.ignore_patterns("__pycache__")
        for name in ("stacks", "recipes", "verify"):
            shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
        for path in (REPOSITORY / "tasks.py", *REPOSITORY.glob("requirements*.lock")):
            shutil.copy(path, folder)
        shutil.copytree(self.envs, folder / "envs")

    def builder(self, name: str, *, wrapper: Iterable[str | Path] = ()) -> subprocess.Popen[str]:
        """Start the making of an environment in another process."""
        tmp = self.root / "scratch"
        tmp.mkdir(exist_ok=True)
        words = [__file__, self.root, self.cache, self.place(name), name]
        return subprocess.Popen(
            [*map(str, wrapper), sys.executable, *map(str, words)],
            cwd=self.root,
            env={
                **os.environ,
                "THEANO_STACKS_CACHE": str(self.cache),
                "PYTHONPATH": str(REPOSITORY),
                "TMPDIR": str(tmp),
                **DEAD,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )


def obeying() -> tuple[str, ...]:
    """Return the words before a command that take away root's right to ignore file modes."""
    rights = ("--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all")
    return ("setpriv", *rights) if os.geteuid() == 0 else ()


def workspace_below(root: Path, cache: Path, copies: Collection[str] = ()) -> Workspace:
    """Return a workspace with a build folder of its own.

    It has links to this checkout's settings, locks, recipes and Dockerfiles; `copies` names the
    folders that are copied instead, so that a test can change them.
    """
    root.mkdir(parents=True, exist_ok=True)
    for name in ("envs", "recipes", "docker"):
        if name in copies:
            ignored = shutil.ignore_patterns("__pycache__")
            shutil.copytree(REPOSITORY / name, root / name, ignore=ignored)
        else:
            # Two processes may share the folder.
            with suppress(FileExistsError):
                (root / name).symlink_to(REPOSITORY / name)
    return Workspace(root, cache)


def share_packages(workspace: Workspace, channel: Channel, variant: Variant, cache: Path) -> None:
    """Link a lock's packages and wheels into another cache, built or fetched where missing."""
    locked = lock.read(workspace, variant)
    channel = with_settings(channel, [variant])
    built = package_builds.obtain_packages(workspace, channel, locked.packages, quiet=True)
    files = fetch(workspace, locked.requirements)
    for folder in {path.parent for path in (*(b.path for b in built.values()), *files.values())}:
        target = cache / folder.relative_to(workspace.cache)
        target.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if not (target / path.name).exists():
                link_or_copy(path, target / path.name)


def share_files(paths: Iterable[Path], workspace: Workspace, cache: Path) -> None:
    """Link files of a workspace's cache into another cache."""
    for path in paths:
        target = cache / path.relative_to(workspace.cache)
        target.parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(path, target)


def as_user(user: int) -> tuple[str, ...]:
    """Return the words that run a program as a user who may read all, to run this Python."""
    return (
        "setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups",
        "--inh-caps=-all,+dac_read_search", "--ambient-caps=-all,+dac_read_search",
    )  # fmt: skip


def prepare(workspace: Workspace, root: Path) -> Tiny:
    """Write the settings and locks, and fill the cache with all that they need."""
    tiny = Tiny(root)
    workspace_below(root, tiny.cache, copies=("envs", "recipes"))
    for folder in ("frameworks", "variants", "locks"):
        shutil.rmtree(tiny.envs / folder)
    for folder, files in (("frameworks", {"tiny": FRAMEWORK}), ("variants", FLAVOURS)):
        (tiny.envs / folder).mkdir()
        for name, text in files.items():
            (tiny.envs / folder / f"{name}.yaml").write_text(text)
    variants = [tiny.variant(name) for name in FLAVOURS]
    filled = Workspace(root, workspace.cache)
    lock_update.relock(filled, variants)
    channel = read_channel(filled)
    for variant in variants:
        share_packages(filled, channel, variant, tiny.cache)
    return tiny


def flip(path: Path, position: int | None = None) -> None:
    """Change one bit of a file, by default in its middle; other hard links keep their bytes."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if position is None else position] ^= 1
    path.unlink()
    path.write_bytes(data)


def tree(root: Path) -> dict[str, tuple[str, int]]:
    """Return the hash of every file below a folder, or the link's text, and its mode.

    Without what changes in an environment that is used: var and bytecode.
    """
    return {
        str(p.relative_to(root)): (
            os.readlink(p) if p.is_symlink() else sha256_of(p),  # noqa: PTH115
            p.lstat().st_mode,
        )
        for p in sorted(root.rglob("*"))
        if (p.is_symlink() or p.is_file())
        and p.suffix not in (".pyc", ".pyo")
        and not p.is_relative_to(root / "var")
    }


def main(root: str, cache: str, target: str, name: str) -> int:
    """Make an environment; print its folder, or the error."""
    workspace = Workspace(Path(root), Path(cache))
    try:
        variant = load_variant(workspace, name)
        print(pipeline.make_environment(workspace, variant, Path(target)))
    except StacksError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
