from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from stacks.channel.stages import Replaced
from stacks.channel.staging import replaced_function
from stacks.channel.staging.build_context import BuildContext
from stacks.core.errors import IntegrityError
from unit.helpers.staging import make_context

# A library that every Python has loaded, and a function of it.
LIBC = next(
    line.split()[-1]
    for line in Path("/proc/self/maps").read_text().splitlines()
    if "/libc.so" in line or "/libc-2" in line
)
NAME, ROOM = "getppid", 8


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "libc.so").write_bytes(Path(LIBC).read_bytes())
    return tmp_path / "libc.so"


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> BuildContext:
    """Give the context of a package whose own source is assembled to three bytes."""
    source = tmp_path / f"recipes/a/src/{NAME}.s"
    source.parent.mkdir(parents=True)
    source.write_text("nop\n")
    monkeypatch.setattr(replaced_function, "gcc", assembler(b"new"))
    return make_context(tmp_path, {"stage": "pocl", "gcc": "10"}, [], {})


def assembler(code: bytes) -> Callable[[BuildContext, Path, object], int]:
    """Return a gcc that outputs this code."""
    return lambda context, folder, arguments: (folder / "code").write_bytes(code)


def replaced_of(library: Path, **changes: object) -> Replaced:
    _, offset = replaced_function._locate(library, NAME)
    old = library.read_bytes()[offset : offset + ROOM]
    content = {
        "function": NAME,
        "room": ROOM,
        "sha256": hashlib.sha256(old).hexdigest(),
        "calls": {},
    }
    return Replaced.model_validate(content | changes)


def test_only_the_function_is_replaced(context: BuildContext, library: Path) -> None:
    before = library.read_bytes()
    _, offset = replaced_function._locate(library, NAME)
    replaced_function.replace_function(context, library, replaced_of(library))
    new = b"new".ljust(ROOM, b"\xcc")
    assert library.read_bytes() == before[:offset] + new + before[offset + ROOM :]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"function": "no_such"}, r"libc\.so has no function no_such"),
        ({"sha256": "0" * 64}, "getppid is not the function that the recipe replaces"),
    ],
)
def test_another_library_is_refused_and_unchanged(
    context: BuildContext, library: Path, changes: dict[str, object], message: str
) -> None:
    before = library.read_bytes()
    with pytest.raises(IntegrityError, match=message):
        replaced_function.replace_function(context, library, replaced_of(library, **changes))
    assert library.read_bytes() == before


def test_code_that_is_too_long_is_refused(
    context: BuildContext, library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replaced_function, "gcc", assembler(bytes(9)))
    with pytest.raises(IntegrityError, match=r"getppid\.s is longer than .* libc\.so") as caught:
        replaced_function.replace_function(context, library, replaced_of(library))
    assert "at most 8 bytes" in str(caught.value)
