"""The suite's program where there is no framework, and its arguments."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY

GOOD = {
    "schema": 1,
    "variant": "openblas",
    "framework": "theano-1.0.5",
    "module": "no_such_framework",
    "version": "1.0.5",
    "python": "3.9.2",
    "baseline": False,
    "blas": {"name": "openblas", "ldflags": "-lopenblas", "libraries": ["libopenblas*"]},
    "floatX": "float64",
    "flags": {},
    "packages": [{"name": "numpy", "version": "1", "sha256": "00", "manager": "pip"}],
}


def verify(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, REPOSITORY / "verify", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def written(folder: Path, content: object) -> str:
    path = folder / "expect.json"
    path.write_text(json.dumps(content))
    return str(path)


def test_without_a_framework_it_says_so_and_cannot_run(tmp_path: Path) -> None:
    done = verify(tmp_path, "--expect", written(tmp_path, GOOD))
    assert done.returncode == 2
    assert "this Python has no no_such_framework" in done.stderr
    assert "fix: " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": 2}, "schema: expected 1, found 2"),
        ({"extra": 1}, "extra is unknown"),
        ({"baseline": "no"}, "baseline has the wrong type: 'no'"),
        ({"blas": {"name": "x"}}, "blas.ldflags is missing"),
        ({"packages": [{"name": "numpy"}]}, "packages[0].manager is missing"),
    ],
)
def test_a_bad_expectation_names_the_key(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    done = verify(tmp_path, "--expect", written(tmp_path, {**GOOD, **change}))
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_expectation_that_is_not_there_or_not_json(tmp_path: Path) -> None:
    missing = verify(tmp_path, "--expect", "nowhere.json")
    assert missing.returncode == 2 and "nowhere.json: No such file" in missing.stderr
    (tmp_path / "text.json").write_text("{")
    broken = verify(tmp_path, "--expect", "text.json")
    assert broken.returncode == 2 and "not JSON" in broken.stderr


@pytest.mark.parametrize(
    "words", [["--nonsense"], ["--blas-threads", "0"], ["--blas-threads", "x"]]
)
def test_bad_arguments_cannot_run(tmp_path: Path, words: list[str]) -> None:
    done = verify(tmp_path, *words)
    assert done.returncode == 2
    assert "usage: verify" in done.stderr


def test_a_report_into_no_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    done = verify(tmp_path, "--json", "nowhere/report.json")
    assert done.returncode == 2
    assert "nowhere" in done.stderr and "Traceback" not in done.stderr


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    before = sorted((REPOSITORY / "verify").iterdir())
    verify(tmp_path)
    assert not list(tmp_path.iterdir())
    assert sorted((REPOSITORY / "verify").iterdir()) == before
