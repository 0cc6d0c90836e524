"""What a new pinning changed, told in lines."""

from __future__ import annotations

from stacks.sources.pins import DebPin, IndexPin, Pins
from stacks.sources.repin import difference


def pinned(version: str, digit: str = "a", name: str = "foo", end: str = ".tar.gz") -> IndexPin:
    return IndexPin(
        name=name,
        version=version,
        filename=f"{name}-{version}{end}",
        size=1,
        sha256=digit * 64,
    )


def test_the_difference_is_told_in_lines() -> None:
    old_deb = DebPin(
        suite="bookworm", name="a", version="1", path="pool/a", size=1, sha256="a" * 64
    )
    new_deb = DebPin(**{**vars(old_deb), "version": "2"})
    gone = DebPin(**{**vars(old_deb), "suite": "bullseye"})
    old = Pins((old_deb, gone), (pinned("1"), pinned("1", name="bar"), pinned("7", name="same")))
    new = Pins(
        (new_deb,),
        (
            pinned("2"),
            pinned("1", "b", name="bar"),
            pinned("7", name="same"),
            pinned("1", name="n"),
        ),
    )
    assert difference(old, new) == [
        f"OTHER BYTES under the same version: bar-1.tar.gz 1: sha256 {'a' * 64} -> {'b' * 64}",
        "added    n-1.tar.gz 1",
        "changed  bookworm/a 1 -> 2",
        "changed  foo 1 -> 2",
        "removed  bullseye/a 1",
    ]


def test_files_that_cannot_be_paired_are_told_one_by_one() -> None:
    old = Pins(files=(pinned("1"), pinned("1", end=".whl")))
    assert difference(old, Pins(files=(pinned("2"),))) == [
        "added    foo-2.tar.gz 2",
        "removed  foo-1.tar.gz 1",
        "removed  foo-1.whl 1",
    ]


def test_no_difference_has_no_lines() -> None:
    assert difference(Pins(files=(pinned("1"),)), Pins(files=(pinned("1"),))) == []
