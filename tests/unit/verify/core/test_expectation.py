"""The expectation file, and what is wrong with one."""

import importlib
import json
import os
from pathlib import Path

import pytest

from unit.helpers import environments

expectation = importlib.import_module("verify.core.expectation")

GOOD = {
    **environments.expectation(),
    "blas": {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]},
    "packages": [{"name": "numpy", "version": "1", "sha256": "00", "manager": "pip"}],
}


@pytest.mark.parametrize("change", [{}, {"blas": None}, {"accelerator": ["theano-stacks"]}])
def test_a_valid_file_is_read_whole(tmp_path: Path, change: dict[str, object]) -> None:
    path = tmp_path / "expect.json"
    path.write_text(json.dumps({**GOOD, **change}))
    assert expectation.load(str(path)) == {**GOOD, **change}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema: expected 1, found 2"),
        ({"extra": 1}, "extra is unknown"),
        ({"accelerator": "theano-stacks"}, "accelerator: expected a list"),
        ({"baseline": "no"}, "baseline has the wrong type: 'no'"),
        ({"blas": {"name": "x"}}, "blas.ldflags is missing"),
        ({"packages": [{"name": "numpy"}]}, "packages[0].manager is missing"),
        ({"packages": ["numpy"]}, "packages[0].expected an object"),
    ],
)
def test_an_invalid_file_is_refused_by_key(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "expect.json"
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(expectation.ExpectationError) as caught:
        expectation.load(str(path))
    assert str(caught.value) == f"{path}: {message}"


def test_a_missing_file_and_one_that_is_not_json(tmp_path: Path) -> None:
    with pytest.raises(expectation.ExpectationError, match="nowhere: No such file"):
        expectation.load(str(tmp_path / "nowhere"))
    (tmp_path / "text").write_text("{")
    with pytest.raises(expectation.ExpectationError, match="text: not JSON"):
        expectation.load(str(tmp_path / "text"))


def test_a_file_that_would_never_end_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "expect.json")
    with pytest.raises(expectation.ExpectationError, match="not a regular file"):
        expectation.load(str(tmp_path / "expect.json"))


def test_a_file_of_too_many_levels_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "expect.json"
    path.write_text("[" * 200_000)
    with pytest.raises(expectation.ExpectationError, match="not JSON"):
        expectation.load(str(path))
