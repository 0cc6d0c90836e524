"""The wheel in a venv that nobody may write to, without the checkout."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree, rmtree

import pytest

from integration.programs import opened
from integration.tiny import DEAD, Tiny
from stacks.core.disk import REPOSITORY, sha256_of
from stacks.core.workspace import VERSION, Workspace
from stacks.distribution import release


@dataclass
class Command:
    """The installed command, for the two small variants, and a user's home folder."""

    venv: Path
    home: Path
    cache: Path

    @property
    def site(self) -> Path:
        [site] = self.venv.glob("lib/python*/site-packages")
        return site

    def files(self) -> dict[str, str]:
        """Return the digest of each file that was installed."""
        paths = sorted(path for path in self.site.rglob("*") if path.is_file())
        return {str(path.relative_to(self.site)): sha256_of(path) for path in paths}

    def start(self, *words: str, **variables: str) -> subprocess.Popen[str]:
        command: list[str | Path] = [self.venv / "bin/theano-stacks", *words]
        env = {"PATH": os.defpath, "HOME": str(self.home), "THEANO_STACKS_CACHE": str(self.cache)}
        env |= {**DEAD, **variables}
        return opened(command, cwd=self.home, env=env, start_new_session=True)

    def __call__(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*words, **variables)
        out, err = process.communicate()
        assert "Traceback" not in err, err
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    @property
    def place(self) -> Path:
        """The environment of by-conda."""
        return self.home / ".local/share/theano-stacks/build/prefixes/tiny/by-conda"

    def output(self, *words: str) -> str:
        done = self(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def command(tiny_model: Tiny, tmp_path_factory: pytest.TempPathFactory) -> Command:
    root = tmp_path_factory.mktemp("installed")
    release.release(Workspace(REPOSITORY, root / "cache"), root / "release")
    [wheel] = (root / "release").glob("theano_stacks-*.whl")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / "venv"], check=True)
    copytree(tiny_model.cache, root / "tiny")
    command = Command(root / "venv", root / "home, é", root / "tiny")
    python = str(command.venv / "bin/python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install"]
    subprocess.run([*pip, "--quiet", "--no-index", "--no-deps", wheel], check=True)
    # The wheel's dependencies are those of the venv that runs the tests.
    (command.site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    rmtree(command.site / "theano_stacks/envs")
    copytree(tiny_model.envs, command.site / "theano_stacks/envs")
    command.home.mkdir()
    for path in (command.venv, *command.venv.rglob("*")):
        if not path.is_symlink():
            path.chmod(path.stat().st_mode & ~0o222)
    return command


def test_it_has_the_tasks_of_a_checkout(command: Command) -> None:
    listed = command.output("--list")
    assert {"build", "recommend", "publish-channel"} <= set(listed.split())
    for words in ((), ("--help",), ("build", "--help")):
        text = command.output(*words)
        assert "theano-stacks" in text and "./invoke" not in text
    assert command.output("version") == f"theano-stacks {VERSION}\n"
    assert command("bild").stderr.endswith("did you mean `theano-stacks build`?\n")
    shown = command.output("init", "model", "--extends", "by-conda")
    assert "next: theano-stacks lock --variant model/stack.yaml\n" in shown
    assert "./invoke" not in (command.home / "model/stack.yaml").read_text()
    rmtree(command.home / "model")
    exported = command.output("export", "--variant", "by-conda", "--as", "environment")
    assert "- python=2.7" in exported
    for task in ("lock", "pin"):
        done = command(task)
        assert done.returncode == 2
        assert "fix:      run it in a checkout of the project\n" in done.stderr


def test_it_builds_runs_and_repairs_in_the_users_home_and_writes_nowhere_else(
    command: Command,
) -> None:
    before = command.files()
    # The verification has nothing to verify: the framework is six.
    built = command("build", "--variant", "by-conda")
    assert "could not be verified" in built.stderr
    ran = command("run", "--variant", "by-conda", "--", "python", "-c", "import six; print(6 * 7)")
    assert (ran.returncode, ran.stdout) == (0, "42\n")
    assert (command.place / "bin/python").exists()
    [row] = [line for line in command.output("list").splitlines() if "by-conda" in line]
    assert row.split() == ["by-conda", "tiny", "yes", "-"]
    own = command("run", "-v", "by-conda", "--", "true", THEANO_STACKS_HOME=str(command.home / "x"))
    assert own.returncode == 2 and "fix:      theano-stacks build --variant by-conda" in own.stderr

    (command.place / "lib/python2.7/site-packages/six.py").unlink()
    damaged = command("verify", "--variant", "by-conda", COLUMNS="200")
    assert (damaged.returncode, "six.py: missing" in damaged.stdout) == (1, True)
    [fix] = re.findall(r"^ +fix: put the files back:\n +(.*)$", damaged.stdout, re.M)
    assert fix == "theano-stacks build --variant by-conda --repair"
    repaired = command(*shlex.split(fix)[1:])
    assert "put back: lib/python2.7/site-packages/six.py (missing)" in repaired.stderr
    assert "damaged" not in command("verify", "--variant", "by-conda").stderr

    assert f"removing {command.place.parent.parent}" in command.output("clean")
    assert command.files() == before
    assert {path.name for path in command.home.iterdir()} == {".local"}


def test_ctrl_c_ends_a_fetch_in_one_line(command: Command, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as mirror:
        # It takes the connection, and never answers.
        mirror.settimeout(120)
        process = command.start(
            *("vendor", str(tmp_path / "carried"), "--variants", "by-conda"),
            THEANO_STACKS_CACHE=str(tmp_path / "cache"),
            THEANO_STACKS_CHANNEL=f"http://127.0.0.1:{mirror.getsockname()[1]}/channel",
        )
        connection, _ = mirror.accept()
        with connection:
            # As a terminal does it: to all processes of the foreground.
            os.killpg(process.pid, signal.SIGINT)
            out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (130, "")
    last = "interrupted; what was finished is kept: the same command continues"
    assert err.endswith(f"\n{last}\n") and "Traceback" not in err
    assert not (tmp_path / "carried").exists()
