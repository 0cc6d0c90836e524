"""What the suite's programs share: how they start and end, arguments, temporary folders."""

import ast
import fcntl
import importlib
import logging
import os
import shutil
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NoReturn
from unittest.mock import Mock

import pytest
from integration.programs import called

from stacks.core.disk import REPOSITORY
from verify import cli
from verify.core import expectation, framework, program, progress, surroundings


def test_no_bytes_are_formatted_which_python_3_4_cannot() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path in (REPOSITORY / "verify").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mod)
        and isinstance(node.left, ast.Constant)
        and isinstance(node.left.value, bytes)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("name", "text", "fix"),
    [
        # Before the suite's process is made, and in it.
        ("verify/cli.py", "import verify.nothing", "take a whole copy"),
        ("verify/suite.py", "import verify.nothing", "take a whole copy"),
        ("verify/core/machine.py", "def", "take a whole copy"),
        ("path/argparse.py", "import nothing", "take its folder off PYTHONPATH"),
        ("verify/cli.py", "import _bz3",
         "this Python is incomplete: install it again, or take another"),
    ],
)  # fmt: skip
def test_a_suite_that_cannot_start_names_the_file(
    name: str, text: str, fix: str, tmp_path: Path
) -> None:
    shutil.copytree(REPOSITORY / "verify", tmp_path / "verify")
    (tmp_path / "path").mkdir()
    with (tmp_path / name).open("a") as file:
        file.write(text)
    numpy = tmp_path / "path/numpy"
    numpy.mkdir()
    (numpy / "__init__.py").write_text("__version__ = '1'")
    done = called(
        [sys.executable, tmp_path / "verify"],
        env={"PATH": os.defpath, "PYTHONPATH": str(tmp_path / "path")},
    )
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    assert "verify cannot start with " in done.stderr
    assert str(tmp_path / name) in done.stderr
    assert done.stderr.endswith(f"{fix}\n")


