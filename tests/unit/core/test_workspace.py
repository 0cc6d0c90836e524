"""The folders of a checkout, of the installed command and of the user; version, commit, tools."""

import errno
import importlib.metadata
import os
import sys
from importlib.metadata import PathDistribution
from pathlib import Path

import pytest

from stacks.core import console, paths, workspace
from stacks.core.disk import REPOSITORY, sha256_of
from stacks.core.errors import DiskError, UsageError
from stacks.core.paths import cache_root, home_root
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace, default_workspace
from unit.helpers.checkout import git

NAMES = [name for name, value in vars(Workspace).items() if isinstance(value, property)]


def test_every_folder_is_below_the_root_and_what_can_be_removed_below_build() -> None:
    found = Workspace(Path("/root"), Path("/cache"))
    assert len(NAMES) > 9
    for name in NAMES:
        assert getattr(found, name).is_relative_to("/root"), name
    for path in (found.environments, found.reports, found.images):
        assert path.parent == found.build


def test_what_the_installed_command_makes_is_in_its_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "INSTALLED", True)
    monkeypatch.setenv("THEANO_STACKS_HOME", "/my/home")
    monkeypatch.setenv("THEANO_STACKS_CACHE", "/my/cache")
    found = default_workspace()
    assert found == Workspace(REPOSITORY, Path("/my/cache"), Path("/my/home"))
    made = {name for name in NAMES if getattr(found, name).is_relative_to("/my/home")}
    assert made == {
        "build", "cluster", "environments", "images", "logs", "reports", "results"
    }  # fmt: skip
    assert found.shown(found.reports) == "/my/home/build/reports"
    assert found.shown(REPOSITORY / "envs/x") == "envs/x"


def test_the_commit_of_a_checkout(tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    (checkout / "results").mkdir(parents=True)
    (checkout / "file").touch()
    git(checkout, "init", "-q")
    git(checkout, "add", "file")
    git(checkout, "commit", "-q", "-m", "first")
    commit = git(checkout, "rev-parse", "HEAD").strip()
    (checkout / "results/new").touch()
    assert workspace.revision(checkout) == (commit, False)
    assert workspace.described(checkout) == f"{workspace.VERSION}, commit {commit[:12]}"
    (checkout / "file").write_text("changed")
    assert workspace.described(checkout).endswith(", with changes")
    # A copy without git has no commit, also in another project's checkout.
    for folder in (tmp_path / "copy", checkout / "copy"):
        folder.mkdir()
        assert workspace.revision(folder) == (None, True)
        assert workspace.described(folder) == workspace.VERSION


@pytest.mark.parametrize(
    ("direct_url", "shown"),
    [
        (None, False),
        ('{"url": "file:///a.whl", "archive_info": {}}', False),
        ('{"url": "it", "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"}}', True),
    ],
)
def test_the_installed_command_has_the_commit_of_its_repository(
    direct_url: str | None, shown: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "METADATA").write_text("Name: theano-stacks\n")
    if direct_url:
        (tmp_path / "direct_url.json").write_text(direct_url)
    monkeypatch.setattr(workspace, "INSTALLED", True)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: PathDistribution(tmp_path))
    assert workspace.described() == workspace.VERSION + (", commit 0123456789ab" if shown else "")


def test_a_lock_is_installed_once_for_each_content_into_a_venv_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[object]] = []
    monkeypatch.setattr(workspace, "call", lambda words, **_: commands.append(words))
    lock, folder = tmp_path / "requirements-docs.lock", tmp_path / "docs"
    folder.mkdir()
    for text in ("a", "a", "b"):
        lock.write_text(text)
        assert workspace.prepare_tools(lock, folder) == folder / "bin/python"
        assert (folder / "stamp-docs").read_text() == sha256_of(lock)
    make, install, again = commands
    assert make == [sys.executable, "-I", "-m", "venv", "--clear", folder]
    assert install == again
    assert install[:4] == [folder / "bin/python", "-I", "-m", "pip"]
    assert install[-6:] == ["--target=", "--prefix", folder, "--root=/", "-r", lock]
    assert "--require-hashes" in install
    assert capsys.readouterr().err.count("installing requirements-docs.lock") == 2
    # One without the stamp is the rest of a killed process.
    (folder / "stamp-docs").unlink()
    workspace.prepare_tools(lock, folder)
    assert commands[3] == make


