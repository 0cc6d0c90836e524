"""What a person is told of a YAML file that is wrong."""

import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import pytest
from pydantic import Field, ValidationError

from stacks.core import records, yamlfile
from stacks.core.errors import UsageError
from stacks.core.models import Strict


class Debs(Strict):
    suite: str
    debs: tuple[str, ...]


class File(Strict):
    project: str
    version: str
    file: str


class Wheel(Strict):
    stage: Literal["wheel"]
    folder: str = ""


class Copy(Strict):
    stage: Literal["copy"]
    links: dict[str, str] = Field(default_factory=dict)


class Recipe(Strict):
    name: str = Field(pattern=r"^[a-z]+$")
    number: int = 0
    noarch: bool = False
    precision: Literal["float32", "float64"] = "float64"
    source: tuple[Debs | File, ...] = ()
    extra: Annotated[Wheel | Copy, Field(discriminator="stage")] | None = None


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "r.yaml"


def fault(file: Path, text: str | bytes) -> str:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UsageError) as caught:
        yamlfile.load(file, Recipe)
    return str(caught.value)


def test_reads_a_file(file: Path) -> None:
    file.write_text(
        "# a comment; `no` is text in YAML 1.2\n"
        "name: no\n"
        "source:\n- {suite: bullseye, debs: [x, 'é']}\n"
        "- {project: p, version: '1.0', file: f}\n"
        "extra: {stage: copy, links: {a: b}}\n"
    )
    value, positions = yamlfile.read(file, Recipe)
    assert value == Recipe(
        name="no",
        source=(
            Debs(suite="bullseye", debs=("x", "é")),
            File(project="p", version="1.0", file="f"),
        ),
        extra=Copy(stage="copy", links={"a": "b"}),
    )
    # For errors that show later.
    assert positions.where(("extra", "links", "a")) == "r.yaml:6:33"
    assert positions.where(("source", 3)) == "r.yaml:4:1"
    with pytest.raises(ValidationError):
        value.name = "b"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nnubmer: 1\n",
         "r.yaml:2:1: nubmer: expected one of the keys name, number, noarch, precision, source, "
         "extra; found 'nubmer': did you mean 'number'?"),
        ("number: 1\n", "r.yaml:1:1: expected the key 'name', found none"),
        ("", "r.yaml:1:1: expected the key 'name', found none"),
        ("name: 3.9\n", "r.yaml:1:7: name: expected text, found the number 3.9: put it in quotes"),
        ("name: [a]\n", "r.yaml:1:7: name: expected text, found a list"),
        ("name: A\n", "r.yaml:1:7: name: expected text that matches ^[a-z]+$, found 'A'"),
        ("name: a\nnumber: '1'\n", "r.yaml:2:9: number: expected a whole number, found '1'"),
        ("name: a\nnoarch: yes\n", "r.yaml:2:9: noarch: expected true or false, found 'yes'"),
        ("name: a\nprecision: float46\n",
         "r.yaml:2:12: precision: expected one of float32, float64; "
         "found 'float46': did you mean 'float64'?"),
        ("name: a\nsource: x\n", "r.yaml:2:9: source: expected a list, such as [A, B], found 'x'"),
        ("name: a\nsource:\n- suite: s\n  debz: [x]\n",
         "r.yaml:3:3: source[0]: expected the key 'debs', found none\n"
         "r.yaml:4:3: source[0].debz: expected one of the keys suite, debs; "
         "found 'debz': did you mean 'debs'?"),
        ("name: a\nsource:\n- {suite: s, debs: [x, 1]}\n",
         "r.yaml:3:24: source[0].debs[1]: expected text, found the number 1: put it in quotes"),
        ("name: a\nextra: {stage: whele}\n",
         "r.yaml:2:16: extra.stage: expected one of wheel, copy; "
         "found 'whele': did you mean 'wheel'?"),
        ("name: a\nextra: {}\n", "r.yaml:2:8: extra: expected the key 'stage', found none"),
        ("name: a\nextra: {stage: copy, link: {}}\n",
         "r.yaml:2:22: extra.link: expected one of the keys stage, links; "
         "found 'link': did you mean 'links'?"),
        ("- a\n", "r.yaml:1:1: expected a mapping, found a list"),
        ("name: a\nname: b\n",
         "r.yaml:2:1: name: expected each key once, found it again; the first is in line 1"),
        ("name:\nnumber: 1\n",
         "r.yaml:1:1: name: expected a value, "
         "found nothing: leave the key out where none is meant"),
        ("name: 2026-01-02\n",
         "r.yaml:1:7: name: expected text, a number, true or false, found a date: 2026-01-02"),
        ("name: !!python/object:os.system a\n",
         "r.yaml:1:7: name: expected a plain value, "
         "found the tag tag:yaml.org,2002:python/object:os.system"),
        ("name: &a b\n", "r.yaml:1:7: name: expected a value written out, found the anchor 'a'"),
        ("1: a\n", "r.yaml:1:1: expected a key that is text, found '1': put it in quotes"),
        ("name: [a\nnumber: 1\n",
         "r.yaml:2:7: expected YAML: did not find expected ',' or ']', "
         "while parsing a flow sequence"),
        ("name: a: b\n",
         "r.yaml:1:8: expected YAML: mapping values are not allowed in this context\n"
         "  fix:      put a value with `: ` in it in quotes"),
        ("name: a\nsource:\n- {suite: s, debs: *b}\n",
         "r.yaml:3:20: source[0].debs: expected a value written out, found the alias 'b'"),
        ("name: a\n*b : c\n", "r.yaml:2:1: expected a key that is text, found the alias 'b'"),
        ("number: " + "9" * 5000,
         "r.yaml:1:9: number: expected a number of at most 1000 digits, found 5000 characters"),
        ("number: 1e999", "r.yaml:1:9: number: expected a number of at most 1.7e308, found 1e999"),
        ("name: é\nnumber: \x01\n",
         "r.yaml:2:1: expected YAML: unacceptable character #x0001: "
         "control characters are not allowed"),
        (b"name: a\nprecision: \xff\n",
         "r.yaml:2:1: expected text in UTF-8, found a byte that is not: 0xff"),
    ],
)  # fmt: skip
def test_an_error_names_the_line_and_the_key(file: Path, text: str | bytes, message: str) -> None:
    assert fault(file, text) == message


