"""A stack's own wheels and source archives: what they may not replace, and what is compiled."""

import re
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from stacks.core.errors import IntegrityError, UsageError
from stacks.core.process import CommandError
from stacks.core.workspace import Workspace
from stacks.environments.make import pip_install, user_packages
from stacks.locks.lock import Lock
from stacks.sources.pins import IndexPin
from unit.helpers.serving import sha256

PLACE = "lib/python3.9/site-packages"


def pin(name: str, filename: str) -> IndexPin:
    return IndexPin(name=name, version="1.0", filename=filename, size=1, sha256="0" * 64)


def wheel(
    folder: Path,
    names: Sequence[str] = (),
    package: str = "a",
    entry_points: str = "",
    text: str = "x",
) -> Path:
    """Write a wheel with files of one text."""
    path = folder / f"{package}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in names:
            archive.writestr(name, text)
        if entry_points:
            archive.writestr(f"{package}-1.0.dist-info/entry_points.txt", entry_points)
    return path


def check(path: Path, prefix: Path) -> None:
    """Check a wheel that is the only one."""
    user_packages.check_files(pin("a", path.name), path, prefix, "3.9", {})


REFERENCE = "# of pip\n\n[{}]\na = a:main\n  g++=a:main [extra]\n"


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ({"names": ("numpy/core.py",)}, f"{PLACE}/numpy/core.py"),
        ({"names": ("a-1.0.data/purelib/numpy/core.py",)}, f"{PLACE}/numpy/core.py"),
        ({"names": ("a-1.0.data/scripts/g++",)}, "bin/g++"),
        ({"names": ("a-1.0.data//scripts/g++",)}, "bin/g++"),
        ({"names": ("a-1.0.data/data/etc/theanorc",)}, "etc/theanorc"),
        ({"names": ("a-1.0.data/headers/a.h",)}, "include/python3.9/a/a.h"),
        ({"entry_points": REFERENCE.format("console_scripts")}, "bin/g++"),
        ({"entry_points": REFERENCE.format("gui_scripts")}, "bin/g++"),
    ],
)
def test_a_file_of_another_package_is_not_replaced(
    content: dict[str, Any], path: str, tmp_path: Path
) -> None:
    (tmp_path / path).parent.mkdir(parents=True)
    (tmp_path / path).symlink_to("locked")
    message = rf"a 1\.0 is refused: it would replace {re.escape(path)} of a locked"
    with pytest.raises(IntegrityError, match=message):
        check(wheel(tmp_path, **content), tmp_path)
    check(wheel(tmp_path, entry_points=REFERENCE.format("a.plugins")), tmp_path)
    (tmp_path / path).unlink()
    check(wheel(tmp_path, **content), tmp_path)


@pytest.mark.parametrize("name", ["../a.py", "/etc/a", "a/../../b"])
def test_a_wheel_that_leaves_its_folder(name: str, tmp_path: Path) -> None:
    for content in ({"names": (name,)}, {"entry_points": f"[console_scripts]\n{name} = a:main"}):
        with pytest.raises(IntegrityError, match="outside of its folder"):
            check(wheel(tmp_path, **content), tmp_path)
    (tmp_path / "a.whl").write_text("no")
    with pytest.raises(IntegrityError, match=r"a\.whl is no wheel"):
        check(tmp_path / "a.whl", tmp_path)


FILE = {"names": ("cv2/__init__.py",)}
SCRIPT = {"entry_points": "[console_scripts]\nboard = a.main:run"}


def check_both(first: dict[str, Any], second: dict[str, Any], folder: Path) -> None:
    """Check the wheels of two packages, a and b."""
    owners: user_packages.Owners = {}
    for package, content in (("a", first), ("b", second)):
        path = wheel(folder, package=package, **content)
        user_packages.check_files(pin(package, path.name), path, folder, "3.9", owners)


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        (FILE, {**FILE, "text": "y"}, f"{PLACE}/cv2/__init__.py"),
        (
            FILE,
            {"names": ("b-1.0.data/platlib/cv2//__init__.py",), "text": "y"},
            f"{PLACE}/cv2/__init__.py",
        ),
        (SCRIPT, {"entry_points": "[gui_scripts]\nboard = b:run"}, "bin/board"),
        (SCRIPT, {"names": ("b-1.0.data/scripts/board",)}, "bin/board"),
    ],
)
def test_wheels_do_not_replace_files_of_each_other(
    first: dict[str, Any], second: dict[str, Any], path: str, tmp_path: Path
) -> None:
    with pytest.raises(IntegrityError, match=rf"b 1\.0 .* replace {path} of a 1\.0") as caught:
        check_both(first, second, tmp_path)
    assert caught.value.fix and "leave b or a out of stack.yaml" in caught.value.fix
    check_both(first, first, tmp_path)