def test_a_long_installation_is_no_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock, lines = tmp_path / "requirements-docs.lock", list[str]()
    lock.touch()
    reading, writing = os.pipe()
    with os.fdopen(reading) as log, os.fdopen(writing, "w") as file:
        monkeypatch.setattr(console, "BEAT", 0.05)
        monkeypatch.setattr(sys, "prefix", str(tmp_path))
        monkeypatch.setattr(sys, "stderr", file)
        monkeypatch.setattr(
            workspace, "call", lambda *_, **__: lines.extend(log.readline() for _ in "ab")
        )
        workspace.prepare_tools(lock)
    assert lines[1] == "  installing requirements-docs.lock ... 0 s\n"


def test_what_pip_lacks_is_named_without_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(words: list[object], env: dict[str, str]) -> None:
        # Whatever the user's pip configuration says of other folders.
        assert env["PIP_USER"] == "0"
        assert words[-4:] == ["--find-links", "/carried", "-r", lock]
        raise CommandError("pip install -r ...\nnoise\nERROR: no versions\nERROR: no furo")

    monkeypatch.setattr(workspace, "call", fail)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    lock = tmp_path / "requirements-docs.lock"
    lock.touch()
    with pytest.raises(CommandError, match="pip could not install") as it:
        workspace.prepare_tools(lock, options=["--find-links", "/carried"])
    assert it.value.found == "ERROR: no versions\n            ERROR: no furo"
    assert "without a network, ./invoke vendor" in str(it.value.fix)
    assert not (tmp_path / "stamp-docs").exists()


@pytest.mark.parametrize(
    ("variables", "cache", "home"),
    [
        ({"THEANO_STACKS_CACHE": "/c", "THEANO_STACKS_HOME": "~/h"}, "/c", "/home/me/h"),
        ({"XDG_CACHE_HOME": "/x", "XDG_DATA_HOME": "/d"}, "/x/theano-stacks", "/d/theano-stacks"),
        ({"XDG_CACHE_HOME": "", "XDG_DATA_HOME": ""}, "/home/me/.cache/theano-stacks",
         "/home/me/.local/share/theano-stacks"),
    ],
)  # fmt: skip
def test_the_folders_of_the_user(
    variables: dict[str, str], cache: str, home: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CACHE", "HOME"):
        monkeypatch.delenv(f"THEANO_STACKS_{name}", raising=False)
    for name, value in {**variables, "HOME": "/home/me"}.items():
        monkeypatch.setenv(name, value)
    assert (cache_root(), home_root()) == (Path(cache), Path(home))


def test_no_home_for_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THEANO_STACKS_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(DiskError, match=r"(?s)no home.*THEANO_STACKS_CACHE"):
        cache_root()
    with pytest.raises(UsageError, match="~no-such-user-here/x: no home folder of that name"):
        paths.expanded("~no-such-user-here/x")


def test_what_may_not_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    assert not paths.exists(tmp_path / "nothing") and paths.is_dir(tmp_path)
    assert not paths.is_file(tmp_path / ("x" * 300))
    monkeypatch.setattr(Path, "stat", refuse)
    assert paths.exists(tmp_path)
    for check in (paths.is_file, paths.is_dir):
        with pytest.raises(UsageError, match=r": Permission denied\n  fix: "):
            check(tmp_path)


def test_the_working_folder_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a/b")
    paths.check_working_folder(tmp_path / "a/c")
    for folder in (tmp_path / "a", tmp_path / "a/b"):
        with pytest.raises(UsageError, match="is the folder that you stand in"):
            paths.check_working_folder(folder)
