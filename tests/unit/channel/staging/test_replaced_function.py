"""A function of a library that is replaced, and the libraries in which it is not."""

from __future__ import annotations

import hashlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stacks.channel.stages import Replaced
from stacks.channel.staging import replaced_function
from stacks.core.errors import IntegrityError
from unit.helpers.staging import work

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
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Give a package in the making whose source is assembled to three bytes."""
    source = tmp_path / f"{NAME}.s"
    source.write_text("nop\n")
    whole = work(tmp_path, {"stage": "pocl", "gcc": "10"}, {})
    monkeypatch.setattr(
        replaced_function, "gcc", lambda work, folder, _: (folder / "code").write_bytes(b"new")
    )
    return SimpleNamespace(
        scratch=whole.scratch, recipe=SimpleNamespace(own_sources=lambda: (source,))
    )


def wanted(library: Path, **changes: object) -> Replaced:
    _, offset = replaced_function._place(library, NAME)
    old = library.read_bytes()[offset : offset + ROOM]
    content = {
        "function": NAME,
        "room": ROOM,
        "sha256": hashlib.sha256(old).hexdigest(),
        "calls": {},
    }
    return Replaced.model_validate(content | changes)


def test_the_function_alone_is_another_one(made: Any, library: Path) -> None:
    before = library.read_bytes()
    _, offset = replaced_function._place(library, NAME)
    replaced_function.replace_function(made, library, wanted(library))
    new = b"new".ljust(ROOM, b"\xcc")
    assert library.read_bytes() == before[:offset] + new + before[offset + ROOM :]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"function": "no_such"}, r"libc\.so has no function no_such"),
        ({"sha256": "0" * 64}, "getppid is not the function that the recipe replaces"),
    ],
)
def test_another_library_is_left_as_it_is(
    made: Any, library: Path, changes: dict[str, object], said: str
) -> None:
    before = library.read_bytes()
    with pytest.raises(IntegrityError, match=said):
        replaced_function.replace_function(made, library, wanted(library, **changes))
    assert library.read_bytes() == before


def test_too_long_for_its_place(made: Any, library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        replaced_function, "gcc", lambda work, folder, _: (folder / "code").write_bytes(bytes(9))
    )
    with pytest.raises(IntegrityError, match=r"too long for its place in libc\.so") as caught:
        replaced_function.replace_function(made, library, wanted(library))
    assert "at most 8 bytes" in str(caught.value)
