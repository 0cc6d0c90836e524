"""What becomes of a verification that ends without a report: where a library hangs, for one."""

import json
import os
import re
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest

from stacks.core.errors import UsageError, VerifyError
from stacks.core.workspace import Workspace
from stacks.environments import folders, programs
from stacks.environments.care import verify as verification
from stacks.environments.make.contents import write_manifest
from stacks.variants.load import load_variant
from unit.helpers.environments import EXPECTATION, add, environment, kill_during_import


class Room:
    """An environment whose Python exits with status 1, and an earlier report of it."""

    def __init__(self, workspace: Workspace, folder: Path) -> None:
        self.workspace, self.variant = workspace, load_variant(workspace, "openblas")
        self.prefix, self.json = folder / "environment", folder / "report.json"
        self.kept = folders.report_path(workspace, self.variant)
        self.kept.parent.mkdir(parents=True)
        self.kept.write_text("{}")
        environment(self.prefix)
        self.runs("exit 1")

    def runs(self, script: str) -> None:
        """Let the environment's Python run a script in place of the suite."""
        answer = '[ "$1" != -c ] || exec echo 42'
        add(self.prefix, "bin/python", f"#!/bin/sh\n{answer}\n{script}\n", 0o555)
        write_manifest(self.prefix)

    def verify(self, *, quiet: bool = False) -> None:
        verification.verify_variant(
            self.workspace, self.variant, self.prefix, json_file=self.json, quiet=quiet
        )

    def fails(self, match: str) -> VerifyError:
        with pytest.raises(VerifyError, match=match) as caught:
            self.verify()
        return caught.value


@pytest.fixture
def room(own_workspace: Workspace, tmp_path: Path) -> Room:
    return Room(own_workspace, tmp_path)


def test_an_environment_that_cannot_be_verified(room: Room, tmp_path: Path) -> None:
    error = room.fails("/openblas could not be verified")
    # The suite's supervisor has printed what hung or crashed: one fault has one fix.
    assert str(error).splitlines()[1:] == ["  fix:      see the suite's own message above"]
    assert error.exit_code == 1
    assert room.kept.read_text() == "{}" and not room.json.exists()
    prefix, room.prefix = room.prefix, tmp_path
    assert room.fails("/openblas could not be verified").exit_code == 2
    assert room.kept.read_text() == "{}"
    (prefix / EXPECTATION).unlink()
    room.prefix = prefix
    room.fails("/openblas is damaged")
    assert not room.kept.exists()


