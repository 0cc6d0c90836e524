from __future__ import annotations

import json
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError
from stacks.core.workspace import Workspace
from stacks.sources import places
from stacks.sources.fetch import fetch
from stacks.sources.mirrors import PipSettings
from stacks.sources.pins import IndexPin
from unit.helpers.serving import BODY, SECRET, Answer, Site, serving, sha256

WHEEL = "foo_bar-1.0-py3-none-any.whl"
pytestmark = pytest.mark.usefixtures("room")


def wheel(body: bytes = BODY) -> IndexPin:
    return IndexPin(
        name="Foo_Bar", version="1.0", filename=WHEEL, size=len(body), sha256=sha256(body)
    )


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


def test_an_html_index(workspace: Workspace, index: Site) -> None:
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY
    assert index.paths() == ["/simple/foo-bar/", f"/files/{WHEEL}"]
    assert "application/vnd.pypi.simple.v1+json" in index.asked[0].headers["accept"]


def test_a_json_index(workspace: Workspace, index: Site) -> None:
    file = {"filename": WHEEL, "url": f"../../files/{WHEEL}", "hashes": {"sha256": sha256(BODY)}}
    index.files["/simple/foo-bar/"] = json.dumps({"files": [file]}).encode()
    index.kinds["/simple/foo-bar/"] = "application/vnd.pypi.simple.v1+json"
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


def test_an_unreadable_json_index_is_an_error(workspace: Workspace, index: Site) -> None:
    index.kinds["/simple/foo-bar/"] = "application/vnd.pypi.simple.v1+json"
    with pytest.raises(FetchError, match=r"(?s)cannot be parsed.*JSON.*fix"):
        fetch(workspace, [wheel()])


def test_a_project_is_looked_up_once(workspace: Workspace, index: Site) -> None:
    other = IndexPin(**{**vars(wheel(b"2")), "filename": "foo.bar-2.tar.gz", "name": "foo-bar"})
    index.files["/simple/foo-bar/"] = (
        f'<base href="/f/"><a href="{WHEEL}"></a><a href="foo.bar-2.tar.gz">x</a>'.encode()
    )
    index.files |= {f"/f/{WHEEL}": BODY, "/f/foo.bar-2.tar.gz": b"2"}
    assert len(fetch(workspace, [wheel(), other])) == 2
    assert index.paths().count("/simple/foo-bar/") == 1


