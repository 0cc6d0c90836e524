import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from integration.programs import called

from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.folders import report_path
from stacks.environments.use import run as run_module
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant
from unit.helpers.environments import add

PATH = "/usr/bin:/bin"
# Gives the command and the variables of the program that takes this one's place.
Start = Callable[[Callable[[], None]], tuple[list[str], dict[str, str]]]


@pytest.fixture
def variant(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Variant:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("THEANORC", raising=False)
    monkeypatch.delenv("THEANO_FLAGS", raising=False)
    return load_variant(workspace, "openblas")


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Start:
    class ReplacedError(Exception):
        """Stands for the program that takes this one's place."""

    def execvpe(program: str, command: list[str], env: dict[str, str]) -> None:
        raise ReplacedError(command, env)

    def start(call: Callable[[], None]) -> tuple[list[str], dict[str, str]]:
        with pytest.raises(ReplacedError) as caught:
            call()
        command, env = caught.value.args
        return command, env

    monkeypatch.setattr(os, "execvpe", execvpe)
    return start


def test_a_program_has_the_environments_variables_and_none_of_another_python(
    variant: Variant,
    tmp_path: Path,
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    prefix = tmp_path / "prefix"
    for folder in ("prefix/lib/python3.9/site-packages/numpy", "mine/numpy", "project/train"):
        (tmp_path / folder).mkdir(parents=True)
    kept = {"PIP_INDEX_URL": "/index", "PYTHONOPTIMIZE": "2", "OMP_NUM_THREADS": "2"}
    kept["THEANO_FLAGS"] = "blas.ldflags="
    own = {"A": "{prefix}/a", "B": "{prefix}/var/b", "OMP_NUM_THREADS": "9"}
    variant = variant.model_copy(update={"declared": {"environment": own}})
    left = dict.fromkeys(("VIRTUAL_ENV", "CONDA_DEFAULT_ENV", "PYTHONHOME"), "/another")
    path = f"{tmp_path}/mine:{tmp_path}/project"
    others = {"PIP_USER": "1", "CONDA_PREFIX": "/another", "PYTHONPATH": path}
    for name, value in {**kept, **left, **others}.items():
        monkeypatch.setenv(name, value)
    command, env = start(partial(run_module.run, variant, prefix, ["python", "-c", "a b"]))
    assert command == ["python", "-c", "a b"]
    assert env["PATH"].startswith(f"{prefix}/bin:")
    assert env.items() >= {**kept, "CONDA_PREFIX": str(prefix), "PYTHONNOUSERSITE": "1"}.items()
    assert env["A"] == f"{prefix}/a"
    assert not {*left, "B", "PIP_USER"} & set(env)
    warnings = capsys.readouterr().err
    assert "PYTHONOPTIMIZE=2 leaves out the checks" in warnings
    assert warnings.count("'-lblas_threads -lopenblas': this is no longer openblas\n") == 1
    assert f"PYTHONPATH={tmp_path}/mine" in warnings and "hides its numpy" in warnings
    assert "OMP_NUM_THREADS" not in warnings
    # A project's folder hides nothing: it is not named.
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}/project")
    start(partial(run_module.run, variant, prefix, ["python"]))
    assert "PYTHONPATH" not in capsys.readouterr().err


def test_a_program_ends_with_its_reader_as_in_a_shell() -> None:
    words = ["bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"]
    code = "from stacks.environments.use import run\n"
    code += f"run._replace_by({words}, dict(PATH={PATH!r}), '')"
    done = called([sys.executable, "-c", code], cwd=REPOSITORY)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"y\n{128 + signal.SIGPIPE}\n", "")


