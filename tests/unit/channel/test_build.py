"""Packages that are built, by processes, and those that channels have."""

import os
import re
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from rattler import exceptions

from stacks.channel import package
from stacks.channel.assemble import CondaError, translated
from stacks.channel.build import build_packages
from stacks.channel.build_process import BuildProcess
from stacks.channel.candidates import Channel, candidate_of
from stacks.core.errors import DiskError, StacksError
from stacks.core.process import call
from stacks.core.workspace import Workspace
from stacks.sources.pins import URL, LockedPackage, Pins
from stacks.sources.places import Place, channel_at, release_at
from stacks.sources.web import Web
from stacks.variants.load import load_variant
from unit.helpers.processes import read_line, started, wait_until_ended
from unit.helpers.serving import Answer, Site, drip, raw_serving, serving, sha256


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


def test_its_temporary_files_go_with_it(process: BuildProcess) -> None:
    left = Path(str(result(process, tempfile.mkdtemp)))
    assert left.is_dir()
    process.end()
    assert not left.exists()


def test_it_ends_without_a_word_with_all_it_has_started_when_its_parent_is_killed() -> None:
    code = (
        "from stacks.channel.build_process import BuildProcess\n"
        "from stacks.core.process import call\n"
        "process = BuildProcess()\n"
        "print(process._process.pid, flush=True)\n"
        "process.begin(call, ['sh', '-c', 'exec sleep 1000'])\n"
        "process.result()\n"
    )
    parent = started(code)
    pid = int(read_line(parent))
    child = psutil.Process(pid)
    while not any(each.name() == "sleep" for each in child.children(recursive=True)):
        assert child.is_running()
    below = child.children(recursive=True)
    parent.send_signal(signal.SIGKILL)
    # The child, too, holds the pipe until it has ended.
    assert parent.communicate()[1] == ""
    wait_until_ended(child, *below)


pytestmark = pytest.mark.usefixtures("room")
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


def test_packages_are_built_in_processes_and_then_come_from_the_cache(
    workspace: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    tool, other = (candidate_of(load_variant(workspace, name)) for name in ("openblas", "mkl"))
    candidates, names = [replace(other, tools=(tool,)), tool], {other.file_name, tool.file_name}
    for counts in ("2 packages built, 0 from the cache", "0 packages built, 2 from the cache"):
        assert build_packages(workspace, Channel({}, Pins()), candidates).keys() == names
        assert counts in capsys.readouterr().err


BODIES = {"g++-1.0-py_0.conda": b"1" * 5000, "two-1.0-py_0.conda": b"2" * 7000}
ONE, TWO = BODIES
PACKAGES = [
    LockedPackage(
        name[:3], "1.0", "py_0", f"{URL}/noarch/{name}", sha256(body), "0" * 32, len(body)
    )
    for name, body in BODIES.items()
]
WEB = Web(stop=threading.Event(), timeout=5.0, retries=1)
SILENT = replace(WEB, timeout=0.05, retries=0)
Files = Mapping[str, bytes | list[Answer]]


def fill(site: Site, files: Files = BODIES, folder: str = "/c/noarch") -> Place:
    for name, content in files.items():
        if isinstance(content, bytes):
            site.files[f"{folder}/{name}"] = content
        else:
            site.plans[f"{folder}/{name}"] = content
    return channel_at(f"{site.url}/c", "here", WEB)


def retrieve(workspace: Workspace, *places: Place) -> dict[str, int]:
    """Return the number of the place of each package, which is in the cache as it is locked."""
    retrieved = package.retrieve(workspace, places, PACKAGES)
    for name, (_, built) in retrieved.items():
        assert built == package.cached(workspace, name, sha256(BODIES[name]))
        assert built.path.stat().st_mode & 0o777 == 0o444
    kept = {path.name: path.read_bytes() for path in workspace.cache.rglob("*.conda")}
    assert kept == {name: BODIES[name] for name in retrieved}
    assert not [*workspace.cache.rglob("*.part")]
    names = [place.name for place in places]
    return {name: names.index(place) for name, (place, _) in retrieved.items()}


def warnings_of(capsys: pytest.CaptureFixture[str]) -> list[str]:
    lines = capsys.readouterr().err.splitlines()
    return [line for line in lines if not line.startswith("fetch")]


@pytest.mark.parametrize(
    ("first", "second", "found", "warning"),
    [
        # Nothing is asked of a place that is not needed.
        (BODIES, BODIES, {ONE: 0, TWO: 0}, None),
        # A place that lacks a package is not a fault.
        ({TWO: BODIES[TWO]}, BODIES, {ONE: 1, TWO: 0}, None),
        ({ONE: b"x" * 5000, TWO: b"y" * 9000}, BODIES, {ONE: 1, TWO: 1}, "warning: .*URL/c"),
        ({**BODIES, ONE: b"x" * 5000}, {}, {TWO: 0}, "warning: .*URL/c"),
        # It breaks off in the middle of wrong bytes; the other has the right ones.
        (
            {**BODIES, ONE: [Answer(200, b"x" * 1000, announced=5000), Answer(404)]},
            BODIES,
            {ONE: 1, TWO: 0},
            "",
        ),
    ],
)
def test_each_package_comes_from_the_first_place_that_has_its_bytes(
    first: Files,
    second: Files,
    found: dict[str, int],
    warning: str | None,
    workspace: Workspace,
    site: Site,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with serving() as other:
        assert retrieve(workspace, fill(site, first), fill(other, second)) == found
    missing = [f"/c/noarch/{name}" for name in BODIES if found.get(name) != 0]
    assert sorted({*other.paths()}) == missing
    warnings = warnings_of(capsys)
    if warning is None:
        assert warnings == []
    elif warning:
        [line] = warnings
        assert re.match(warning.replace("URL", re.escape(site.url)), line)


def test_a_folder_is_a_place_and_a_missing_one_is_named(
    workspace: Workspace, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a folder" / "noarch"
    folder.mkdir(parents=True)
    (folder / ONE).write_bytes(BODIES[ONE])
    paths = (tmp_path / "none", folder.parent)
    none, place = (channel_at(str(path), "here", WEB) for path in paths)
    assert retrieve(workspace, none, place) == {ONE: 1}
    line = f"warning: {tmp_path / 'none'}: no such folder; the next place is tried"
    assert warnings_of(capsys) == [line]


def test_a_release_that_exists_is_asked_for_every_package(
    workspace: Workspace, site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also for those of older locks, which its list no longer names."""
    fill(site, {TWO: BODIES[TWO], "index.sha256": b""}, "/r")
    assert retrieve(workspace, release_at(f"{site.url}/r", WEB)) == {TWO: 0}
    assert site.paths()[0] == "/r/index.sha256"
    assert sorted(site.paths()[1:]) == [f"/r/{ONE}", f"/r/{TWO}"]
    assert warnings_of(capsys) == []


@pytest.mark.parametrize("status", [404, 500, None])
def test_releases_that_do_not_exist_or_answer_soon_cost_no_word(
    workspace: Workspace, site: Site, capsys: pytest.CaptureFixture[str], status: int | None
) -> None:
    if status:
        fill(site, {"index.sha256": [Answer(status)] * 9}, "/r")
        assert retrieve(workspace, release_at(f"{site.url}/r", replace(WEB, retries=0))) == {}
        assert site.paths() == ["/r/index.sha256"]
    else:
        with raw_serving(drip(b"", b"", seconds=0.5)) as address:
            assert retrieve(workspace, release_at(address, SILENT)) == {}
    assert warnings_of(capsys) == []
