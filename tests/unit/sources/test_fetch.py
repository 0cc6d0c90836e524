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
from unit.helpers.serving import BODY, POOL, SECRET, Answer, Site, closed_port, deb, part_of, sha256

pytestmark = pytest.mark.usefixtures("room")


def test_a_file_is_fetched_once(
    workspace: Workspace, mirror: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    first = fetch(workspace, [deb()])
    again = fetch(workspace, [deb(), deb()])
    assert first[deb()].read_bytes() == BODY
    assert again == first
    assert mirror.paths() == [f"/debian{POOL}"]
    told = capsys.readouterr().err.splitlines()
    assert [line.split()[0] for line in told] == ["fetching", "fetched"]
    assert "1 file, 1.0 MB" in told[0]


def test_the_cache_is_addressed_by_content(workspace: Workspace, mirror: Site, room: Path) -> None:
    digest = sha256(BODY)
    expected = room / "cache/sources/sha256" / digest[:2] / digest / "foo_1.0_amd64.deb"
    assert fetch(workspace, [deb()]) == {deb(): expected}
    assert list(expected.parent.glob("*.part")) == []


def test_a_flipped_byte_in_the_cache_is_thrown_away_and_fetched_again(
    workspace: Workspace, mirror: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    path = fetch(workspace, [deb()])[deb()]
    path.write_bytes(BODY[:99] + b"\xff" + BODY[100:])
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    assert f"thrown away: {path}" in capsys.readouterr().err
    assert len(mirror.asked) == 2


def test_a_flipped_byte_without_a_network_is_told(
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
    asked = len(mirror.asked)
    assert fetch(workspace, [deb()], offline=True)[deb()].read_bytes() == BODY
    with pytest.raises(FetchError, match=r"(?s)not there.*with a network"):
        fetch(workspace, [deb(b"other")], offline=True)
    assert len(mirror.asked) == asked


def test_no_pins_need_nothing(workspace: Workspace) -> None:
    assert fetch(workspace, []) == {}


def test_one_file_in_two_suites_is_fetched_once(workspace: Workspace, mirror: Site) -> None:
    other = DebPin(**{**vars(deb()), "suite": "bookworm"})
    assert len(fetch(workspace, [deb(), other])) == 2
    assert len(mirror.asked) == 1


def test_many_files_come_in_one_go(workspace: Workspace, mirror: Site) -> None:
    pins = []
    for number in range(30):
        body = b"%d" % number * 1000
        pins.append(deb(body, f"/pool/{number}_1.0_amd64.deb"))
        mirror.files[f"/debian/pool/{number}_1.0_amd64.deb"] = body
    assert [path.stat().st_size for path in fetch(workspace, pins).values()] == [
        pin.size for pin in pins
    ]


def test_a_dropped_version_comes_from_the_snapshot_mirror(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    del mirror.files[f"/debian{POOL}"]
    mirror.files[f"/2025/{POOL.lstrip('/')}"] = BODY
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{mirror.url}/2025/")
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_a_dropped_version_says_what_to_do(workspace: Workspace, mirror: Site) -> None:
    mirror.files.clear()
    others = [deb(b"%d" % n, f"/pool/{n}_1.0_amd64.deb") for n in range(12)]
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [deb(), *others])
    told = str(caught.value)
    assert f"foo 1.0 of bullseye (foo_1.0_amd64.deb) is not at: {mirror.url}/debian" in told
    assert "and 3 more" in told
    assert "DEBIAN_SNAPSHOT_MIRROR" in told
    assert "./invoke pin" in told


def test_wrong_bytes_at_one_mirror_and_right_ones_at_the_next(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror.files[f"/debian{POOL}"] = b"!" * len(BODY)
    mirror.files[f"/other{POOL}"] = BODY
    monkeypatch.setenv("DEBIAN_SNAPSHOT_MIRROR", f"{mirror.url}/other")
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


def test_no_mirror_at_all(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, room: Path
) -> None:
    monkeypatch.delenv("DEBIAN_MIRROR", raising=False)
    monkeypatch.setattr("stacks.sources.mirrors.APT", room)
    with pytest.raises(FetchError, match="export DEBIAN_MIRROR="):
        fetch(workspace, [deb()])


def test_no_network_names_the_host_and_the_reason(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    port = closed_port()
    monkeypatch.setenv("DEBIAN_MIRROR", f"http://me:{SECRET}@127.0.0.1:{port}/debian")
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [deb()])
    assert f"127.0.0.1:{port} cannot be reached: Connection refused" in str(caught.value)
    assert "fix" in str(caught.value)
    assert SECRET not in str(caught.value) + capsys.readouterr().err


def test_a_proxy_that_is_away_is_named(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", f"http://me:{SECRET}@127.0.0.1:{closed_port()}")
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.invalid/debian")
    with pytest.raises(FetchError, match="through the proxy: Connection refused") as caught:
        fetch(workspace, [deb()])
    assert SECRET not in str(caught.value)


def test_the_environments_proxy_is_used(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", mirror.url)
    monkeypatch.setenv("DEBIAN_MIRROR", "http://mirror.invalid/debian")
    mirror.files[f"http://mirror.invalid/debian{POOL}"] = BODY
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY


@pytest.mark.parametrize("root", ["http://[half/debian", "http:///debian"])
def test_an_address_that_is_none_is_told(
    workspace: Workspace, root: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", root)
    with pytest.raises(FetchError, match=r"(?s)fix.*spelling"):
        fetch(workspace, [deb()])


def test_a_refusal_speaks_of_the_password_and_does_not_show_it(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = mirror.url.replace("//", f"//me:{SECRET}@")
    monkeypatch.setenv("DEBIAN_MIRROR", f"{address}/debian")
    mirror.plans[f"/debian{POOL}"] = [Answer(401)]
    with pytest.raises(FetchError, match=r"(?s)answered 401.*password") as caught:
        fetch(workspace, [deb()])
    assert SECRET not in str(caught.value)
    assert mirror.asked[0].headers["authorization"].startswith("Basic ")


def test_a_bundle_that_is_missing_is_told(
    workspace: Workspace, mirror: Site, monkeypatch: pytest.MonkeyPatch, room: Path
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(room / "nosuch.pem"))
    monkeypatch.setenv("DEBIAN_MIRROR", mirror.url.replace("http:", "https:"))
    with pytest.raises(FetchError, match=r"(?s)fix.*CA bundle"):
        fetch(workspace, [deb()])


def test_a_mirror_can_be_a_folder(
    workspace: Workspace, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = room / "a folder" / POOL.lstrip("/")
    file.parent.mkdir(parents=True)
    file.write_bytes(BODY)
    monkeypatch.setenv("DEBIAN_MIRROR", (room / "a folder").as_uri())
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
    file.unlink()
    with pytest.raises(FetchError, match="is not at: file:"):
        fetch(workspace, [deb(b"other")])


def test_a_full_disk_is_told(workspace: Workspace, mirror: Site) -> None:
    part = part_of(deb(), b"")
    part.unlink()
    part.symlink_to("/dev/full")
    with pytest.raises(DiskError, match=r"(?s)No space left.*THEANO_STACKS_CACHE"):
        fetch(workspace, [deb()])


def test_a_cache_that_cannot_be_made_is_told(
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
from stacks.sources.fetch import fetch
from stacks.sources import DebPin
pin = DebPin(suite="s", name="foo", version="1", path=sys.argv[1], size=int(sys.argv[2]),
             sha256=sys.argv[3])
print("asking", flush=True)
try:
    print(fetch([pin])[pin].stat().st_size)
except KeyboardInterrupt:
    sys.exit(130)
"""


def another(pin: DebPin) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", PROGRAM, pin.path, str(pin.size), pin.sha256]
    return subprocess.Popen(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=disk.REPOSITORY,
    )


def test_two_processes_fetch_one_file_once(mirror: Site) -> None:
    both = [another(deb()), another(deb())]
    said = [process.communicate() for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert [out.split()[-1] for out, _ in said] == [str(len(BODY))] * 2
    assert len(mirror.asked) == 1


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_fetch_leaves_a_part_that_is_gone_on_with(
    workspace: Workspace, mirror: Site, blow: signal.Signals
) -> None:
    asked, go_on = threading.Event(), threading.Event()
    answer = mirror.answer

    def slow(path: str, headers: dict[str, str]) -> Answer:
        if "range" in headers:
            asked.set()
            assert go_on.wait(60)
        return answer(path, headers)

    part = part_of(deb(), BODY[:5000])
    mirror.answer = slow  # type: ignore[method-assign]
    process = another(deb())
    assert asked.wait(60)
    process.send_signal(blow)
    _, told = process.communicate()
    go_on.set()
    assert process.returncode == (130 if blow is signal.SIGINT else -signal.SIGKILL)
    assert "Traceback" not in told
    assert part.read_bytes()[:5000] == BODY[:5000]
    mirror.answer = answer  # type: ignore[method-assign]
    assert fetch(workspace, [deb()])[deb()].read_bytes() == BODY