def test_a_damaged_environment_is_not_started(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    # Modules for the environment's Python are not the builder's.
    (tmp_path / "enum.py").write_text("raise SyntaxError('of Python 2')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "400")
    room.variant = room.variant.model_copy(update={"file": tmp_path / "a model/stack.yaml"})
    add(room.prefix, "bin/python", f"#!/bin/sh\ntouch {tmp_path}/started\n", 0o555)
    error = room.fails("/openblas is damaged")
    assert error.exit_code == 1
    assert error.fix == "the table above has a fix for each check that failed"
    assert not (tmp_path / "started").exists()
    table = capfd.readouterr().out
    assert "bin/python: changed" in table
    command = f"./invoke build --variant '{tmp_path}/a model' --repair\n"
    assert f"fix: put the files back:\n           {command}" in table
    for path in (tmp_path / "a model/stack.build/report.json", room.json):
        assert json.loads(path.read_text())["checks"][0]["name"] == "files"


@pytest.mark.parametrize("status", [0, 1])
def test_a_quiet_verification_has_a_table_only_where_it_fails(
    status: int, room: Room, capfd: pytest.CaptureFixture[str]
) -> None:
    room.runs(
        f"echo the table\n{reporting(status, {'ok': not status, 'checks': [CHECKS[status]]})}"
    )
    with pytest.raises(VerifyError, match="failed") if status else nullcontext():
        room.verify(quiet=True)
    assert capfd.readouterr().out == ("the table\n" if status else "")


CHECKS = PASS, FAIL = tuple(
    {"name": "x", "status": status, "detail": "", "fix": None} for status in ("pass", "fail")
)
NO_REPORT = "exit status 0 and no report"
REPORT = 'while test "$1" != --json; do shift; done; cat > "$2" <<E\n{}\nE\nexit {}'


def reporting(status: int, content: object) -> str:
    return REPORT.format(content if isinstance(content, str) else json.dumps(content), status)


@pytest.mark.parametrize(
    ("script", "found"),
    [
        ("echo all checks passed", NO_REPORT),
        ("exit 3", "exit status 3 and no report"),
        *(
            (reporting(0, content), NO_REPORT)
            for content in ("{", {"ok": True}, {"ok": True, "checks": []})
        ),
        (reporting(0, {"ok": True, "checks": [FAIL]}), NO_REPORT),
        (reporting(0, {"ok": False, "checks": [FAIL]}), "exit status 0 and a report of"),
        # The suite has died at its end, and said so.
        (reporting(1, {"ok": True, "checks": [PASS]}), "None"),
    ],
)
def test_a_program_that_does_not_verify_never_passes(script: str, found: str, room: Room) -> None:
    room.runs(script)
    with pytest.raises(VerifyError, match="could not be verified") as caught:
        verification.verify_python(str(room.prefix / "bin/python"), json_file=room.json)
    assert str(caught.value.found).startswith(found) and caught.value.exit_code in (1, 2)
    assert str(room.fails("could not be verified").found).startswith(found)
    assert room.kept.read_text() == "{}" and not room.json.exists()


def test_variables_are_named_where_a_suite_ends_without_a_word(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_BIND_NOT", "1")
    room.runs("exit 7")
    error = room.fails("could not be verified")
    assert (error.found, error.exit_code) == ("exit status 7", 2)
    assert "LD_BIND_NOT" in str(error.fix)


def test_a_suite_that_dies_before_it_can_say_why(room: Room) -> None:
    room.runs("kill -BUS $$")
    error = room.fails("could not be verified")
    assert (error.found, error.exit_code) == ("signal 7 has ended it", 2)
    assert error.fix == "see the suite's own message above"
    room.runs("kill -KILL $$")
    assert room.fails("could not be verified").fix == "run it again"


@pytest.mark.parametrize(
    ("content", "what", "found"),
    [
        ("#!/bin/sh\n", "^python is no Python$", "''"),
        ("#!/bin/sh\necho 42 and more", "^python is no Python$", "'42 and more"),
        ("#!/bin/sh\necho 2.6", "^python is too old$", "Python 2.6"),
        ("#!/bin/sh\necho 3.3", "^python is too old$", "Python 3.3"),
        ("#!/bin/sh\necho broken >&2\nexit 3", "does not start: .*\nbroken", "3"),
        ("#!/bin/sh\nkill -SEGV $$", "does not start: ", "-11"),
        ("#!/bin/sh\nexec sleep 1000", "does not start: ", "it still ran"),
        ("hello", "does not start: Exec format error", ""),
        ("#!/nowhere", "does not start: No such file", ""),
    ],
)
def test_what_is_no_python_is_refused(
    content: str, what: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "START", 0.5)
    monkeypatch.setattr(verification, "ANSWER", 0.5)
    monkeypatch.chdir(tmp_path)
    add(tmp_path, "python", content, 0o555)
    with pytest.raises(UsageError) as caught:
        # Not the one on PATH.
        verification.verify_python("./python")
    error = caught.value
    assert error.exit_code == 2
    assert re.search(what.replace("^", r"^\./"), str(error), re.MULTILINE)
    assert found in str(error.found) and error.expected
    assert str(error.fix).startswith("give another interpreter")


@pytest.mark.parametrize("name", ["PYTHONIOENCODING", "PYTHONHASHSEED", "PYTHONMALLOC"])
def test_a_variable_that_keeps_python_from_starting_is_named(
    name: str, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, "nonsense")
    add(room.prefix, "bin/python", f'#!/bin/sh\nexec {sys.executable} "$@"\n', 0o555)
    write_manifest(room.prefix)
    for verify in (room.verify, lambda: verification.verify_python(f"{room.prefix}/bin/python")):
        with pytest.raises(UsageError, match=f"does not start with {name}=nonsense") as caught:
            verify()
        assert caught.value.fix == f"unset {name}"


@pytest.mark.parametrize(
    ("file", "text", "does"),
    [
        ("lib/{python}/site-packages/own.pth", "import time; time.sleep(1000)", "takes too long"),
        ("lib/{python}/site-packages/own.pth", "import os; os._exit(3)", "ends it"),
        ("modules/sitecustomize.py", "import ctypes; ctypes.string_at(0)", "ends it"),
        ("home/lib/{python}/site-packages/usercustomize.py", "while True: pass", "takes too long"),
    ],
)
def test_a_file_that_keeps_python_from_starting_is_named(
    file: str, text: str, does: str, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verification, "START", 2)
    monkeypatch.setenv("PYTHONPATH", f"{room.prefix}/modules")
    monkeypatch.setenv("PYTHONUSERBASE", f"{room.prefix}/home")
    python = room.prefix / "bin/python"
    python.unlink()
    python.symlink_to(sys.executable)
    home = Path(sys.executable).resolve().parent
    add(room.prefix, "pyvenv.cfg", f"home = {home}\ninclude-system-site-packages = true\n")
    path = add(room.prefix, file.format(python="python{}.{}".format(*sys.version_info)), text)
    write_manifest(room.prefix)
    (room.prefix / EXPECTATION).unlink()
    with pytest.raises(UsageError, match=f"{path}, which it runs at each start, {does}") as caught:
        verification.verify_python(str(python))
    by_variable = path.parent.name == "modules"
    assert str(caught.value.fix).startswith("unset PYTHONPATH" if by_variable else "remove ")


def test_a_path_that_is_no_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no-such-python does not start: "):
        verification.verify_python("no-such-python")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").touch()
    for folder in (tmp_path, tmp_path / "bin"):
        with pytest.raises(UsageError, match="is a folder") as caught:
            verification.verify_python(str(folder))
        assert caught.value.fix == f"give the interpreter: {tmp_path}/bin/python3"
        assert caught.value.expected and caught.value.exit_code == 2


def test_the_suite_ends_with_a_killed_builder(tmp_path: Path) -> None:
    # The suite cannot know by itself whether it should outlive a shell that has started it.
    code = "import sys; from stacks.environments.care.verify import verify_python\n"
    code += "verify_python(f'{sys.argv[1]}/bin/python')"
    kill_during_import(tmp_path, code)
    assert not list(tmp_path.glob("theano-verify-*"))


@pytest.mark.parametrize("status", [0, 1])
def test_a_report_that_agrees_is_stored(status: int, room: Room, tmp_path: Path) -> None:
    content = {"ok": not status, "checks": [CHECKS[status]]}
    room.runs(reporting(status, content))
    python, other = str(room.prefix / "bin/python"), tmp_path / "other.json"
    failure = pytest.raises(VerifyError, match=r"failed|did not pass") if status else nullcontext()
    with failure:
        room.verify()
    with failure:
        verification.verify_python(python, json_file=other)
    for path in (room.kept, room.json, other):
        assert json.loads(path.read_text()) == content


@pytest.mark.parametrize("name", ["PYTHONINSPECT", "LD_DEBUG"])
def test_the_suite_does_not_get_what_prints_or_asks(name: str, tmp_path: Path) -> None:
    python = add(tmp_path, "python", f"#!/bin/sh\nexit ${{{name}:+7}}\n", 0o755)
    assert programs.run_suite(python, ["files"], {**os.environ, name: "1"}) == 0


def test_ctrl_c_is_ignored_until_the_suite_runs(tmp_path: Path) -> None:
    text = "#!/bin/sh\necho $(grep SigIgn /proc/$$/status) $THEANO_STACKS_INTERRUPT > "
    python = add(tmp_path, "python", f"{text}{tmp_path}/out\n", 0o755)
    assert programs.run_suite(python, ["files"], os.environ) == 0
    _, ignored, told = (tmp_path / "out").read_text().split()
    assert int(ignored, 16) & 1 << (signal.SIGINT - 1) and told == "1"
