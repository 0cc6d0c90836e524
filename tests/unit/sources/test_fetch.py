"""Pinned files from the cache, a vendored folder or one mirror."""

import signal
import stat
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import DiskError, FetchError, IntegrityError, UsageError
from stacks.core.workspace import Workspace
from stacks.sources import download
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import VARIABLE, vendored_folder
from stacks.sources.parallel import parallel_map
from stacks.sources.pins import DebPin, cached_path
from unit.helpers.processes import started
from unit.helpers.serving import BODY, DEB, POOL, Answer, Site, closed_port, deb, part_of, sha256

pytestmark = pytest.mark.usefixtures("room")
Got = Callable[..., bytes]


def test_a_file_is_fetched_once(
    workspace: Workspace, mirror: Site, room: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    [path] = fetch(workspace, [deb()]).values()
    folder = room / "cache/sources/sha256" / sha256(BODY)[:2] / sha256(BODY)
    assert path == folder / "foo_1.0_amd64.deb" and list(folder.glob("*.part")) == []
    assert path.read_bytes() == BODY and stat.S_IMODE(path.stat().st_mode) == 0o444
    other = replace(deb(), suite="bookworm")
    assert fetch(workspace, [deb(), other, deb()]) == {deb(): path, other: path}
    assert fetch(workspace, []) == {}
    assert mirror.paths() == [DEB]
    first, second = capsys.readouterr().err.splitlines()
    assert first == "fetching 1 file, 1.0 MB" and second.startswith("fetched 1 file, 1.0 MB in ")


@pytest.mark.parametrize("change", [
    {"path": "pool/.."}, {"path": "pool/"}, {"path": "pool/-x"}, {"path": "pool/a\nb"},
    {"sha256": "../" * 3 + "x"}, {"sha256": ""},
])  # fmt: skip
def test_a_pin_cannot_name_a_path_outside_its_folder(
    workspace: Workspace, change: dict[str, Any]
) -> None:
    with pytest.raises(IntegrityError, match="cannot be a file of the cache") as caught:
        cached_path(workspace.cache, replace(deb(), **change))
    assert caught.value.expected and caught.value.found


def test_a_file_that_changed_in_the_cache_is_thrown_away(
    workspace: Workspace, mirror: Site, got: Got, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fetch(workspace, [deb()])[deb()]
    damaged = BODY[:99] + b"\xff" + BODY[100:]
    path.write_bytes(damaged)
    assert got() == BODY
    assert f"{path}: deleted" in capsys.readouterr().err
    path.unlink()
    path.mkdir()
    assert got() == BODY
    assert "found a folder" in capsys.readouterr().err
    assert len(mirror.asked) == 3
    # Also where no mirror has another one.
    path.write_bytes(damaged)
    mirror.files.clear()
    with pytest.raises(FetchError, match="is not at"):
        got()
    assert not path.parent.exists()


ALL, FROM = len(BODY), "bytes={}-".format


@pytest.mark.parametrize(
    ("part", "answers", "ranges"),
    [
        (BODY[:1000], [], [FROM(1000)]),
        (BODY, [], []),
        (b"\xff" * 1000, [], [FROM(1000), None]),
        (b"\xff" * ALL, [], [None]),
        (BODY + b"more", [], [None]),
        (BODY[:1000], [Answer(200, BODY)], [FROM(1000)]),
        (
            BODY[:1000],
            [Answer(206, BODY, {"Content-Range": f"bytes 0-{ALL - 1}/{ALL}"})],
            [FROM(1000), None],
        ),
        (b"", [Answer(200, BODY[:5000], announced=ALL)], [None, FROM(5000)]),
        (b"", [Answer(200, BODY[:5000])], [None, FROM(5000)]),
        (b"", [Answer(200, b"!" * ALL)], [None, None]),
    ],
    ids=[
        *("resumed", "complete", "wrong", "wrong to the end", "too long", "not resumed by server"),
        *("wrong Content-Range", "broken transfer", "too short", "wrong bytes once"),
    ],
)
def test_what_a_part_and_the_answers_lead_to(
    workspace: Workspace,
    mirror: Site,
    got: Got,
    part: bytes,
    answers: list[Answer],
    ranges: list[str | None],
) -> None:
    path = part_of(workspace, deb(), part)
    mirror.plans[DEB] = answers
    assert got() == BODY
    assert [asked.headers.get("range") for asked in mirror.asked] == ranges
    assert not path.exists()


def test_wrong_bytes_are_fetched_once_more_and_then_refused(
    mirror: Site, got: Got, room: Path
) -> None:
    wrong = BODY[:-1] + b"!"
    mirror.files[DEB] = wrong
    with pytest.raises(IntegrityError) as caught:
        got()
    message = str(caught.value)
    assert f"foo_1.0_amd64.deb from {mirror.url}{DEB}" in message
    assert f"expected: sha256 {sha256(BODY)}" in message
    assert f"found:    sha256 {sha256(wrong)}" in message
    assert len(mirror.asked) == 2
    assert list((room / "cache").rglob("foo*")) == []


def test_a_busy_server_is_tried_again_after_the_time_that_it_asks_for(
    mirror: Site, got: Got, pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    waits = ("", "17", "86400", "Sat, 01 Jan 2000 00:00:00 GMT")
    answers = [Answer(503, headers={"Retry-After": text} if text else {}) for text in waits]
    mirror.plans[DEB] = [*answers]
    assert got() == BODY
    assert 0.25 <= pauses[0] <= 0.5 and pauses[1:3] == [17.0, download.LONGEST_PAUSE]
    assert 2.0 <= pauses[3] <= 4.0
    assert capsys.readouterr().err.count("trying again: ") == 1
    mirror.plans[f"{DEB}x"] = [Answer(429), Answer(502, headers={"Retry-After": "soon"})] * 9
    with pytest.raises(FetchError, match=r"(?s)answered 429.*fix"):
        got(replace(deb(b"other"), path=f"{POOL[1:]}x"))
    assert len(pauses) == 8


def test_a_disk_that_cannot_take_a_file_is_an_error(
    workspace: Workspace, mirror: Site, got: Got, room: Path
) -> None:
    (room / "cache").write_text("a file")
    with pytest.raises(DiskError, match=r"(?s)fix"):
        got()
    (room / "cache").unlink()
    part = part_of(workspace, deb(), b"")
    part.unlink()
    part.symlink_to("/dev/full")
    with pytest.raises(DiskError, match=r"(?s)No space left.*THEANO_STACKS_CACHE"):
        got()


PROGRAM = """
import sys
from stacks.core.workspace import default_workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin
pin = DebPin(suite="s", name="foo", version="1", path=sys.argv[1], size=int(sys.argv[2]),
             sha256=sys.argv[3])
try:
    print(fetch(default_workspace(), [pin])[pin].stat().st_size)
except KeyboardInterrupt:
    sys.exit(130)
"""


def another(pin: DebPin) -> subprocess.Popen[str]:
    return started(PROGRAM, pin.path, str(pin.size), pin.sha256)


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_fetch_is_resumed_once(
    workspace: Workspace, mirror: Site, got: Got, blow: signal.Signals
) -> None:
    requested, go_on = threading.Event(), threading.Event()
    answer = mirror.answer

    def slow(path: str, headers: dict[str, str]) -> Answer:
        requested.set()
        assert go_on.wait(60)
        return Answer(404)

    part = part_of(workspace, deb(), BODY[:5000])
    mirror.answer = slow  # type: ignore[method-assign]
    process = another(deb())
    assert requested.wait(60)
    process.send_signal(blow)
    _, message = process.communicate()
    go_on.set()
    assert process.returncode == (130 if blow is signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in message
    assert part.read_bytes()[:5000] == BODY[:5000]
    # Two at once: one fetches it for both.
    mirror.answer, mirror.asked = answer, []  # type: ignore[method-assign]
    with another(deb()) as other:
        assert got() == BODY
        assert other.communicate()[0] == f"{ALL}\n"
    assert len(mirror.asked) == 1


@pytest.fixture
def carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a vendored folder; give the path of the deb in it."""
    path = cached_path(tmp_path / "carried", deb())
    path.parent.mkdir(parents=True)
    path.write_bytes(BODY)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "carried"))
    return path


@pytest.mark.usefixtures("carried")
def test_a_vendored_file_is_copied_into_the_cache(workspace: Workspace) -> None:
    path = fetch(workspace, [deb()])[deb()]
    assert path == cached_path(workspace.cache, deb()) and path.read_bytes() == BODY
    assert stat.S_IMODE(path.stat().st_mode) == 0o444


@pytest.mark.parametrize(
    ("data", "warning"),
    [
        (b"!" + BODY[1:], "its bytes are not the pinned ones"),
        (BODY + b"!", "too much"),
        (None, None),
    ],
)
def test_a_vendored_file_that_is_wrong_is_warned_of_and_not_taken(
    workspace: Workspace,
    carried: Path,
    data: bytes | None,
    warning: str | None,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    carried.write_bytes(data) if data else carried.unlink()
    monkeypatch.setenv("DEBIAN_MIRROR", f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(FetchError, match="Connection refused"):
        fetch(workspace, [deb()])
    lines = [x for x in capsys.readouterr().err.splitlines() if x.startswith("warning")]
    assert len(lines) == (warning is not None)
    for line in lines:
        assert carried.name in line and str(warning) in line and "next place is tried" in line
    path = cached_path(workspace.cache, deb())
    assert not path.exists() and not list(path.parent.glob("*.part"))


def test_the_variable_must_name_a_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/missing")
    with pytest.raises(UsageError, match="names no folder"):
        vendored_folder()


def test_results_of_threads_come_in_the_order_of_the_items_and_a_failure_stops_the_rest() -> None:
    last = threading.Event()

    def work(item: int) -> int:
        if item == 3:
            last.set()
        assert item or last.wait(60)
        return item * 10

    assert parallel_map(work, [0, 1, 2, 3], threading.Event(), threads=2) == [0, 10, 20, 30]
    stop, done = threading.Event(), []

    def fail(item: int) -> None:
        done.append(item)
        if item == 1:
            raise ValueError("item 1")

    with pytest.raises(ValueError, match="item 1"):
        parallel_map(fail, range(100), stop, threads=1)
    assert stop.is_set() and done == [0, 1]
