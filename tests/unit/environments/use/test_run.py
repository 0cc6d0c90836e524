from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stacks.core.disk import REPOSITORY
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.environments.folders import report_path
from stacks.environments.use import run as run_module
from stacks.variants.load import load_variant
from stacks.variants.variant import Variant

PATH = "/usr/bin:/bin"


class ReplacedError(Exception):
    """Stands for the program that takes this one's place."""


@pytest.fixture
def variant(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Variant:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("THEANORC", raising=False)
    monkeypatch.delenv("THEANO_FLAGS", raising=False)
    return load_variant(workspace, "openblas")


@pytest.fixture
def replaced(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, str]]]:
    found: list[tuple[list[str], dict[str, str]]] = []

    def execvpe(program: str, command: list[str], env: dict[str, str]) -> None:
        found.append((command, env))
        raise ReplacedError

    monkeypatch.setattr(os, "execvpe", execvpe)
    return found


def test_a_command_with_the_environments_programs_first(
    variant: Variant, replaced: list[tuple[list[str], dict[str, str]]]
) -> None:
    with pytest.raises(ReplacedError):
        run_module.run(variant, Path("/prefix"), ["python", "-c", "a b"])
    [(command, env)] = replaced
    assert command == ["python", "-c", "a b"]
    assert env["PATH"].startswith("/prefix/bin:")
    assert (env["CONDA_PREFIX"], env["PYTHONNOUSERSITE"]) == ("/prefix", "1")


