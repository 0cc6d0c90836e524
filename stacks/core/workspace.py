"""A checkout or the installed command: its version and commit, its folders, and the cache.

Optional tools are installed when they are first needed: in the running venv, or in another.
"""

import importlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from stacks.core.console import beating
from stacks.core.disk import INSTALLED, REPOSITORY, hold_lock, sha256_of, write_atomically
from stacks.core.paths import cache_root, home_root
from stacks.core.process import CommandError, call

# The only place of it: pyproject.toml reads this line.
VERSION = "1.0.0rc1"
CLUSTER_LOCK = REPOSITORY / "requirements-cluster.lock"
DOCS_LOCK = REPOSITORY / "requirements-docs.lock"
LOCKING_LOCK = REPOSITORY / "requirements-locking.lock"
TEST_LOCK = REPOSITORY / "requirements-test.lock"
RELEASE_LOCK = REPOSITORY / "requirements-release.lock"
# The cache's folders of packages: by their digest, by what they were built from, and unpacked.
PACKAGES, BUILT, UNPACKED = "packages", "built", "unpacked"


@dataclass(frozen=True)
class Workspace:
    """What the project consists of, what it makes, and the cache of what can be made again.

    root: the checkout, or the package of the wheel, in which nothing is written. home: the folder
    for environments, reports and results; None: the checkout.
    """

    root: Path
    cache: Path
    home: Path | None = None

    @property
    def envs(self) -> Path:
        """Variants, frameworks, BLAS libraries: the files that people edit."""
        return self.root / "envs"

    @property
    def locks(self) -> Path:
        """The locks, by framework and flavour."""
        return self.envs / "locks"

    @property
    def recipes(self) -> Path:
        """The recipes of the channel's packages."""
        return self.root / "recipes"

    @property
    def sources_lock(self) -> Path:
        """The pins of the recipes' sources."""
        return self.recipes / "sources.lock"

    @property
    def suite(self) -> Path:
        """The verification suite."""
        return self.root / "verify"

    @property
    def results(self) -> Path:
        """The results of `bench` here, by machine."""
        return (self.home or self.root) / "results"

    @property
    def build(self) -> Path:
        """All output. It can be removed at any time."""
        return (self.home or self.root) / "build"

    @property
    def environments(self) -> Path:
        """The environments, by framework and flavour."""
        return self.build / "prefixes"

    @property
    def reports(self) -> Path:
        """The last report of each environment, workload and image."""
        return self.build / "reports"

    @property
    def logs(self) -> Path:
        """The logs of the last tasks that failed."""
        return self.build / "logs"

    @property
    def images(self) -> Path:
        """The content of images, by framework and flavour."""
        return self.build / "images"

    @property
    def cluster(self) -> Path:
        """The answers of jobs on other machines."""
        return self.build / "cluster"

    def shown(self, path: Path) -> str:
        """Return a path as people read it: relative to the checkout if it is inside."""
        return str(path.relative_to(self.root) if path.is_relative_to(self.root) else path)


def default_workspace() -> Workspace:
    """Return the workspace of this checkout, or of the installed command, and the user's cache."""
    return Workspace(REPOSITORY, cache_root(), home_root() if INSTALLED else None)


def revision(root: Path = REPOSITORY) -> tuple[str | None, bool]:
    """Return the commit of this project and whether files outside results/ differ from it.

    (None, True) for a folder that is no checkout, also one inside another project's checkout. The
    installed command has a commit if it was installed from a repository.
    """
    if INSTALLED and root == REPOSITORY:
        return _installed_commit(), False
    git = ("git", "-C", root)
    try:
        top, commit = call([*git, "rev-parse", "--show-toplevel", "HEAD"]).splitlines()
        if Path(top) != root.resolve():
            return None, True
        changes = call([*git, "status", "--porcelain", "--", ".", ":!results"])
    except (CommandError, ValueError):
        return None, True
    return commit, bool(changes.strip())


def _installed_commit() -> str | None:
    """Return the commit of the repository that pip or uv installed this from. Source: PEP 610."""
    # Loaded here: every command needs the folders, few the commit.
    from importlib.metadata import distribution

    text = distribution("theano-stacks").read_text("direct_url.json")
    commit = json.loads(text or "{}").get("vcs_info", {}).get("commit_id")
    return str(commit) if commit else None


def described(root: Path = REPOSITORY) -> str:
    """Return the version for people, with the commit if there is one."""
    commit, changed = revision(root)
    if commit is None:
        return VERSION
    return f"{VERSION}, commit {commit[:12]}{', with changes' if changed else ''}"


def prepare_tools(lock: Path, folder: Path | None = None, options: Sequence[str] = ()) -> Path:
    """Install requirements-NAME.lock into a venv, once for each version; return its Python.

    folder: of a venv that has nothing else, made if need be; by default it is the running one.
    options: of pip. Raises CommandError with what pip lacks.
    """
    python = folder / "bin/python" if folder else Path(sys.executable)
    stamp = (folder or Path(sys.prefix)) / lock.stem.replace("requirements", "stamp")
    if _is_current(stamp, lock):
        return python
    with hold_lock(folder or stamp, f"{stamp.parent.name} with {lock.name}"):
        # One without the stamp may be the rest of a killed process.
        if folder and not stamp.is_file():
            call([sys.executable, "-I", "-m", "venv", "--clear", folder])
        if not _is_current(stamp, lock):
            _install(stamp.parent, lock, python, options)
            write_atomically(stamp, sha256_of(lock))
    importlib.invalidate_caches()
    return python


def _is_current(stamp: Path, lock: Path) -> bool:
    return stamp.is_file() and stamp.read_text() == sha256_of(lock)


def _install(venv: Path, lock: Path, python: str | Path, options: Sequence[str]) -> None:
    print(f"installing {lock.name} into {venv} (once) ...", file=sys.stderr, flush=True)
    with beating(lambda: f"installing {lock.name}", sys.stderr):
        run_pip(
            python,
            # Whatever folders pip's configuration names.
            ["install", "--no-compile", "--target=", "--prefix", venv, "--root=/", *options],
            lock,
            "; without a network, ./invoke vendor DIR of this version writes what ./invoke, its "
            "lock and its docs install",
        )


def run_pip(python: str | Path, words: Sequence[str | Path], lock: Path, more: str = "") -> None:
    """Run a command of a Python's pip for a requirements-NAME.lock, whose hashes pip checks.

    words: the command, `install` or `download`, and its options. more: ends the fix of the
    CommandError, which has the last lines of pip's message.
    """
    # Loaded here: few commands install anything.
    from verify.core import surroundings

    command, *options = words
    rules = ["--quiet", "--require-hashes", "--no-deps", "--only-binary", ":all:"]
    pip = [python, "-I", "-m", "pip", "--disable-pip-version-check", command, *rules]
    try:
        call([*pip, *options, "-r", lock], env=surroundings.pip(os.environ))
    except CommandError as error:
        raise CommandError(
            f"pip could not {command} {lock.name}",
            found="\n            ".join(error.output.splitlines()[-2:]),
            fix="check the network, and pip's own settings (pip config list): index, proxy, CA "
            f"bundle{more}",
        ) from error