@pytest.mark.parametrize(
    ("words", "text", "mode", "what", "fix"),
    [
        (["no-such"], "", 0, "cannot run no-such: No such", "check the spelling"),
        (["pyhton"], "", 0, "cannot run pyhton: No such", "did you mean python?"),
        (["my.py"], "", 0o644, "cannot run my.py: No such", "-- python my.py"),
        (["./a b.py"], "print()", 0o644, "cannot run .*/a b.py: Perm", "-- python './a b.py'"),
        (["./train.py"], "print()", 0o755, "cannot run .*/train.py: Exec", "-- python ./train.py"),
        (["python"], "", 0, "is damaged: .*/bin/python leads to nothing", "openblas --repair"),
    ],
)
def test_what_cannot_be_started(
    words: list[str],
    text: str,
    mode: int,
    what: str,
    fix: str,
    variant: Variant,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to("python3.9")
    if mode:
        add(tmp_path, words[0], text, mode)
    with pytest.raises(UsageError, match=what) as caught:
        run_module.run(variant, tmp_path, words)
    assert fix in str(caught.value.fix)


def test_a_shell_says_where_one_is(
    variant: Variant,
    start: Start,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for shell in ("tcsh", "ksh93", "bash"):
        monkeypatch.setenv("SHELL", f"/bin/{shell}")
        command, env = start(partial(run_module.shell, variant, Path("/prefix")))
        printed = capsys.readouterr().out
        assert command[0] == f"/bin/{shell}" and "leave with `exit`" in printed
        assert ("are this environment's" in printed) == (shell == "bash")
        if shell != "bash":
            assert env["PS1"] == "(openblas) $ "
            assert f"{shell} is not supported: your own files may put another python" in printed
            assert "`which python` prints /prefix/bin/python" in printed
    monkeypatch.setenv("SHELL", "/usr/sbin/nologin")
    with pytest.raises(UsageError, match=r"nologin lets nobody in(.|\n)*SHELL=bash \./invoke"):
        run_module.shell(variant, Path("/prefix"))


def test_an_environment_that_did_not_pass_is_named_once(
    own_workspace: Workspace, variant: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    path = report_path(own_workspace, variant)
    path.parent.mkdir(parents=True)
    name, command = "theano-1.0.5/openblas", "`./invoke verify --variant openblas`"
    for report, line in (
        (None, f"warning: {name} has not been verified: {command}\n"),
        ({"ok": True}, ""),
        (
            {"ok": False},
            f"warning: the last verification of {name} failed: {command} says what to do\n",
        ),
    ):
        if report:
            path.write_text(json.dumps(report))
        run_module.warn_of_verification(own_workspace, variant)
        assert capsys.readouterr().err == line


CONDA = (
    "export PATH=/conda/bin:$PATH CONDA_PREFIX=/conda VIRTUAL_ENV=/other\nMINE=read\nPS1='mine> '\n"
)
FISH = """\
set -gx PATH /conda/bin $PATH; set -gx CONDA_PREFIX /conda; set -gx VIRTUAL_ENV /other
set MINE read
function fish_prompt; echo -n 'mine> '; end
"""
FILES = {
    "bash": (".bashrc", CONDA),
    "zsh": (".zshrc", CONDA),
    "fish": (".config/fish/config.fish", FISH),
}
SHOWN = 'echo "$MINE:$PATH:$CONDA_PREFIX:$VIRTUAL_ENV"'


@pytest.mark.parametrize("shell", FILES)
def test_a_shell_enters_the_environment_after_the_persons_files(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"{shell} is not installed")
    name, text = FILES[shell]
    add(tmp_path, name, text)
    prefix = tmp_path / "it's a préfix"
    path = f"{prefix}/bin:{PATH}"
    env = {"HOME": str(tmp_path), "SHELL": program, "TERM": "dumb", "PATH": path}
    env["CONDA_PREFIX"] = str(prefix)
    command, variables = run_module.shell_of("openblas", env)
    prompt = "fish_prompt" if shell == "fish" else 'echo "$PS1"'
    done = called(command, input=f"{SHOWN}\n{prompt}\nexit\n", env=variables)
    shown = done.stdout.replace(f"{prefix}/bin /usr/bin /bin", path)
    assert f"read:{path}:{prefix}:\n" in shown
    assert "(openblas) mine> " in shown
    assert "THEANO_STACKS" not in done.stdout + done.stderr
    assert not list(run_module.SHELLS.glob(".zcompdump*"))