# As four packages of the namespace `backports` spell it.
NAMESPACES = [
    "",
    "from pkgutil import extend_path\n__path__ = extend_path(__path__, __name__)\n",
    "__path__ = __import__('pkgutil').extend_path(__path__, __name__)  # type: ignore\n",
    "# See PEP 420\ntry:\n    __import__('pkg_resources').declare_namespace(__name__)\n"
    "except ImportError:\n    import pkgutil\n"
    "    __path__ = pkgutil.extend_path(__path__, __name__)\n",
]


@pytest.mark.parametrize("text", NAMESPACES)
def test_wheels_may_declare_one_namespace(text: str, tmp_path: Path) -> None:
    check_both({**FILE, "text": NAMESPACES[1]}, {**FILE, "text": text}, tmp_path)
    with pytest.raises(IntegrityError, match="would replace"):
        check_both({**FILE, "text": f"{text}VERSION = 1\n"}, {**FILE, "text": text}, tmp_path)


@dataclass
class Room:
    """A prefix; what is compiled and installed in it, without a pip."""

    folder: Path
    archive: Path
    done: list[str] = field(default_factory=list)
    fails: Callable[[str], bool] = lambda name: False

    @property
    def wheels(self) -> Path:
        return self.folder / "cache/wheels"

    @property
    def compiled(self) -> list[str]:
        return [name for name in self.done if name.endswith(".tar.gz")]

    def add(self, *pins: IndexPin) -> None:
        workspace = Workspace(self.folder, self.folder / "cache")
        lock = Lock((), user_files=pins)
        user_packages.add(workspace, self.folder / "prefix", lock, "3.9")

    def call(self, words: list[Any], **options: Any) -> str:
        name = Path(words[-1]).name
        if self.fails(name):
            raise CommandError("pip wheel\nNo module named hatchling")
        folder = Path(words[words.index("--wheel-dir") + 1])
        folder.mkdir()
        wheel(folder, [f"{name[0]}.py"], package=name[0])
        self.done.append(name)
        return ""

    def install(self, prefix: Path, files: dict[IndexPin, Path]) -> None:
        for each, path in files.items():
            for name in user_packages._installed(each, path, "3.9"):
                (prefix / name).parent.mkdir(parents=True, exist_ok=True)
                (prefix / name).touch()
            self.done.append(each.filename)


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Room:
    room = Room(tmp_path, tmp_path / "archive")
    room.archive.write_text("sdist")
    monkeypatch.setattr(user_packages, "call", room.call)
    monkeypatch.setattr(user_packages, "fetch", lambda _, pins: dict.fromkeys(pins, room.archive))
    monkeypatch.setattr(pip_install, "install", room.install)
    return room


A, B = pin("a", "a-1.0.tar.gz"), replace(pin("b", "b-1.0.tar.gz"), sha256="1" * 64)
BUILT = "a-1.0-py3-none-any.whl"


def test_a_source_archive_is_compiled_once_and_again_if_its_wheel_is_damaged(
    room: Room, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(2):
        room.add(A)
        shutil.rmtree(room.folder / "prefix")
    assert room.done == [A.filename, BUILT, BUILT]
    assert capsys.readouterr().err.count("compile  a 1.0, once") == 1
    [built] = room.wheels.glob(f"*/*/{BUILT}")
    assert built.parent.name == sha256(built.read_bytes())
    built.write_bytes(built.read_bytes() + b"x")
    room.add(A)
    assert room.compiled == [A.filename] * 2


def test_a_failed_compilation_leaves_nothing_and_one_that_needs_another_comes_after_it(
    room: Room,
) -> None:
    room.fails = lambda name: True
    with pytest.raises(UsageError, match=r"cannot be compiled(.|\n)*No module named hatchling"):
        room.add(A)
    assert not list(room.wheels.glob("[!.]*"))
    room.fails = lambda name: name == A.filename and B.filename not in room.compiled
    room.add(A, B)
    assert room.compiled == [B.filename, A.filename]


def test_another_version_of_an_own_package_compiles_the_others_again(room: Room) -> None:
    torch = room.archive = wheel(room.folder, ["torch.py"], package="torch")
    for digest in ("1" * 64, "2" * 64):
        room.add(replace(pin("torch", torch.name), sha256=digest), A)
        shutil.rmtree(room.folder / "prefix")
    assert room.compiled == [A.filename] * 2
