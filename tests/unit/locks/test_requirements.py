"""The files of a stack.yaml's packages: what uv and pip are asked, and what becomes of an answer.

A small program stands for uv: it writes down what it is given, and answers as told.
"""

import json
import sys
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from stacks.core.errors import FetchError, IntegrityError, UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.locks import requirements, uv
from stacks.sources.package_index import PipSettings
from stacks.sources.pins import IndexFile, IndexPin, read_pins
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import SITE_PACKAGES, add
from unit.helpers.serving import Answer, serving

LOCK = """\
lock-version = "1.0"
[[packages]]
name = "numpy"
version = "1.21.6"
sdist = { url = "https://host/numpy-1.21.6.zip" }
[[packages]]
name = "a"
version = "1.0"
sdist = { url = "https://host/a-1.0.tar.gz", hashes = { sha256 = "1" } }
wheels = [
    { url = "https://host/a-1.0-py3-none-any.whl", hashes = { sha256 = "2" } },
    { url = "https://host/a-1.0-cp39-cp39-manylinux_2_17_x86_64.whl", hashes = { sha256 = "3" } },
    { url = "https://host/a-1.0-cp39-cp39-manylinux_2_34_x86_64.whl", hashes = { sha256 = "4" } },
]
[[packages]]
name = "b"
version = "2.0"
sdist = { url = "https://host/b-2.0.tar.gz", hashes = { sha256 = "5" } }
wheels = [{ url = "https://host/b-2.0-cp310-cp310-manylinux_2_17_x86_64.whl" }]
"""
NUMPY = "Name: numpy\nVersion: 1.21.6\nRequires-Dist: six>1\nRequires-Dist: mock; extra == 'test'\n"
SETTINGS = PipSettings(index_urls=("file:///none",), find_links=("http://x/whl",))
# fits: the constraint with which it ends well. brings: its answer if other frameworks may come.
PROGRAM = """\
#!{python}
import json, pathlib, sys
here = pathlib.Path.cwd()
given = (here / "constraints.txt").read_text()
if {brings!r} and "<0" not in given or {fits!r} and {fits!r} in given:
    (here / "pylock.toml").write_text({brings!r} or "packages = []")
    sys.exit(0)
given = {{path.name: path.read_text() for path in here.iterdir() if path.name != "uv"}}
given["options"] = " ".join(sys.argv[1:])
pathlib.Path({given!r}).write_text(json.dumps(given))
if {answer!r}:
    (here / "pylock.toml").write_text({answer!r})
print({message!r})
sys.exit({status})
"""


def pin(request: IndexFile, digest: str) -> IndexPin:
    name, version, filename = request.project, request.version, request.file
    return IndexPin(name=name, version=version, filename=filename, size=1, sha256=digest)


@dataclass
class Room:
    """A stack with the requests a and b, an environment with numpy, and an index of two files."""

    workspace: Workspace
    variant: Variant
    folder: Path
    settings: PipSettings
    digests: dict[str, str] = field(
        default_factory=lambda: {
            "a-1.0-cp39-cp39-manylinux_2_17_x86_64.whl": "3",
            "b-2.0.tar.gz": "5",
        }
    )

    def answers(self, answer: str = "", message: str = "", status: int = 0, **when: str) -> None:
        """Let uv write a pylock.toml, print a message, and end; when: words of PROGRAM."""
        values = {"fits": "", "brings": "", **when, "answer": answer, "message": message}
        given = str(self.folder / "given")
        text = PROGRAM.format(python=sys.executable, given=given, status=status, **values)
        with zipfile.ZipFile(self.folder / uv.FILE, "w") as wheel:
            wheel.writestr(uv.PROGRAM, text)

    def given(self) -> dict[str, str]:
        """Return what uv was given."""
        return dict(json.loads((self.folder / "given").read_text()))

    def resolve(self, *preferred: IndexPin) -> tuple[tuple[IndexPin, ...], str]:
        python = self.folder / "prefix/bin/python"
        pins = read_pins(self.workspace.sources_lock)
        return requirements.resolve(self.workspace, self.variant, python, pins, preferred)

    def pin_files(
        self, workspace: Workspace, requests: list[IndexFile], stop: object
    ) -> tuple[IndexPin, ...]:
        return tuple(pin(each, self.digests[each.file]) for each in requests)


