"""Running a program or a shell in an environment."""

import logging
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from stacks.core.console import as_typed
from stacks.core.errors import UsageError, nearest
from stacks.core.process import how_to_start, quoted
from stacks.core.workspace import Workspace
from stacks.environments import folders
from stacks.environments.folders import read_report
from stacks.environments.make import settings
from stacks.environments.programs import environment
from stacks.variants.variant import Variant
from verify.core import surroundings

LOGGER = logging.getLogger(__name__)
SHELLS = Path(__file__).parent / "shells"
ENTERED = ("bash", "zsh", "fish")
# The shells of accounts that nobody uses, such as those of containers.
NO_SHELLS = ("nologin", "false", "true")
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)


def warn(variant: Variant, prefix: Path) -> None:
    """Print on standard error which settings and variables override the variant's."""
    for line in settings.undone(variant, prefix, os.environ):
        print(f"warning: {line}: this is no longer {variant.name}", file=sys.stderr)
    for line in surroundings.remarks(os.environ, str(prefix)):
        print(f"warning: {line}", file=sys.stderr)


def warn_of_verification(workspace: Workspace, variant: Variant) -> None:
    """Print a line on standard error if the environment is not verified, or failed the last."""
    report = read_report(workspace, variant)
    command = as_typed(f"./invoke verify {variant.option}")
    if report is None:
        print(f"warning: {variant.id} has not been verified: `{command}`", file=sys.stderr)
    elif not report.get("ok"):
        print(
            f"warning: the last verification of {variant.id} failed: `{command}` says what to do",
            file=sys.stderr,
        )


def run(variant: Variant, prefix: Path, command: Sequence[str]) -> None:
    """Replace this process by a command, with the environment's programs first on PATH.

    Raises UsageError if there is no such program, or only a link to a missing one.
    """
    warn(variant, prefix)
    own = prefix / "bin" / command[0]
    if "/" not in command[0] and own.is_symlink() and not own.exists():
        raise UsageError(
            f"the environment of {variant.id} is damaged: {own} leads to nothing",
            fix=f"./invoke build {variant.option} --repair",
        )
    near = nearest(command[0], (path.name for path in (prefix / "bin").glob("*")))
    fix = how_to_start(command[0]) or (f"did you mean {near}?" if near else "check the spelling")
    _replace_by(list(command), variables(variant, prefix), fix)


def shell(variant: Variant, prefix: Path) -> None:
    """Replace this process by an interactive shell whose prompt names the variant.

    Raises UsageError if the shell does not start, or is for accounts that may not log in.
    """
    env = variables(variant, prefix)
    command, shell_variables = shell_of(variant.name, env)
    name = Path(command[0]).name
    fix = f"name another one: SHELL=bash {as_typed(f'./invoke shell {variant.option}')}"
    if name in NO_SHELLS:
        raise UsageError(f"SHELL={command[0]} lets nobody in", expected="a shell", fix=fix)
    warn(variant, prefix)
    if name in ENTERED:
        print(f"{variant.id}: python, g++ and theano are this environment's; leave with `exit`")
    else:
        # It reads the user's files last, which may leave the environment.
        print(
            f"{variant.id}: {name} is not supported: your own files may put another python first "
            f"on PATH; `which python` prints {prefix}/bin/python if they do not\n"
            f"supported are {', '.join(ENTERED)}: SHELL=bash, for example; leave with `exit`"
        )
    _replace_by(command, shell_variables, fix)


def variables(variant: Variant, prefix: Path) -> dict[str, str]:
    """Return the environment variables for a person's program in a variant's environment.

    What the person has set comes before those of the stack.yaml.
    """
    own = variant.exported(prefix)
    return {**own, **environment(prefix), **settings.for_uv(prefix, os.environ)}


def _replace_by(command: list[str], env: dict[str, str], fix: str) -> None:
    """Replace this process by a command; UsageError with the fix if it does not start."""
    sys.stdout.flush()
    sys.stderr.flush()
    folders.keep_over_exec()
    LOGGER.info("+ %s", quoted(command))
    # Python ignores these, and a program inherits what is ignored.
    handlers = {number: signal.signal(number, signal.SIG_DFL) for number in IGNORED_BY_PYTHON}
    try:
        os.execvpe(command[0], command, env)  # noqa: S606
    except OSError as error:
        raise UsageError(
            f"cannot run {command[0]}: {error.strerror}",
            expected="a program of the environment, on PATH, or a file that may be executed",
            fix=fix,
        ) from error
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


def shell_of(name: str, env: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Return the command and variables of the user's shell, whose prompt begins with `(name)`.

    It enters the environment after it has read the user's files, which may activate conda or change
    PATH. env: the variables of a program in the environment; SHELL is the shell.
    """
    program, prompt = env.get("SHELL") or "/bin/sh", f"({name}) "
    variables, shell_name = dict(env), Path(program).name
    match shell_name:
        case "bash":
            variables["THEANO_STACKS_START"] = _start(prompt, env)
            command = [program, "--rcfile", str(SHELLS / "bashrc"), "-i"]
        case "zsh":
            variables["THEANO_STACKS_ZDOTDIR"] = env.get("ZDOTDIR", "")
            variables["THEANO_STACKS_START"] = _start(prompt, env)
            variables["ZDOTDIR"] = str(SHELLS)
            command = [program, "-i"]
        case "fish":
            command = [program, "-i", "-C", _start_of_fish(prompt, env)]
        case _:
            variables["PS1"] = f"{prompt}$ "
            command = [program, "-i"]
    return command, variables


def _start(prompt: str, env: Mapping[str, str]) -> str:
    """Return the commands of a POSIX shell that enter the environment."""
    return (
        f"unset {' '.join(surroundings.dropped())}; export PATH={shlex.quote(env['PATH'])}; "
        f'export CONDA_PREFIX={shlex.quote(env["CONDA_PREFIX"])}; PS1="{prompt}$PS1"'
    )


def _start_of_fish(prompt: str, env: Mapping[str, str]) -> str:
    folders = " ".join(map(_quoted_for_fish, env["PATH"].split(os.pathsep)))
    return (
        f"set -e {' '.join(surroundings.dropped())}; set -gx PATH {folders}; "
        f"set -gx CONDA_PREFIX {_quoted_for_fish(env['CONDA_PREFIX'])}; "
        "functions -c fish_prompt theano_stacks_prompt; "
        f"function fish_prompt; echo -n {_quoted_for_fish(prompt)}; theano_stacks_prompt; end"
    )


def _quoted_for_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
