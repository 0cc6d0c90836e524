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
from unit.helpers.serving import BODY, POOL, Answer, Site, deb, sha256
from unit.helpers.web_server import Request, web_server

pytestmark = pytest.mark.usefixtures("room")
OTHER = "/pool/main/b/bar/bar_1.0_amd64.deb"


def web() -> Web:
    return Web(stop=threading.Event(), retries=1)


def holdings_at(root: str, *pins: DebPin) -> Holdings:
    (holdings,) = places.survey([mirror_place(web(), root)], pins, threading.Event())
    return holdings


def test_a_place_is_asked_over_one_connection_for_the_sizes_only() -> None:
    connections, methods = set(), set()

    def reply(request: Request) -> None:
        connections.add(request.client_address)
        methods.add(request.command)
        request.send(200, {}, BODY)

    pins = [deb(path=f"pool/{number}.deb") for number in range(20)]
    with web_server(reply, keeps=True) as port:
        holdings = holdings_at(f"http://127.0.0.1:{port}", *pins)
    assert holdings == Holdings(f"http://127.0.0.1:{port}", frozenset(pins))
    assert len(connections) == 1 and methods == {"HEAD"}


@pytest.mark.parametrize(
    ("answers", "held", "problem", "failure"),
    [
        ([], True, None, None),
        ([Answer(404)], False, None, None),
        ([Answer(200, b"a page")], False, "answers with 6 bytes; pinned are", None),
        ([Answer(403)], False, "answered 403", None),
        ([Answer(429, headers={"Retry-After": "7"})], True, None, None),
        # A server that stays busy is left alone.
        ([Answer(503)] * 2, False, None, "answered 503"),
    ],
)
def test_what_an_answer_says(
    site: Site, answers: list[Answer], held: bool, problem: str | None, failure: str | None
) -> None:
    site.files |= {POOL: BODY, OTHER: BODY}
    site.plans[POOL] = list(answers)
    holdings = holdings_at(site.url, deb(), deb(path=OTHER))
    assert holdings.held == {*([deb()] if held else []), *([] if failure else [deb(path=OTHER)])}
    assert (problem or "") in holdings.problems.get(deb(), "") and len(holdings.problems) == (
        problem is not None
    )
    assert (failure or "") in (holdings.failure or "") and bool(holdings.failure) == bool(failure)


def test_an_answer_without_a_size_is_not_counted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "size_at", lambda web, url: None)
    assert "without its size" in holdings_at(site.url, deb()).problems[deb()]


def test_each_index_and_folder_is_a_place(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "foo-1.0-py3-none-any.whl"
    pin = IndexPin(name="Foo", version="1.0", filename=name, size=len(BODY), sha256=sha256(BODY))
    (tmp_path / name).write_bytes(BODY)
    site.files[f"/f/{name}"] = BODY
    page = f'<a href="/f/{name}#sha256={{}}">x</a>'
    site.files["/good/foo/"] = page.format(pin.sha256).encode()
    site.files["/other/foo/"] = page.format("0" * 64).encode()
    # Listed, and not there.
    site.files["/false/foo/"] = f'<a href="/none/{name}">x</a>'.encode()
    settings = PipSettings(
        index_urls=tuple(f"{site.url}/{name}" for name in ("good", "other", "false", "empty")),
        find_links=(str(tmp_path),),
    )
    monkeypatch.setattr(places, "pip_settings", lambda: settings)
    stop = threading.Event()
    good, other, false, empty, folder = places.survey(index_places(stop), [pin, deb()], stop)
    assert [each.held for each in (good, folder)] == [{pin}, {pin}]
    assert not other.held and "has other bytes" in other.problems[pin]
    assert (false, empty) == (Holdings(f"{site.url}/false"), Holdings(f"{site.url}/empty"))
    assert folder.place == str(tmp_path)


def test_errors_of_a_place_differ_from_those_of_a_file_and_a_stop_ends_all() -> None:
    def place(error: BaseException) -> Place:
        def urls(pin: Pin) -> Sequence[str]:
            raise error

        return Place("a", web(), (DebPin,), urls)

    both, stop = [place(TransientError("busy")), place(FetchError("refused"))], threading.Event()
    a, b = places.survey(both, [deb()], stop)
    assert (a.failure, a.problems) == ("busy", {})
    assert (b.failure, b.problems) == (None, {deb(): "refused"})
    with pytest.raises(KeyboardInterrupt):
        places.survey([place(KeyboardInterrupt())], [deb()], stop)
    assert stop.is_set()
