import json
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources import places
from stacks.sources.fetch import fetch
from stacks.sources.package_index import PipSettings
from stacks.sources.pins import IndexPin
from unit.helpers.serving import BODY, SECRET, Answer, Site, index_file, serving, sha256

WHEEL = "foo_bar-1.0-py3-none-any.whl"
pytestmark = pytest.mark.usefixtures("room")
Got = Callable[..., bytes]


def wheel(body: bytes = BODY) -> IndexPin:
    return index_file(body, WHEEL, "Foo_Bar")


def configure(
    monkeypatch: pytest.MonkeyPatch, *indexes: str, find_links: tuple[str, ...] = ()
) -> None:
    settings = PipSettings(index_urls=indexes, find_links=find_links, retries=2)
    monkeypatch.setattr(places, "pip_settings", lambda: settings)


@pytest.fixture
def index(site: Site, room: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    configure(monkeypatch, f"{site.url}/simple")
    page = f'<a href="../../files/{WHEEL}#sha256={sha256(BODY)}">{WHEEL}</a>'
    site.files["/simple/foo-bar/"] = page.encode()
    site.files[f"/files/{WHEEL}"] = BODY
    return site


def test_an_index_in_html_and_in_json(got: Got, index: Site) -> None:
    assert got(wheel()) == BODY
    assert index.paths() == ["/simple/foo-bar/", f"/files/{WHEEL}"]
    assert "application/vnd.pypi.simple.v1+json" in index.asked[0].headers["accept"]
    index.kinds["/simple/foo-bar/"] = "application/vnd.pypi.simple.v1+json"
    with pytest.raises(FetchError, match=r"(?s)cannot be parsed.*JSON.*fix"):
        got(wheel(b"other"))
    index.files[f"/files/{WHEEL}"] = b"other"
    hashes = {"sha256": sha256(b"other")}
    file = {"filename": WHEEL, "url": f"../../files/{WHEEL}", "hashes": hashes}
    index.files["/simple/foo-bar/"] = json.dumps({"files": [file]}).encode()
    assert got(wheel(b"other")) == b"other"


def test_a_project_is_looked_up_once(workspace: Workspace, index: Site) -> None:
    other = index_file(b"2", "foo.bar-2.tar.gz", "foo-bar")
    index.files["/simple/foo-bar/"] = (
        f'<base href="/f/"><a href="{WHEEL}"></a><a href="foo.bar-2.tar.gz">x</a>'.encode()
    )
    index.files |= {f"/f/{WHEEL}": BODY, "/f/foo.bar-2.tar.gz": b"2"}
    assert len(fetch(workspace, [wheel(), other])) == 2
    assert index.paths().count("/simple/foo-bar/") == 1


OTHERS = f'<a href="/own/{WHEEL}#sha256={"0" * 64}">x</a>'.encode()
OWN = f'<a href="/own/{WHEEL}#sha256={sha256(BODY)}">x</a>'.encode()
ODD = Answer(302, headers={"Location": "http://[half/"})


@pytest.mark.parametrize(
    ("page", "answer"),
    [
        (Answer(404), None),
        (Answer(500), None),
        (Answer(200, OTHERS), None),
        *((Answer(200, OWN), answer) for answer in (Answer(403), Answer(404), ODD)),
    ],
)
def test_the_next_index_is_asked(
    index: Site, got: Got, page: Answer, answer: Answer | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/own", f"{index.url}/empty", f"{index.url}/simple")
    index.plans["/own/foo-bar/"] = [page] * (1 if page.body else 99)
    index.plans[f"/own/{WHEEL}"] = [answer] * 9 if answer else []
    assert got(wheel()) == BODY
    assert page.status == 500 or index.paths().count("/own/foo-bar/") == 1


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("ill", "empty"), "answered 500"),
        (("simple", "ill"), f"files/{WHEEL}: the server answered 403"),
    ],
)
def test_the_first_failure_is_named_if_no_index_has_the_file(
    index: Site, got: Got, names: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, *(f"{index.url}/{name}" for name in names))
    index.plans["/ill/foo-bar/"] = [Answer(500)] * 99
    index.plans[f"/files/{WHEEL}"] = [Answer(403)]
    with pytest.raises(FetchError, match=message):
        got(wheel())


