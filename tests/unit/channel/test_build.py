"""Builds of packages: errors of conda, the processes that make them, and what those leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rattler import exceptions

from stacks.channel import package
from stacks.channel.assemble import CondaError, translated
from stacks.channel.build import build_packages
from stacks.channel.build_process import ROOT, BuildProcess
from stacks.channel.offers import Channel, offer_of
from stacks.core import disk
from stacks.core.errors import DiskError, StacksError
from stacks.core.process import call
from stacks.core.workspace import Workspace
from stacks.sources.pins import Pins
from stacks.variants.load import load_variant


@pytest.fixture
def process() -> Iterator[BuildProcess]:
    process = BuildProcess()
    yield process
    process.end()


def result(process: BuildProcess, function: Callable[..., object], *arguments: object) -> object:
    process.begin(function, *arguments)
    return process.result()


def test_results_and_errors_come_back_and_prints_do_not_disturb_them(
    process: BuildProcess, caplog: pytest.LogCaptureFixture
) -> None:
    assert result(process, divmod, 7, 2) == (3, 1)
    assert result(process, print, "for the person") is None
    with caplog.at_level("INFO"):
        assert result(process, call, ["echo", "a"]) == "a\n"
    assert caplog.messages == ["+ echo a"]
    with pytest.raises(ZeroDivisionError) as caught:
        result(process, divmod, 1, 0)
    assert "function(*arguments)" in str(caught.value.__cause__)
    with pytest.raises(StacksError, match="cannot run no-such-command"):
        result(process, call, ["no-such-command"])
    with pytest.raises(TypeError, match="cannot pickle"):
        result(process, threading.Lock)
    assert result(process, divmod, 7, 2) == (3, 1)


def test_a_killed_process_is_an_error(process: BuildProcess) -> None:
    for _ in range(2):
        with pytest.raises(StacksError, match="a process that built a package was killed"):
            result(process, os._exit, 1)


def test_it_ends_without_a_word_with_all_it_has_started_when_its_parent_is_killed() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from stacks.channel.build_process import BuildProcess\n"
        "from stacks.core.process import call\n"
        "process = BuildProcess()\n"
        "print(process._process.pid, flush=True)\n"
        "process.begin(call, ['sh', '-c', 'exec sleep 1000'])\n"
        "process.result()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert parent.stdout
    pid = int(parent.stdout.readline())
    child = psutil.Process(pid)
    while not any(each.name() == "sleep" for each in child.children(recursive=True)):
        assert child.is_running()
    below = child.children(recursive=True)
    parent.send_signal(signal.SIGKILL)
    # The child, too, holds the pipe until it has ended.
    assert parent.communicate()[1] == ""
    until = time.monotonic() + 60
    while any(map(_runs, (child, *below))):
        assert time.monotonic() < until


def _runs(process: psutil.Process) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


FULL = "No space left on device"


@pytest.mark.parametrize(
    ("error", "kind", "what"),
    [
        (exceptions.IoError(f"{FULL} (os error 28)"), DiskError, f"/any: .*{FULL}"),
        # `extract` raises OSErrors without a number.
        (OSError(f"failed: {FULL} (os error 28)"), DiskError, f"/any: .*{FULL}"),
        (exceptions.ExtractError("not an archive"), CondaError, "x could not be read"),
        (ZeroDivisionError("our own"), ZeroDivisionError, "our own"),
    ],
)
def test_errors_of_conda_say_what_could_not_be_done(
    error: Exception, kind: type[Exception], what: str
) -> None:
    with pytest.raises(kind, match=what), translated(Path("/any"), "x could not be read"):
        raise error


def test_what_killed_processes_have_left_is_removed(
    own_workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    left = [
        own_workspace.cache / package.PACKAGES / ".key.a8c_efgh.part",
        tmp_path / f"{disk.SCRATCH}a8c_efgh",
    ]
    for folder in left:
        (folder / "half/made").mkdir(parents=True)
    with disk.temporary_folder(left[0].parent, ".used.", ".part") as used:
        package.remove_left_by_killed(own_workspace)
        assert used.exists()
    assert not any(folder.exists() for folder in left)


def test_packages_are_built_in_processes_and_then_come_from_the_cache(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    tool, other = (offer_of(load_variant(workspace, name)) for name in ("openblas", "mkl"))
    offers, names = [replace(other, tools=(tool,)), tool], {other.file_name, tool.file_name}
    for counts in ("2 packages built, 0 from the cache", "0 packages built, 2 from the cache"):
        assert build_packages(workspace, Channel({}, Pins()), offers).keys() == names
        assert counts in capsys.readouterr().err
