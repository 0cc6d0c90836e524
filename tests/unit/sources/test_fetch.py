from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from stacks.core import disk
from stacks.core.disk import DiskError
from stacks.core.errors import FetchError
from stacks.core.workspace import Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin
from unit.helpers.serving import BODY, POOL, Answer, Site, closed_port, deb, part_of

pytestmark = pytest.mark.usefixtures("room")


def test_a_file_is_fetched_once(
    workspace: Workspace, mirror: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    first = fetch(workspace, [deb()])
    again = fetch(workspace, [deb(), deb()])
    assert first[deb()].read_bytes() == BODY
    assert again == first
    assert mirror.paths() == [f"/debian{POOL}"]
    message = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in message] == ["fetching", "fetched"]
    assert "1 file, 1.0 MB" in message[0]


def test_a_flipped_byte_in_the_cache_is_thrown_away_and_fetched_again(
    workspace: Workspace, mirror: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fetch(workspace, [deb()])[deb()]
    path.write_bytes(BODY[:99] + b"\xff" + BODY[100:])
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert f"{path}: deleted" in capsys.readouterr().err
    assert len(mirror.asked) == 2


def test_a_folder_in_place_of_a_cached_file_is_thrown_away(
    workspace: Workspace, mirror: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fetch(workspace, [deb()])[deb()]
    path.unlink()
    path.mkdir()
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert "found a folder" in capsys.readouterr().err


def test_a_flipped_byte_without_a_network_is_an_error(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fetch(workspace, [deb()])[deb()]
    path.write_bytes(BODY[:99] + b"\xff" + BODY[100:])
    with pytest.raises(FetchError, match=f"(?s){path.name}: wrong.*expected.*found.*fix"):
        fetch(workspace, [deb()], offline=True)
    monkeypatch.setenv("DEBIAN_MIRROR", f"http://127.0.0.1:{closed_port()}")
    with pytest.raises(FetchError, match="Connection refused"):
        fetch(workspace, [deb()])
    assert not path.exists()


def test_offline_takes_the_cache_and_asks_nobody(workspace: Workspace, mirror: Site) -> None:
    fetch(workspace, [deb()])
    requested = len(mirror.asked)
    assert fetch(workspace, [deb()], offline=True)[deb()].read_bytes() == BODY
    with pytest.raises(FetchError, match=r"(?s)missing.*with a network"):
        fetch(workspace, [deb(b"other")], offline=True)
    assert len(mirror.asked) == requested


def test_no_pins_need_nothing(workspace: Workspace) -> None:
    assert fetch(workspace, []) == {}


def test_a_full_disk_is_an_error(workspace: Workspace, mirror: Site) -> None:
    part = part_of(workspace, deb(), b"")
    part.unlink()
    part.symlink_to("/dev/full")
    with pytest.raises(DiskError, match=r"(?s)No space left.*THEANO_STACKS_CACHE"):
        fetch(workspace, [deb()])


def test_a_cache_that_cannot_be_created_is_an_error(
    workspace: Workspace, mirror: Site, room: Path
) -> None:
    (room / "cache").write_text("a file")
    with pytest.raises(DiskError, match=r"(?s)fix"):
        fetch(workspace, [deb()])


def test_a_cache_that_may_not_be_written_still_serves(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch(workspace, [deb()])

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    with pytest.raises(DiskError, match=r"(?s)Read-only.*THEANO_STACKS_CACHE"):
        fetch(workspace, [deb(b"other")])


PROGRAM = """
import sys
from stacks.core.workspace import default_workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import DebPin
pin = DebPin(suite="s", name="foo", version="1", path=sys.argv[1], size=int(sys.argv[2]),
             sha256=sys.argv[3])
print("asking", flush=True)
try:
    print(fetch(default_workspace(), [pin])[pin].stat().st_size)
except KeyboardInterrupt:
    sys.exit(130)
"""


def another(pin: DebPin) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROGRAM, pin.path, str(pin.size), pin.sha256]
    return subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=disk.REPOSITORY
    )


def test_two_processes_fetch_one_file_once(mirror: Site) -> None:
    both = [another(deb()), another(deb())]
    output = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], output
    assert [out.split()[-1] for out, _ in output] == [str(len(BODY))] * 2
    assert len(mirror.asked) == 1


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_fetch_is_resumed(
    workspace: Workspace, mirror: Site, blow: signal.Signals
) -> None:
    requested, go_on = threading.Event(), threading.Event()
    answer = mirror.answer

    def slow(path: str, headers: dict[str, str]) -> Answer:
        if "range" in headers:
            requested.set()
            assert go_on.wait(60)
        return answer(path, headers)

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
    mirror.answer = answer  # type: ignore[method-assign]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
