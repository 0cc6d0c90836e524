"""The log of a run: what it shows, what it writes after a failure."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from stacks.core import log
from stacks.core.process import call


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    level, handlers = log.LOGGER.level, log.LOGGER.handlers
    yield
    log.LOGGER.level, log.LOGGER.handlers = level, handlers


@pytest.mark.parametrize("verbose", [True, False])
def test_verbose_prints_each_command(capfd: pytest.CaptureFixture[str], verbose: bool) -> None:
    log.start(verbose=verbose)
    call(["echo", "a b"])
    assert capfd.readouterr().err == ("+ echo 'a b'\n" if verbose else "")


def test_failure_writes_log_with_times_and_error(tmp_path: Path) -> None:
    log.start(verbose=False)
    call(["true"])
    path = log.write(tmp_path / "logs", "build", ValueError("because"))
    assert path == tmp_path / "logs" / "build-1.log"
    time = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+"
    assert re.fullmatch(rf"{time} \+ true\nerror: because\n", path.read_text())


def test_nothing_is_written_without_a_record_or_where_the_disk_refuses(tmp_path: Path) -> None:
    log.start(verbose=False)
    assert log.write(tmp_path / "logs", "build", ValueError()) is None
    assert not (tmp_path / "logs").exists()
    call(["true"])
    (tmp_path / "logs").touch()
    assert log.write(tmp_path / "logs", "build", ValueError()) is None


def test_last_ten_logs_are_kept(tmp_path: Path) -> None:
    log.start(verbose=False)
    call(["true"])
    for number in range(12):
        log.write(tmp_path, "build" if number % 2 else "serve", ValueError())
    assert sorted(int(path.stem.split("-")[1]) for path in tmp_path.iterdir()) == [*range(3, 13)]


def test_log_has_no_credentials(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log.start(verbose=True)
    logging.getLogger("stacks.x").info("fetched %s", "https://me:secret@example/a")
    path = log.write(tmp_path, "pin", ValueError("https://me:secret@example/a"))
    assert path
    for text in (path.read_text(), capsys.readouterr().err):
        assert "secret" not in text and "https://example/a" in text


def test_worker_records_are_collected() -> None:
    with log.collected() as records:
        call(["true"])
    call(["false"], accepted=(1,))
    assert [record.getMessage() for record in records] == ["+ true"]


def test_bytes_of_a_name_that_are_not_utf_8_are_written(tmp_path: Path) -> None:
    log.start(verbose=False)
    call(["true"])
    path = log.write(tmp_path, "run", ValueError(os.fsdecode(b"caf\xe9")))
    assert path and r"caf\udce9" in path.read_text()