def test_a_file_that_no_index_has(
    got: Got, index: Site, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = index.url.replace("//", f"//me:{SECRET}@")
    configure(monkeypatch, f"{address}/simple", f"{address}/empty", find_links=(f"{room}/none",))
    pin = index_file(BODY, "foo_bar-9-py3-none-any.whl", "Foo_Bar", "9")
    with pytest.raises(FetchError) as caught:
        got(pin)
    message = str(caught.value)
    assert "Foo_Bar 9 (foo_bar-9-py3-none-any.whl) is not at: " in message
    assert (
        f"{index.url}/simple/foo-bar/, {index.url}/empty/foo-bar/ (has no such project)" in message
    )
    assert f"{room}/none (has no such project)" in message
    assert SECRET not in message


def test_an_index_with_another_hash_or_without_https_is_not_believed(
    got: Got, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(IntegrityError, match=f"(?s){WHEEL}.*expected.*found.*invoke pin"):
        got(wheel(b"other"))
    assert index.paths() == ["/simple/foo-bar/"]
    configure(monkeypatch, "http://index.invalid/simple")
    with pytest.raises(FetchError, match=r"(?s)without https.*trusted-host"):
        got(wheel())


def test_the_indexs_password_goes_with_files_on_its_own_host_only(
    got: Got, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = index.url.replace("//", f"//me:{SECRET}@")
    configure(monkeypatch, f"{address}/simple")
    page = f'<a href="{index.url}/files/{WHEEL}">{WHEEL}</a>'
    index.files["/simple/foo-bar/"] = page.encode()
    got(wheel())
    assert all("authorization" in requested.headers for requested in index.asked)
    with serving() as elsewhere:
        page = f'<a href="{elsewhere.url}/{WHEEL}">{WHEEL}</a>'
        index.files["/simple/foo-bar/"] = page.encode()
        elsewhere.files[f"/{WHEEL}"] = b"other"
        got(wheel(b"other"))
    assert "authorization" not in elsewhere.asked[0].headers


def test_indexes_and_find_links_can_be_folders_and_pages(
    got: Got, index: Site, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = room / "my index" / "foo-bar"
    folder.mkdir(parents=True)
    (folder / WHEEL).write_bytes(b"1")
    configure(monkeypatch, (room / "my index").as_uri())
    assert got(wheel(b"1")) == b"1"
    (folder / "index.html").write_text(f'<a href="../../{WHEEL}">{WHEEL}</a>')
    (room / WHEEL).write_bytes(b"2")
    assert got(wheel(b"2")) == b"2"
    configure(monkeypatch, find_links=(str(folder / "index.html"), f"{room}/none", str(room)))
    (room / WHEEL).write_bytes(b"3")
    assert got(wheel(b"3")) == b"3"
    index.files["/links.html"] = f'<a href="files/{WHEEL}">x</a>'.encode()
    index.files[f"/files/{WHEEL}"] = b"4"
    configure(monkeypatch, find_links=(str(room), f"{index.url}/links.html"))
    assert got(wheel(b"4")) == b"4"


HOSTILE_LINKS = ["http://[half/", "http://h:99999/", "http://a\x01b/", "file:///etc/", "ftp://h/"]


PAGES = [
    ("json", b"[" * 200_000),
    ("json", b'{"files": 3}'),
    ("json", b'{"files": [3]}'),
    ("json", b'{"files": [{"filename": 3, "url": 4}]}'),
    ("json", b"\xff\xfe\x00"),
    ("html", b"<![foo[ x ]]><!doctype [<!x"),
    ("html", b"<a href='\xff\x00'>&#99999999999;</a>"),
    ("\xff/json; charset=\x01", b"<a>"),
    *(("html", f'<a href="{link}{WHEEL}">x</a>'.encode()) for link in HOSTILE_LINKS),
    *(("html", f'<base href="{x}"><a href="{WHEEL}">x</a>'.encode()) for x in HOSTILE_LINKS),
]


@pytest.mark.parametrize(("kind", "page"), PAGES)
def test_a_hostile_page_does_not_hide_the_next_index(
    got: Got, index: Site, kind: str, page: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/own", f"{index.url}/simple")
    index.files["/own/foo-bar/"] = page
    index.kinds["/own/foo-bar/"] = kind
    assert got(wheel()) == BODY


@pytest.mark.parametrize("folder", ["file:{0}", "file://localhost{0}", "FILE:{0}"])
def test_an_index_on_a_server_cannot_name_files_of_this_machine(
    got: Got, index: Site, room: Path, folder: str
) -> None:
    (room / WHEEL).write_bytes(b"own")
    page = f'<a href="{folder.format(room)}/{WHEEL}">x</a>'
    index.files["/simple/foo-bar/"] = page.encode()
    with pytest.raises(FetchError, match="is not at"):
        got(wheel(b"own"))


def test_what_is_no_sha256_counts_as_none(got: Got, index: Site) -> None:
    page = f'<a href="/files/{WHEEL}#sha256=\x1b[31mred">x</a>'
    index.files["/simple/foo-bar/"] = page.encode()
    assert got(wheel()) == BODY
