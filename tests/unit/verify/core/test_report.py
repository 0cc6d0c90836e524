"""The report file and its schema."""

import importlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from unit.helpers.verification import document

report = importlib.import_module("verify.core.report")
jsonschema = importlib.import_module("jsonschema")

SCHEMA = json.loads((REPOSITORY / "verify/report.schema.json").read_text())


def test_the_schema_needs_a_fix_for_every_failed_check() -> None:
    bad = document(report.Check("scan in C", "fail", "it is Python", None))
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(bad, SCHEMA)


def test_the_home_folder_is_a_tilde_in_a_file_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    content = document(home="/home/somebody")
    assert "-L/home/somebody/lib" in json.dumps(content)
    report.write(str(tmp_path / "report.json"), content)
    text = (tmp_path / "report.json").read_text()
    assert "somebody" not in text
    assert "-L~/lib" in text


def test_a_report_replaces_the_old_one_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    report.write(str(path), document())
    assert json.loads(path.read_text())["variant"] == "pip-openblas"
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_into_a_pipe_replaces_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "stdout").symlink_to("pipe")
    with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
        report.write_atomically(str(tmp_path / "stdout"), b"whole")
        assert reader.communicate()[0] == b"whole"
    assert (tmp_path / "pipe").is_fifo() and (tmp_path / "stdout").is_symlink()


def test_a_report_into_a_pipe_without_a_path() -> None:
    """As /dev/stdout before `| jq`."""
    reader, writer = os.pipe()
    report.write_atomically(f"/dev/fd/{writer}", b"whole")
    os.close(writer)
    assert os.read(reader, 99) == b"whole"
    os.close(reader)


def test_a_report_follows_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("report.json")
    report.write_atomically(str(tmp_path / "link"), b"whole")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "report.json").is_file()