@pytest.fixture
def room(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    variant = load_variant(workspace, "openblas").model_copy(
        update={"file": tmp_path / "stack.yaml", "requests": ("a", "b")}
    )
    room = Room(workspace, variant, tmp_path, SETTINGS)
    add(tmp_path, f"prefix/{SITE_PACKAGES}/numpy-1.21.6.dist-info/METADATA", NUMPY)
    monkeypatch.setattr(uv, "pin_files", room.pin_files)
    monkeypatch.setattr(uv, "fetch", lambda _, pins: {pins[0]: tmp_path / uv.FILE})
    monkeypatch.setattr(requirements, "pip_settings", lambda: room.settings)
    return room


def test_the_best_file_of_each_package_that_is_not_installed(room: Room) -> None:
    room.answers(LOCK)
    pins, text = room.resolve()
    assert [(pin.name, pin.filename) for pin in pins] == [
        ("a", "a-1.0-cp39-cp39-manylinux_2_17_x86_64.whl"),
        ("b", "b-2.0.tar.gz"),
    ]
    assert text == LOCK
    room.digests["b-2.0.tar.gz"] = "9"
    with pytest.raises(IntegrityError, match=r"b-2\.0\.tar\.gz has other bytes"):
        room.resolve()


def test_what_uv_is_asked(room: Room) -> None:
    # It leaves out the key `packages` where no request is meant for this Python.
    room.answers('lock-version = "1.0"\n')
    assert room.resolve(pin(IndexFile("a", "0.9", "a-0.9.zip"), "0"))[0] == ()
    given = room.given()
    options = f"--python {room.folder}/prefix/bin/python --python-platform x86_64-manylinux_2_31"
    assert given.pop("options").endswith(options)
    assert given == {
        "pylock.toml": 'lock-version = "1.0"\ncreated-by = "theano-stacks"\n[[packages]]\n'
        'name = "a"\nversion = "0.9"\n',
        "requests.in": "a\nb\n",
        "constraints.txt": "numpy==1.21.6\naesara<0\npytensor<0\ntheano-pymc<0\nxarray<2023.9\n",
        "uv.toml": '[[dependency-metadata]]\nname = "numpy"\nversion = "1.21.6"\n'
        'requires-dist = ["six>1", "mock; extra == \'test\'"]\nprovides-extra = ["test"]\n',
    }


UNKNOWN = (
    "error: No solution found when resolving dependencies\n"
    "  cause: Because zork was not found in the package registry and you require zork\n\n"
)


@pytest.mark.parametrize(
    ("message", "status", "error", "expected"),
    [
        ("a depends on scipy<1.8", 1, UsageError, "do not fit theano-1.0.5 on Python 3.9\n.*scipy"),
        (
            "error: Failed to resolve dependencies for package `a==1.0`\n"
            "  cause: Package `six` was included as a URL dependency. URL dependencies must be",
            *(1, UsageError, "stack.yaml: a==1.0 cannot be used\n"),
        ),
        ("error: Failed to download `a==1.0`", 1, UsageError, "a==1.0 cannot be used\n"),
        ("error: No space left", 2, CommandError, "No space left"),
        ("  cause: Failed to fetch: http://x/six/", 1, FetchError, "the package index cannot be"),
        (
            "error: Failed to read `--find-links` URL: http://me:s@x/whl\n  cause: Failed",
            *(2, FetchError, "^http://x/whl: pip's find-links names it, and it cannot be read"),
        ),
        (UNKNOWN, 1, UsageError, "no package index has zork\n  fix: +check its spelling"),
        # Of pip 20.
        ("Retrying (Retry(total=4)) after connection broken by 'x'", 1, FetchError, "cannot be re"),
        (
            "WARNING: Retrying (Retry(total=4)) by 'x': /whl",
            *(1, FetchError, "^http://x/whl: pip's fi"),
        ),
        ("ERROR: No matching distribution found for a", 1, UsageError, "no package index has a\n"),
        (
            "ERROR: No matching distribution found for numpy>=1.16 (from a)",
            *(1, UsageError, "do not fit theano-1.0.5"),
        ),
    ],
)
def test_a_failure_is_named_by_its_cause(
    message: str, status: int, error: type[Exception], expected: str, room: Room
) -> None:
    room.answers(message=message, status=status)
    with pytest.raises(error, match=expected):
        room.resolve()


@pytest.mark.parametrize("message", [UNKNOWN, "No matching distribution found for zork==1"])
def test_an_index_that_refuses_the_access_is_named(message: str, room: Room) -> None:
    # For uv, and for pip 20, it lacks the package.
    room.variant = room.variant.model_copy(update={"requests": ("zork==1",)})
    room.answers(message=message, status=1)
    with serving() as site:
        site.plans["/zork/"] = [Answer(403)]
        room.settings = PipSettings(index_urls=("file:///none", site.url))
        with pytest.raises(FetchError, match=r"/zork/: the server answered 403 (?s:.*)password"):
            room.resolve()


PYTENSOR = '[[packages]]\nname = "pytensor"\nversion = "2.20.0"'


@pytest.mark.parametrize(
    ("message", "when", "found", "fix"),
    [
        ("a depends on scipy<1.8", {}, "a depends on scipy<1.8", "no other framework fits"),
        ("a: theano-pymc<0", {"fits": "theano-pymc=="}, "they need theano-pymc too", "-pymc-1.1.2"),
        ("a is old", {"brings": PYTENSOR}, "they need pytensor 2.20.0 too", "no other framework"),
    ],
)
def test_a_conflict_names_the_framework_that_fits(
    message: str, when: dict[str, str], found: str, fix: str, room: Room
) -> None:
    room.answers(message=message, status=1, **when)
    with pytest.raises(UsageError) as caught:
        room.resolve()
    assert str(caught.value.found).strip() == found and fix in str(caught.value.fix)


def test_an_extra_that_a_package_does_not_have_is_named(
    room: Room, capsys: pytest.CaptureFixture[str]
) -> None:
    message = "warning: The package `idna==3.4` does not have an extra named `al`\nResolved 1\n"
    room.answers('lock-version = "1.0"\n', message)
    room.resolve()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("warning: ") and line.endswith(": idna 3.4 has no extra 'al'")
    uv.warn_of_extras("WARNING: idna 2.0 does not provide the extra 'al'\n", room.variant)
    assert capsys.readouterr().err.endswith("/stack.yaml: idna 2.0 has no extra 'al'\n")


def test_pip_is_given_its_resolver_and_folders_of_packages_whose_path_has_a_blank(
    room: Room, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the user's pip has turned on."""
    monkeypatch.setenv("PIP_USE_FEATURE", "truststore")
    given = '"$PIP_NO_INPUT $PIP_USE_FEATURE $PIP_FIND_LINKS" > given'
    program = f"#!/bin/sh\nmkdir files\ncd {room.folder}\nprintf %s {given}\n"
    add(room.folder, "prefix/bin/python", program, 0o755)
    links = ("/my room/wheels", "https://x.test/wheels")
    room.settings = PipSettings(index_urls=(), find_links=links)
    framework = room.variant.framework.model_copy(update={"python": "2.7"})
    room.variant = room.variant.model_copy(update={"framework": framework})
    assert room.resolve() == ((), "")
    given = (room.folder / "given").read_text()
    assert given == "1 2020-resolver file:///my%20room/wheels https://x.test/wheels"
    missing = "warning: pip's find-links /my room/wheels: no such folder or file\n"
    assert capsys.readouterr().err == missing


@pytest.mark.parametrize(
    ("requests", "found", "fix"),
    [
        (
            ("pytensor", "six"),
            "pytensor",
            "change `framework:` to pytensor-2.38.3 or pytensor-3.3.7, or leave out pytensor: the "
            "environment has theano-1.0.5",
        ),
        (
            ("Theano_PyMC==1.1.2; python_version<'3'", "Aesara>2.8", "numpy==1.10.4"),
            "Aesara>2.8, numpy==1.10.4",
            "change `framework:` to aesara-2.8.7, or leave out aesara, numpy: the environment has "
            "numpy 1.21.6",
        ),
        (("numpy<1",), "numpy<1", "leave out numpy: the environment has numpy 1.21.6"),
    ],
)
def test_requests_that_the_framework_rules_out(
    requests: tuple[str, ...], found: str, fix: str, room: Room
) -> None:
    room.variant = room.variant.model_copy(update={"requests": requests})
    with pytest.raises(UsageError, match=r"do not fit theano-1\.0\.5 on Python 3\.9") as caught:
        room.resolve()
    assert (caught.value.found, caught.value.fix) == (found, fix)


def test_without_an_index_uv_asks_none(room: Room) -> None:
    room.settings = PipSettings(index_urls=())
    room.answers(message=UNKNOWN, status=1)
    with pytest.raises(UsageError, match="no place of pip's find-links has zork, and no-index is"):
        room.resolve()
    assert "--no-index" in room.given()["options"]