def test_variables_for_another_python_or_pip_are_dropped_and_others_named(
    variant: Variant,
    tmp_path: Path,
    replaced: list[tuple[list[str], dict[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "prefix/lib/python3.9/site-packages/numpy").mkdir(parents=True)
    (tmp_path / "mine/numpy").mkdir(parents=True)
    (tmp_path / "project/train").mkdir(parents=True)
    for name, value in {
        "PYTHONHOME": "/usr",
        "PIP_USER": "1",
        "PIP_INDEX_URL": "/index",
        "PYTHONOPTIMIZE": "2",
        "PYTHONPATH": f"{tmp_path}/mine:{tmp_path}/project",
        "OMP_NUM_THREADS": "2",
    }.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ReplacedError):
        run_module.run(variant, tmp_path / "prefix", ["python"])
    [(_, env)] = replaced
    assert not {"PYTHONHOME", "PIP_USER"} & set(env)
    assert (env["PIP_INDEX_URL"], env["PYTHONOPTIMIZE"], env["OMP_NUM_THREADS"]) == (
        "/index",
        "2",
        "2",
    )
    warnings = capsys.readouterr().err
    assert "PYTHONOPTIMIZE=2 leaves out the checks" in warnings
    assert f"PYTHONPATH={tmp_path}/mine" in warnings
    assert "hides its numpy" in warnings
    assert "OMP_NUM_THREADS" not in warnings
    # A project's folder hides nothing: it is not named.
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}/project")
    with pytest.raises(ReplacedError):
        run_module.run(variant, tmp_path / "prefix", ["python"])
    assert "PYTHONPATH" not in capsys.readouterr().err


def test_another_environment_that_is_active_is_left(
    variant: Variant,
    replaced: list[tuple[list[str], dict[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("VIRTUAL_ENV", "CONDA_DEFAULT_ENV", "CONDA_PREFIX"):
        monkeypatch.setenv(name, "/another")
    with pytest.raises(ReplacedError):
        run_module.run(variant, Path("/prefix"), ["uv", "pip", "install", "x"])
    [(_, env)] = replaced
    assert env["CONDA_PREFIX"] == "/prefix"
    assert not {"VIRTUAL_ENV", "CONDA_DEFAULT_ENV"} & set(env)


def test_a_program_ends_with_its_reader_as_in_a_shell() -> None:
    words = ["bash", "-c", "yes | head -1; echo ${PIPESTATUS[0]}"]
    code = f"from stacks.environments.use import run\nrun._replace_by({words}, dict(PATH={PATH!r}))"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert (output.stdout, output.stderr) == (f"y\n{128 + signal.SIGPIPE}\n", "")


def test_no_command(variant: Variant) -> None:
    option = "--variant openblas"
    with pytest.raises(UsageError, match=f"run {option} -- python train.py"):
        run_module.run(variant, Path("/prefix"), [])


def test_overridden_settings_are_printed_once(
    variant: Variant,
    replaced: list[tuple[list[str], dict[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("THEANO_FLAGS", "blas.ldflags=")
    with pytest.raises(ReplacedError):
        run_module.run(variant, Path("/prefix"), ["true"])
    assert capsys.readouterr().err == (
        "warning: THEANO_FLAGS sets blas.ldflags to '', "
        "where the variant needs '-lblas_threads -lopenblas': this is no longer openblas\n"
    )


def test_a_program_that_is_missing(variant: Variant) -> None:
    with pytest.raises(UsageError, match="cannot run no-such-program"):
        run_module.run(variant, Path("/prefix"), ["no-such-program"])


def test_a_link_of_the_environment_that_leads_to_nothing(variant: Variant, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python").symlink_to("python3.9")
    with pytest.raises(UsageError, match=f"damaged: {tmp_path}/bin/python leads to") as caught:
        run_module.run(variant, tmp_path, ["python"])
    assert caught.value.fix == f"./invoke build {variant.option} --repair"


def test_a_shell_says_where_one_is(
    variant: Variant,
    replaced: list[tuple[list[str], dict[str, str]]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for shell in ("tcsh", "ksh93", "bash"):
        monkeypatch.setenv("SHELL", f"/bin/{shell}")
        with pytest.raises(ReplacedError):
            run_module.shell(variant, Path("/prefix"))
        command, env = replaced[-1]
        printed = capsys.readouterr().out
        assert command[0] == f"/bin/{shell}" and "leave with `exit`" in printed
        assert ("are this environment's" in printed) == (shell == "bash")
        if shell != "bash":
            assert env["PS1"] == "(openblas) $ "
            assert f"{shell} is not supported: your own files may put another python" in printed
            assert "`which python` prints /prefix/bin/python" in printed


def test_an_environment_that_did_not_pass_is_named_once(
    own_workspace: Workspace, variant: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    path = report_path(own_workspace, variant)
    path.parent.mkdir(parents=True)
    for ok, lines in (
        (True, ""),
        (
            False,
            "warning: the last verification of theano-1.0.5/openblas failed: "
            "`./invoke verify --variant openblas` says what to do\n",
        ),
    ):
        path.write_text(json.dumps({"ok": ok}))
        run_module.warn_of_verification(own_workspace, variant)
        assert capsys.readouterr().err == lines
    path.unlink()
    run_module.warn_of_verification(own_workspace, variant)
    assert capsys.readouterr().err == (
        "warning: theano-1.0.5/openblas has not been verified: "
        "`./invoke verify --variant openblas`\n"
    )


@pytest.mark.parametrize(
    ("text", "mode", "fix"),
    [
        ("print()", 0o644, "make it a program"),
        ("print()", 0o755, "its first line is no"),
        ("#!/no/such\n", 0o755, "the program that its first line"),
    ],
)
def test_a_file_that_cannot_be_started(text: str, mode: int, fix: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(text)
    (tmp_path / "train.py").chmod(mode)
    with pytest.raises(UsageError, match=r"cannot run .*train\.py") as caught:
        run_module._replace_by([str(tmp_path / "train.py")], {"PATH": "/bin"})
    assert str(caught.value.fix).startswith(fix)


def test_a_python_file_in_place_of_a_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train me.py").touch()
    with pytest.raises(UsageError, match=r"run the file: -- python 'train me\.py'"):
        run_module._replace_by(["train me.py"], {"PATH": "/bin"})


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
    "mksh": (".mkshrc", CONDA),
    # They read no file but the one that ENV names.
    "dash": (".shrc", CONDA),
    "sh": (".shrc", CONDA),
}
SHOWN = 'echo "$MINE:$PATH:$CONDA_PREFIX:$VIRTUAL_ENV"'


@pytest.mark.parametrize("shell", FILES)
def test_a_shell_enters_the_environment_after_the_persons_files(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if not program:
        pytest.skip(f"{shell} is not installed")
    name, text = FILES[shell]
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text(text)
    prefix = tmp_path / "it's a préfix"
    env = {
        "HOME": str(tmp_path),
        "SHELL": program,
        "TERM": "dumb",
        "PATH": f"{prefix}/bin:/usr/bin:/bin",
        "CONDA_PREFIX": str(prefix),
    }
    if name == ".shrc":
        env["ENV"] = str(tmp_path / name)
    command, variables = run_module.shell_of("openblas", env)
    prompt = "fish_prompt" if shell == "fish" else 'echo "$PS1"'
    files = re.findall(r"/dev/fd/(\d+)", " ".join([*command, variables.get("ENV", "")]))
    done = subprocess.run(
        command,
        input=f'{SHOWN}\n{prompt}\necho "ENV=$ENV"\nexit\n',
        env=variables,
        capture_output=True,
        text=True,
        pass_fds=[int(number) for number in files],
        check=False,
    )
    assert f"read:{prefix}/bin:/usr/bin:/bin:{prefix}:\n" in done.stdout.replace(
        f"{prefix}/bin /usr/bin /bin", f"{prefix}/bin:/usr/bin:/bin"
    )
    assert "(openblas) mine> " in done.stdout
    assert f"ENV={env.get('ENV', '')}\n" in done.stdout
    assert "THEANO_STACKS" not in done.stdout + done.stderr
    assert not list(run_module.ZSH.glob(".zcompdump*"))


def test_bytes_of_a_path_that_are_not_utf_8_are_kept(tmp_path: Path) -> None:
    path = os.fsdecode(b"/caf\xe9/bin")
    command, _ = run_module.shell_of("v", {"SHELL": "bash", "PATH": path, "CONDA_PREFIX": "/p"})
    assert b"PATH='/caf\xe9/bin'" in Path(command[2]).read_bytes()