DEEP = "expected at most 32 levels of nesting, found more"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: a\nsource: " + "[" * 20_000 + "]" * 20_000, f"r.yaml:2:41: {DEEP}"),
        ("{a: " * 20_000, f"r.yaml:1:133: {DEEP}"),
        (
            "name: a\nsource:\n" + "- [1, 2]\n" * 400_000,
            "r.yaml:335:4: expected at most 1000 values, found more",
        ),
        (
            "".join(f"k{i}: 1\n" for i in range(200_000)),
            "r.yaml:1000:7: expected at most 1000 values, found more",
        ),
    ],
    ids=["flow", "mappings", "values", "keys"],
)
def test_a_yaml_bomb_is_refused_in_little_memory(
    file: Path, text: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yamlfile, "MAX_VALUES", 1000)
    tracemalloc.start()
    try:
        assert fault(file, text) == message
        assert tracemalloc.get_traced_memory()[1] < 20 << 20
    finally:
        tracemalloc.stop()


def sparse(path: Path) -> None:
    path.touch()
    os.truncate(path, 100 << 20)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no such file"),
        (sparse, "expected at most 4 MiB, found more"),
        (os.mkfifo, "is a pipe\n  expected: a file"),
        (Path.mkdir, "is a folder\n  expected: a file"),
    ],
)  # fmt: skip
def test_what_is_refused_unread(file: Path, make: Callable[[Path], object], message: str) -> None:
    make(file)
    tracemalloc.start()
    try:
        with pytest.raises(UsageError, match=rf"^r\.yaml:? {message}$"):
            yamlfile.load(file, Recipe)
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_of_many_faults_the_first_are_listed_and_long_values_are_cut(file: Path) -> None:
    message = fault(file, f"? {'n' * 100_000}\n: 1\nname: {'A' * 100_000}\n")
    assert len(message) < 1000
    assert "r.yaml:1:3: " in message and "r.yaml:3:7: " in message
    lines = fault(file, "name: a\n" + "".join(f"k{i}: 1\n" for i in range(5000))).splitlines()
    assert len(lines) == 21
    assert lines[-1] == "r.yaml: 4980 more faults"


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "{", ""])
def test_what_is_no_json_or_nested_too_deeply_is_a_value_error(file: Path, text: str) -> None:
    file.write_text(text)
    with pytest.raises(ValueError, match=r"too deeply nested|Expecting"):
        records.read_json(file)


def test_json_that_is_too_large_is_not_parsed(file: Path) -> None:
    file.write_text('{"é": [1, null]}', encoding="utf-8")
    assert records.read_json(file) == {"é": [1, None]}
    os.truncate(file, 1 << 30)
    with pytest.raises(ValueError, match="more than 32 MiB"):
        records.read_json(file)
