"""Which places have which pinned files, by the sizes that they answer."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from stacks.core.errors import FetchError
from stacks.sources import places
from stacks.sources.mirrors import PipSettings
from stacks.sources.pins import DebPin, IndexPin, Pin
from stacks.sources.places import Holdings, Place, index_places, mirror_place
from stacks.sources.web import TransientError, Web
from unit.helpers.serving import BODY, POOL, SECRET, Answer, Site, closed_port, deb, sha256
from unit.helpers.web_server import Request, web_server

pytestmark = pytest.mark.usefixtures("room")
OTHER = "/pool/main/b/bar/bar_1.0_amd64.deb"


def web() -> Web:
    return Web(stop=threading.Event(), retries=1)


def holdings_at(root: str, *pins: DebPin) -> Holdings:
    (holdings,) = places.survey([mirror_place(web(), root)], pins, threading.Event())
    return holdings


def wheel(name: str = "foo-1.0-py3-none-any.whl", body: bytes = BODY) -> IndexPin:
    return IndexPin(name="Foo", version="1.0", filename=name, size=len(body), sha256=sha256(body))


def index_holdings(
    monkeypatch: pytest.MonkeyPatch, settings: PipSettings, *pins: IndexPin
) -> list[Holdings]:
    monkeypatch.setattr(places, "pip_settings", lambda: settings)
    stop = threading.Event()
    return places.survey(index_places(stop), [*pins, deb()], stop)


def test_a_mirror_is_asked_for_the_size_only(site: Site) -> None:
    site.files[f"/debian{POOL}"] = BODY
    here, gone = deb(), deb(path=OTHER)
    holdings = holdings_at(f"{site.url}/debian", here, gone)
    assert holdings == Holdings(f"{site.url}/debian", frozenset({here}))
    assert (site.heads, len(site.asked)) == (2, 2)


def test_a_place_is_asked_over_one_connection() -> None:
    connections = set()

    def reply(request: Request) -> None:
        connections.add(request.client_address)
        request.send(200, {}, BODY)

    pins = [deb(path=f"pool/{number}.deb") for number in range(20)]
    with web_server(reply, keeps=True) as port:
        holdings = holdings_at(f"http://127.0.0.1:{port}", *pins)
    assert holdings.held == set(pins)
    assert len(connections) == 1


def test_a_file_of_another_size_is_not_held(site: Site) -> None:
    site.files[POOL] = b"a page of the hotel's network"
    holdings = holdings_at(site.url, deb())
    assert holdings.held == frozenset()
    assert holdings.problems == {
        deb(): f"{site.url}{POOL} answers with 29 bytes; pinned are {len(BODY)}"
    }


def test_an_answer_without_a_size_is_not_counted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "size_at", lambda web, url: None)
    assert "without its size" in holdings_at(site.url, deb()).problems[deb()]


def test_a_file_on_disk_counts(tmp_path: Path) -> None:
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool" / "a.deb").write_bytes(BODY)
    pin, gone = deb(path="pool/a.deb"), deb(path="pool/b.deb")
    assert holdings_at(tmp_path.as_uri(), pin, gone).held == {pin}


def test_a_server_that_asks_to_wait_is_waited_for(site: Site, pauses: list[float]) -> None:
    site.files[POOL] = BODY
    site.plans[POOL] = [Answer(429, headers={"Retry-After": "7"})]
    assert holdings_at(site.url, deb()).held == {deb()}
    assert pauses == [7.0]


def test_a_server_that_stays_busy_is_left_alone(site: Site) -> None:
    site.files |= {POOL: BODY, OTHER: BODY}
    site.plans[OTHER] = [Answer(503)] * 9
    holdings = holdings_at(site.url, deb(), deb(path=OTHER), deb(path="/pool/main/c/c.deb"))
    assert holdings.held == {deb()}
    assert "503" in (holdings.failure or "")
    assert site.paths() == [POOL, OTHER, OTHER]


def test_a_dead_mirror_does_not_hide_the_living(site: Site) -> None:
    site.files[POOL] = BODY
    dead = f"http://me:{SECRET}@127.0.0.1:{closed_port()}"
    mirrors = [mirror_place(web(), root) for root in (dead, site.url)]
    silent, living = places.survey(mirrors, [deb()], threading.Event())
    assert living.held == {deb()}
    assert "cannot be reached" in (silent.failure or "")
    assert SECRET not in silent.place + (silent.failure or "")


def test_a_refusal_is_a_problem_of_one_file(site: Site) -> None:
    site.files[OTHER] = BODY
    site.plans[POOL] = [Answer(403)]
    holdings = holdings_at(site.url, deb(), deb(path=OTHER))
    assert holdings.held == {deb(path=OTHER)} and holdings.failure is None
    assert "403" in holdings.problems[deb()]


def test_an_index_is_asked_once_for_a_project(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, gone = wheel(), wheel("foo-2.0.tar.gz", b"2"), wheel("foo-3.0.tar.gz", b"3")
    site.files["/simple/foo/"] = (
        f'<a href="/f/a.whl#sha256={first.sha256}">a</a><a href="/f/{first.filename}">b</a>'
        f'<a href="/f/{second.filename}#sha256={second.sha256}">c</a>'
    ).encode()
    site.files |= {f"/f/{first.filename}": BODY, f"/f/{second.filename}": b"2"}
    (holdings,) = index_holdings(
        monkeypatch, PipSettings(index_urls=(f"{site.url}/simple",)), first, second, gone
    )
    assert holdings.held == {first, second}
    assert site.paths().count("/simple/foo/") == 1


def test_each_index_and_folder_is_a_place(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / wheel().filename).write_bytes(BODY)
    site.files[f"/f/{wheel().filename}"] = BODY
    page = f'<a href="/f/{wheel().filename}#sha256={{}}">x</a>'
    site.files["/good/foo/"] = page.format(wheel().sha256).encode()
    site.files["/other/foo/"] = page.format("0" * 64).encode()
    # Listed, and not there.
    site.files["/false/foo/"] = f'<a href="/none/{wheel().filename}">x</a>'.encode()
    settings = PipSettings(
        index_urls=tuple(f"{site.url}/{name}" for name in ("good", "other", "false", "empty")),
        find_links=(str(tmp_path),),
    )
    good, other, false, empty, folder = index_holdings(monkeypatch, settings, wheel())
    assert [each.held for each in (good, folder)] == [{wheel()}, {wheel()}]
    assert not other.held and "has other bytes" in other.problems[wheel()]
    assert (false, empty) == (Holdings(f"{site.url}/false"), Holdings(f"{site.url}/empty"))
    assert folder.place == str(tmp_path)


def place(name: str, error: BaseException) -> Place:
    def urls(pin: Pin) -> Sequence[str]:
        raise error

    return Place(name, web(), (DebPin,), urls)


def test_a_stop_ends_the_survey() -> None:
    stop = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        places.survey([place("a", KeyboardInterrupt())], [deb()], stop)
    assert stop.is_set()


def test_errors_of_a_place_differ_from_those_of_a_file() -> None:
    both = [place("a", TransientError("busy")), place("b", FetchError("refused"))]
    a, b = places.survey(both, [deb()], threading.Event())
    assert (a.failure, a.problems) == ("busy", {})
    assert (b.failure, b.problems) == (None, {deb(): "refused"})
