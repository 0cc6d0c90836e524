"""The texts that a file may hold, and the list of a folder's files."""

import hashlib
import subprocess
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from stacks.core import models, records

NASTY = (
    "a\nb", "a\r[blas]", "a\n[global]\ncxx = evil", "a\0", "a\x1b[2J", "a\x85b", "a\u2028b",
    "a\u202egnp", "a\ufffe", "a\uffff",
)  # fmt: skip


def valid(kind: Any, text: str) -> bool:
    try:
        TypeAdapter(kind).validate_python(text)
    except ValidationError:
        return False
    return True


@pytest.mark.parametrize(
    "kind",
    [
        models.Line, models.AsciiLine, models.Setting, models.Name, models.Variable, models.Flag,
        models.Version, models.Spec, models.Requirement, models.FileName, models.FilePath,
        models.RelativePath, models.ChannelName, models.Sha256, models.Md5,
    ],
)  # fmt: skip
@pytest.mark.parametrize("text", NASTY)
def test_no_value_of_a_file_has_more_than_one_line(kind: Any, text: str) -> None:
    assert not valid(kind, text)


@pytest.mark.parametrize(
    ("kind", "accepted", "refused"),
    [
        (models.Line, ["", 'Theano\'s `é` $HOME # % \\ "x"'], []),
        (models.AsciiLine, ["", "{prefix}/var"], ["é"]),
        (models.Setting, ["", "-O2 -DX=%s", "é"], ["a ; b", " a", "a "]),
        (models.Name, ["theano-1.0.5", "mkl"], ["", "a b", "../a", "-a", ".a", "A", "a;b", "$a"]),
        (models.Variable, ["MKL_NUM"], ["A B", "1A", "A=1", 'A"]', ""]),
        (models.Flag, ["floatX", "a.b"], ["a]", "[a", "a.", ".a", "a=b", "#a", "DEFAULT.a"]),
        (
            models.Spec,
            ["numpy", "numpy ==1.2", "x>=1,<2", "libblas=*=*mkl", "__glibc >=2.1|2.0"],
            ["- x", "a: b", "a # b", "{a}", "&a", "'a'", "a;b", "-e ."],
        ),
        (models.Requirement, ["Theano==1.0.5"], ["a", "-r==1", "a==1 --hash=x", "a==1;b", "a @ b"]),
        (models.FileName, ["a-1.whl", "_x-1.conda"], ["", ".", "..", "a/b", "/a", "-a", "a b"]),
        (models.FilePath, ["pool/a/a_1.deb"], ["/pool/a", "pool/../../a", "a", "a//b", "a/"]),
        (models.RelativePath, ["lib/a.so*", ".a/..b"], ["", "..", "a/../b", "/a", "a//b", "./a"]),
        (models.ChannelName, ["conda-forge", "http://h/c", "/a"], ["- a", "a:", "{a}", "a b"]),
        (models.Sha256, ["0" * 64], ["0" * 63, "A" * 64, "../" + "0" * 61]),
    ],
)
def test_what_each_kind_of_text_accepts(kind: Any, accepted: list[str], refused: list[str]) -> None:
    assert [text for text in accepted if not valid(kind, text)] == []
    assert [text for text in refused if valid(kind, text)] == []


def test_a_text_of_several_lines_as_one() -> None:
    assert models.one_line(" a\n\n\tb\x1b[31m c\u2028") == "a b [31m c"
    assert all(valid(models.Line, models.one_line(text)) for text in NASTY)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "folder"
    (folder / "b").mkdir(parents=True)
    for name in ("a", "b/c d", "e"):
        (folder / name).write_text(name)
    return folder


def digests(folder: Path) -> dict[str, str]:
    files = records.list_files(folder)
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def test_a_list_is_read_by_sha256sum_and_back(folder: Path) -> None:
    expected = digests(folder)
    assert list(expected) == ["a", "b/c d", "e"]
    text = records.digests_text(dict(reversed(expected.items())))
    assert records.parse_digests(text) == expected
    words = ["sha256sum", "--check", "--strict", "--quiet"]
    subprocess.run(words, input=text, cwd=folder, text=True, check=True)


def test_each_difference_is_named(folder: Path) -> None:
    expected = digests(folder)
    assert records.differences(expected, records.list_files(folder)) == ""
    (folder / "a").write_text("A")
    (folder / "b/c d").rename(folder / "d")
    (folder / "e").rename(folder.parent / "e")
    (folder / "e").symlink_to(folder.parent / "e")
    assert records.differences(expected, records.list_files(folder)).splitlines() == [
        "  - a: changed",
        "  - b/c d: missing",
        "  - d: not part of it",
        "  - e: changed",
    ]
