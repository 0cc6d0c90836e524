"""Builds of packages: their order, errors of conda, and the processes that make them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from rattler import exceptions

from stacks.channel import build as package_builds
from stacks.channel import package
from stacks.channel.assemble import CondaError, translated
from stacks.channel.build_process import ROOT, BuildProcess
from stacks.channel.offers import Offer, read_channel
from stacks.core import console, disk
from stacks.core.errors import DiskError, StacksError
from stacks.core.process import call
from stacks.core.workspace import Workspace
from unit.helpers.checkout import CHECKOUT


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


def wait_for_line(capsys: pytest.CaptureFixture[str]) -> str:
    shown, end = "", time.monotonic() + 10
    while "gxx" not in shown and time.monotonic() < end:
        shown += capsys.readouterr().err
    return shown


def test_packages_are_built_after_their_tools_and_a_log_says_what_it_waits_for(
    own_workspace: Workspace, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    channel = read_channel(CHECKOUT)
    events, shown = [], []
    reader, writer = os.pipe()
    monkeypatch.setattr(console, "BEAT", 0.01)

    class NoProcess:
        def fileno(self) -> int:
            """The compiler is ready when all that do not need it are."""
            return reader if self.name == "gxx" else always.fileno()

        def begin(self, _: object, workspace: Workspace, offer: Offer, *rest: object) -> None:
            self.name = offer.recipe.package.name
            events.append(("began", self.name))

        def result(self) -> str:
            if self.name == "gxx":
                shown.append(wait_for_line(capsys))
            events.append(("ended", self.name))
            if sum(kind == "ended" for kind, _ in events) == sum(not o.tools for o in offers) - 1:
                os.write(writer, b"x")
            return self.name

        def end(self) -> None:
            pass

    monkeypatch.setattr(package_builds, "BuildProcess", NoProcess)
    monkeypatch.setattr(package_builds, "fetch", lambda *_: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    assert package_builds.build_packages(own_workspace, channel, []) == {}
    names = {"blas-threads", "gxx", "libopenblas", "mako", "markupsafe"}
    offers = [each for each in channel.offers.values() if each.recipe.package.name in names]
    with Path(os.devnull).open() as always, os.fdopen(reader), os.fdopen(writer, "w"):
        package_builds.build_packages(own_workspace, channel, offers)
    assert len(events) == 2 * len(offers) >= 10
    [gxx] = [each for each in offers if each.recipe.package.name == "gxx"]
    assert re.search(
        rf"channel \(.*gxx {gxx.recipe.package.version}.*, \d of {len(offers)} packages built\)",
        shown[0],
    )
    pairs = [(each, tool) for each in offers for tool in each.tools]
    assert {tool.recipe.package.name for _, tool in pairs} == {"gxx"}
    for each, tool in pairs:
        ended = events.index(("ended", tool.recipe.package.name))
        assert ended < events.index(("began", each.recipe.package.name))


@pytest.mark.parametrize(
    ("error", "kind", "what"),
    [
        (
            exceptions.IoError("No space left on device (os error 28)"),
            DiskError,
            "/any: .*No space",
        ),
        # `extract` raises OSErrors without a number.
        (OSError("failed: No space left on device (os error 28)"), DiskError, "/any: .*No space"),
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