def test_the_next_index_is_asked(
    workspace: Workspace, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/empty", f"{index.url}/simple")
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


def test_an_unavailable_index_does_not_hide_the_next(
    workspace: Workspace, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/ill", f"{index.url}/simple")
    index.plans["/ill/foo-bar/"] = [Answer(500)] * 99
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


def test_an_unavailable_index_does_not_count_as_one_without_the_file(
    workspace: Workspace, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/ill", f"{index.url}/empty")
    index.plans["/ill/foo-bar/"] = [Answer(500)] * 99
    with pytest.raises(FetchError, match="answered 500"):
        fetch(workspace, [wheel()])


def test_a_file_that_no_index_has(
    workspace: Workspace, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = index.url.replace("//", f"//me:{SECRET}@")
    configure(monkeypatch, f"{address}/simple", f"{address}/empty", find_links=("/nosuch",))
    pin = IndexPin(**{**vars(wheel()), "filename": "foo_bar-9-py3-none-any.whl", "version": "9"})
    with pytest.raises(FetchError) as caught:
        fetch(workspace, [pin])
    message = str(caught.value)
    assert "Foo_Bar 9 (foo_bar-9-py3-none-any.whl) is not at: " in message
    assert (
        f"{index.url}/simple/foo-bar/, {index.url}/empty/foo-bar/ (has no such project)" in message
    )
    assert "/nosuch (has no such project)" in message
    assert SECRET not in message


def test_an_index_with_another_hash_is_an_error_before_any_download(
    workspace: Workspace, index: Site
) -> None:
    with pytest.raises(IntegrityError, match=f"(?s){WHEEL}.*expected.*found.*invoke pin"):
        fetch(workspace, [wheel(b"other")])
    assert index.paths() == ["/simple/foo-bar/"]


def test_other_bytes_at_one_index_do_not_hide_the_pinned_ones_at_the_next(
    workspace: Workspace, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/own", f"{index.url}/simple")
    index.files["/own/foo-bar/"] = f'<a href="/own/{WHEEL}#sha256={"0" * 64}">x</a>'.encode()
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


def test_the_indexs_password_goes_with_files_on_its_own_host_only(
    workspace: Workspace, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = index.url.replace("//", f"//me:{SECRET}@")
    configure(monkeypatch, f"{address}/simple")
    page = f'<a href="{index.url}/files/{WHEEL}">{WHEEL}</a>'
    index.files["/simple/foo-bar/"] = page.encode()
    fetch(workspace, [wheel()])
    assert all("authorization" in requested.headers for requested in index.asked)
    with serving() as elsewhere:
        page = f'<a href="{elsewhere.url}/{WHEEL}">{WHEEL}</a>'
        index.files["/simple/foo-bar/"] = page.encode()
        elsewhere.files[f"/{WHEEL}"] = b"other"
        fetch(workspace, [wheel(b"other")])
    assert "authorization" not in elsewhere.asked[0].headers


def test_an_index_without_https_is_not_believed(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, "http://index.invalid/simple")
    with pytest.raises(FetchError, match=r"(?s)without https.*trusted-host"):
        fetch(workspace, [wheel()])


@pytest.mark.parametrize("page", [True, False])
def test_an_index_can_be_a_folder(
    workspace: Workspace, room: Path, monkeypatch: pytest.MonkeyPatch, page: bool
) -> None:
    folder = room / "my index" / "foo-bar"
    folder.mkdir(parents=True)
    (folder / WHEEL).write_bytes(BODY)
    if page:
        (folder / WHEEL).rename(room / WHEEL)
        (folder / "index.html").write_text(f'<a href="../../{WHEEL}">{WHEEL}</a>')
    configure(monkeypatch, (room / "my index").as_uri())
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


def test_find_links_can_be_a_folder_or_a_page(
    workspace: Workspace, index: Site, room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (room / "wheels").mkdir()
    (room / "wheels" / WHEEL).write_bytes(BODY)
    configure(monkeypatch, find_links=(str(room / "wheels"),))
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY
    (room / "page.html").write_text('<a href="other/foo.tar.gz">x</a>')
    (room / "other").mkdir()
    (room / "other/foo.tar.gz").write_bytes(b"1")
    configure(monkeypatch, find_links=(str(room / "page.html"),))
    pin = IndexPin(**{**vars(wheel(b"1")), "filename": "foo.tar.gz"})
    assert fetch(workspace, [pin])[pin].read_bytes() == b"1"
    index.files["/links.html"] = f'<a href="files/{WHEEL}">x</a>'.encode()
    index.files[f"/files/{WHEEL}"] = b"3"
    configure(monkeypatch, find_links=(f"{index.url}/links.html",))
    assert fetch(workspace, [wheel(b"3")])[wheel(b"3")].read_bytes() == b"3"


HOSTILE_LINKS = ["http://[half/", "http://h:99999/", "http://a\x01b/", "file:///etc/", "ftp://h/"]


@pytest.mark.parametrize("base", ["", *HOSTILE_LINKS])
@pytest.mark.parametrize("folder", HOSTILE_LINKS)
def test_hostile_links_do_not_hide_the_next_index(
    workspace: Workspace, index: Site, base: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/own", f"{index.url}/simple")
    page = f'<base href="{base}"><a href="{folder}{WHEEL}">x</a>'
    index.files["/own/foo-bar/"] = page.encode()
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


@pytest.mark.parametrize("folder", ["file:{0}", "file://localhost{0}", "FILE:{0}"])
def test_an_index_on_a_server_cannot_name_files_of_this_machine(
    workspace: Workspace, index: Site, room: Path, folder: str
) -> None:
    (room / WHEEL).write_bytes(b"own")
    page = f'<a href="{folder.format(room)}/{WHEEL}">x</a>'
    index.files["/simple/foo-bar/"] = page.encode()
    with pytest.raises(FetchError, match="is not at"):
        fetch(workspace, [wheel(b"own")])


@pytest.mark.parametrize(
    ("kind", "page"),
    [
        ("json", b"[" * 200_000),
        ("json", b'{"files": 3}'),
        ("json", b'{"files": [3]}'),
        ("json", b'{"files": [{"filename": 3, "url": 4}]}'),
        ("json", b"\xff\xfe\x00"),
        ("html", b"<![foo[ x ]]><!doctype [<!x"),
        ("html", b"<a href='\xff\x00'>&#99999999999;</a>"),
        ("\xff/json; charset=\x01", b"<a>"),
    ],
)
def test_a_garbled_page_does_not_hide_the_next_index(
    workspace: Workspace, index: Site, kind: str, page: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/own", f"{index.url}/simple")
    index.files["/own/foo-bar/"] = page
    index.kinds["/own/foo-bar/"] = kind
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


def test_what_is_no_sha256_counts_as_none(workspace: Workspace, index: Site) -> None:
    page = f'<a href="/files/{WHEEL}#sha256=\x1b[31mred">x</a>'
    index.files["/simple/foo-bar/"] = page.encode()
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY


@pytest.mark.parametrize(
    "answer", [Answer(403), Answer(404), Answer(302, headers={"Location": "http://[half/"})]
)
def test_after_an_index_whose_file_cannot_be_fetched_the_next_one_is_asked(
    workspace: Workspace, index: Site, answer: Answer, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/own", f"{index.url}/empty", f"{index.url}/simple")
    page = f'<a href="/own/{WHEEL}#sha256={sha256(BODY)}">x</a>'
    index.files["/own/foo-bar/"] = page.encode()
    index.plans[f"/own/{WHEEL}"] = [answer] * 9
    assert fetch(workspace, [wheel()])[wheel()].read_bytes() == BODY
    assert index.paths().count("/own/foo-bar/") == 1


def test_the_first_failure_is_named_if_no_other_index_has_the_file(
    workspace: Workspace, index: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, f"{index.url}/simple", f"{index.url}/ill")
    index.plans[f"/files/{WHEEL}"] = [Answer(403)]
    index.plans["/ill/foo-bar/"] = [Answer(500)] * 99
    with pytest.raises(FetchError, match=f"files/{WHEEL}: the server answered 403"):
        fetch(workspace, [wheel()])
