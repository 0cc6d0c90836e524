"""The arguments of the verification."""

import importlib
from pathlib import Path
from types import SimpleNamespace

import pytest

cli = importlib.import_module("verify.cli")


@pytest.mark.parametrize(
    "argv", [["--nonsense"], ["--blas-threads", "0"], ["--blas-threads", "x"], ["--limit", "-1"]]
)
def test_invalid_arguments_have_status_2(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.parse(argv)
    assert end.value.code == 2
    assert "usage: verify" in capsys.readouterr().err


def test_a_report_into_a_missing_folder_is_refused_before_the_framework_is_imported(
    tmp_path: Path,
) -> None:
    with pytest.raises(OSError, match="no such folder"):
        cli.run(cli.parse(["--json", str(tmp_path / "nowhere/report.json")]), str(tmp_path))


def test_a_report_of_an_earlier_run_does_not_outlive_this_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("report.json", "linked"):
        (tmp_path / name).write_text("all passed")
    (tmp_path / "junit.xml").symlink_to("linked")
    monkeypatch.setattr(cli.os, "statvfs", lambda folder: SimpleNamespace(f_flag=cli.NOEXEC))
    words = ["--json", str(tmp_path / "report.json"), "--junit", str(tmp_path / "junit.xml")]
    with pytest.raises(OSError, match="noexec"):
        cli.run(cli.parse(words), str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["junit.xml"]