def test_a_module_that_ends_python_is_named(tmp_path: Path) -> None:
    (tmp_path / "argparse.py").write_text("import os\nos.kill(os.getpid(), 7)\n")
    done = called(
        [sys.executable, REPOSITORY / "verify"],
        env={"PATH": os.defpath, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == -7
    assert f'File "{tmp_path}/argparse.py", line 2' in done.stderr


def test_the_suite_takes_ctrl_c_that_was_ignored_while_python_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    main = importlib.import_module("verify.__main__").main
    monkeypatch.setattr(progress, "says_interrupted", True)
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for name in ("", "1"):
            monkeypatch.setenv("THEANO_STACKS_INTERRUPT", name)
            with pytest.raises(SystemExit):
                main(["files", "--help"])
            expected = signal.default_int_handler if name else signal.SIG_IGN
            assert signal.getsignal(signal.SIGINT) is expected
            assert "THEANO_STACKS_INTERRUPT" not in os.environ
            # The task that runs the suite says that it was interrupted.
            assert progress.says_interrupted is not bool(name)
    finally:
        signal.signal(signal.SIGINT, before)


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


@pytest.mark.parametrize(
    ("flag", "blocks", "free", "what"),
    [(8, 10, 10, "noexec"), (0, 1 << 30, 31 << 20, "less than 32 MiB are free")],
)
def test_a_report_of_an_earlier_run_does_not_outlive_one_that_is_refused(
    flag: int, blocks: int, free: int, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("report.json", "linked"):
        (tmp_path / name).write_text("all passed")
    (tmp_path / "junit.xml").symlink_to("linked")
    disk = SimpleNamespace(f_flag=flag, f_blocks=blocks, f_bavail=free, f_frsize=1)
    monkeypatch.setattr(cli.os, "statvfs", lambda folder: disk)
    words = ["--json", str(tmp_path / "report.json"), "--junit", str(tmp_path / "junit.xml")]
    with pytest.raises(framework.FrameworkError, match=what):
        cli.run(cli.parse(words), str(tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["junit.xml"]


ARGUMENTS = SimpleNamespace(debug=False)
OLD = "theano-verify-abcdefgh"


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program.tempfile, "tempdir", str(tmp_path))


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        (framework.FrameworkError("no framework", "get one"), "get one"),
        (expectation.ExpectationError("x is missing"), "build the environment "),
        (FileNotFoundError(2, "No such file", "a.json"), "make a.json, or name another one"),
        (PermissionError(13, "Permission denied", "/a/b.json"),
         "make it yours, or choose another folder"),
        (OSError(22, "Invalid argument"), "not recognised; this shows all of it:"),
    ],
)  # fmt: skip
def test_a_program_that_cannot_run_has_status_2_and_a_fix(
    error: Exception, fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert program.exit_status("verify", Mock(side_effect=error), ARGUMENTS) == 2
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"verify cannot run with {sys.executable} (Python 3.")
    assert lines[1] == f"  {error}" and lines[2].startswith(f"  fix: {fix}")


def test_of_a_full_disk_for_temporary_files_the_fix_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Mock(side_effect=OSError(28, "No space left on device"))
    full = SimpleNamespace(f_bavail=0, f_frsize=4096, f_favail=1)
    monkeypatch.setattr(program.os, "statvfs", {str(tmp_path): full}.get)
    assert program.exit_status("verify", run, ARGUMENTS) == 2
    fix = "free some space, or set TMPDIR to a folder on another disk"
    assert capsys.readouterr().err.splitlines()[2] == f"  fix: {fix}"


def test_a_limit_of_files_that_is_below_what_is_compiled(tmp_path: Path) -> None:
    script = 'ulimit -f 100; exec "$0" "$1"'
    words = ["bash", "-c", script, sys.executable, str(REPOSITORY / "verify")]
    done = called(words, cwd=tmp_path)
    assert done.returncode == 2
    # The unit of `ulimit -f` is 512 bytes in some shells.
    reason = "ulimit -f allows files of 100 KiB: what is compiled takes up to 2048 KiB"
    assert f"{reason}\n  fix: raise it: " in done.stderr


def test_without_a_framework_the_suite_cannot_run_and_leaves_no_files(tmp_path: Path) -> None:
    before = sorted((REPOSITORY / "verify").iterdir())
    words = [sys.executable, str(REPOSITORY / "verify")]
    done = called(words, cwd=tmp_path)
    assert done.returncode == 2
    assert "this Python has no Theano, Aesara, PyTensor or NumPy" in done.stderr
    assert "fix: " in done.stderr and "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())
    assert sorted((REPOSITORY / "verify").iterdir()) == before


def test_an_interrupt_that_c_code_takes_for_a_failed_import_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def run(_arguments: object) -> NoReturn:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            raise framework.FrameworkError("import fails", "install NumPy") from None
        raise AssertionError

    before = signal.getsignal(signal.SIGINT)
    assert program.exit_status("verify", run, ARGUMENTS) == program.INTERRUPTED
    assert capsys.readouterr().err == "interrupted\n"
    assert signal.getsignal(signal.SIGINT) is before


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_not_of_the_suite_or_in_use_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside"
    (outside / "kept").mkdir(parents=True)
    (tmp_path / OLD).symlink_to(outside)
    for name in ("verify-abcdefgh", "theano-verify-notes", "theano-stacks-abcdefgh"):
        (tmp_path / name).mkdir()
    (tmp_path / "theano-verify-abcdefg1").touch()
    before = names(tmp_path)
    with program.temporary_folder() as first, program.temporary_folder() as second:
        used = [Path(first).name, Path(second).name]
        assert names(tmp_path) == sorted([*before, *used])
    assert names(tmp_path) == before and (outside / "kept").is_dir()
    # That of another user.
    (tmp_path / OLD).unlink()
    (tmp_path / OLD).mkdir()
    monkeypatch.setattr(program.os, "geteuid", lambda: os.getuid() + 1)
    with program.temporary_folder():
        pass
    assert OLD in names(tmp_path)


def test_another_start_does_not_take_a_folder_that_is_made_for_an_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def other_start(*arguments: int) -> None:
        monkeypatch.setattr(program.fcntl, "flock", flock)
        with program.temporary_folder() as inner:
            assert len(names(tmp_path)) == 2 and Path(inner).is_dir()
        flock(*arguments)

    monkeypatch.setattr(program.fcntl, "flock", other_start)
    with program.temporary_folder() as path:
        assert names(tmp_path) == [Path(path).name]


def test_without_locks_a_folder_is_made_and_nothing_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(95, "Operation not supported")

    (tmp_path / OLD).mkdir()
    monkeypatch.setattr(program.fcntl, "flock", refuse)
    with program.temporary_folder():
        assert len(names(tmp_path)) == 2
    assert names(tmp_path) == [OLD]


def test_output_in_the_block_and_through_its_streams_later_is_discarded(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Also what frameworks log where nothing compiles: thousands of lines for one fault."""
    logger = logging.Logger("framework")
    with progress.quiet():
        print("in the block")
        print("compiler's message \udcff", file=sys.stderr)
        logger.addHandler(logging.StreamHandler())
        logger.error("traceback")
        stream = sys.stdout
        progress.log("a line that stays")
    print("table")
    stream.write("later")
    logger.error("later")
    with progress.quiet(loud=True):
        print("debug")
        print("traceback", file=sys.stderr)
    assert capsys.readouterr() == ("table\ndebug\n", "a line that stays\ntraceback\n")


@pytest.mark.parametrize("name", ["plain", "work [old]", "a*b?", "[", "]["])
def test_a_folder_of_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name / "one").mkdir(parents=True)
    for file in ("b.so", "a.so", "c.o"):
        (tmp_path / name / "one" / file).touch()
    found = surroundings.matching(str(tmp_path / name), "*/*.so")
    assert found == [f"{tmp_path}/{name}/one/{file}" for file in ("a.so", "b.so")]
