"""Verifying an environment, or any interpreter that a user names."""

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import IO

from stacks.core import paths
from stacks.core.console import as_typed, display_path
from stacks.core.disk import replace_atomically, tmp_folder, tmp_parent, write_atomically
from stacks.core.errors import UsageError, VerifyError
from stacks.core.paths import expanded, is_writable
from stacks.core.process import CommandError, call
from stacks.core.workspace import Workspace
from stacks.environments.folders import report_path
from stacks.environments.make import settings
from stacks.environments.programs import (
    CANNOT_RUN,
    FAILED,
    INTERRUPTED,
    NO_DEVICE,
    OWN_PYTHON,
    PASSED,
    USER_SITE,
    check_report,
    environment,
    raise_for,
    run_suite,
)
from stacks.variants.variant import Variant
from verify.core import surroundings

# Tells the suite how a person repairs the environment.
REPAIR = "THEANO_STACKS_REPAIR"
# Seconds in which a Python has started: as a rule, and on a slow disk.
START, ANSWER = 8.0, 60.0
# How the variables begin that are read before a Python runs any program.
EARLY = ("PYTHON", "LD_", "GLIBC_", "MALLOC_")
# Without Python's own first steps it takes them, and prints each file before it runs it: the last
# line is the file that ends Python, or takes longer than the seconds that it is started with.
OWN_FILES = """\
import os, signal, site, sys
def named(function, path_of):
    def call(*arguments):
        print(path_of(*arguments))
        sys.stdout.flush()
        signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
        return function(*arguments)
    return call
def path_of(name):
    paths = [os.path.join(folder, name) for folder in sys.path]
    found = [path + ".py" for path in paths if os.path.isfile(path + ".py")]
    return (found + [path for path in paths if os.path.isdir(path)] + [name])[0]
site.addpackage = named(site.addpackage, lambda *words: os.path.join(*words[:2]))
site.execsitecustomize = named(site.execsitecustomize, lambda: path_of("sitecustomize"))
site.execusercustomize = named(site.execusercustomize, lambda: path_of("usercustomize"))
site.main()
print("")
"""
PYTHONS = "Python 2.7, or 3.4 and later"
# Any Python runs it: one for the suite answers 42, another one with its version.
PROBE = (
    "import sys; v = sys.version_info[:2]; "
    "print((v < (2, 7) or (3, 0) <= v < (3, 4)) and '%d.%d' % v or 6 * 7)"
)


def verify_variant(
    workspace: Workspace,
    variant: Variant,
    prefix: Path,
    *,
    full: bool = False,
    json_file: Path | None = None,
    limit: int = 0,
    brief: bool = False,
    quiet: bool = False,
) -> None:
    """Verify a variant's environment, print the table, and keep the report if it can be written.

    limit: seconds after which a step counts as hanging; 0 is the suite's default. brief: print the
    verdict, the main timings, and what did not pass. quiet: print that only if something did not
    pass. Raises VerifyError if a check failed or the suite could not run.
    """
    kept = report_path(workspace, variant)
    is_kept = is_writable(kept.parent)
    if not is_kept:
        # An environment is for all users who can read it.
        print(f"note: no report is kept: {display_path(kept.parent)} is read-only", file=sys.stderr)
    with _output(quiet) as output, nullcontext(kept.parent) if is_kept else tmp_folder() as folder:
        kept = folder / kept.name
        with replace_atomically(kept) as report:
            what = f"{variant.id} could not be verified"
            # The environment's own Python may be damaged, so this one compares the files first.
            words = ["files", "--prefix", str(prefix), "--json", str(report), *_options(full, 0)]
            repair = f"./invoke build {variant.option} --repair"
            fixes = {REPAIR: as_typed(repair)}
            status = run_suite(OWN_PYTHON, words, {**os.environ, **fixes}, output)
            if status not in (PASSED, FAILED):
                raise_for(status, what)
            is_damaged = status == FAILED
            if is_damaged and not report.is_file():
                kept.unlink(missing_ok=True)
                raise_for(FAILED, f"{variant.id} is damaged")
            if not is_damaged:
                arguments = ["--expect", str(prefix / settings.EXPECTATION), *_options(full, limit)]
                arguments += ["--brief"] if brief or quiet else []
                env = {**environment(prefix), **fixes}
                python = str(prefix / "bin/python")
                _require_start(python, env)
                status = _verify(python, arguments, env, report, what, output)
        if json_file:
            write_atomically(json_file, kept.read_bytes())
        if status == FAILED:
            reason = "is damaged" if is_damaged else "failed its verification"
            raise_for(status, f"{variant.id} {reason}")
        if status == NO_DEVICE:
            raise_for(status, f"{variant.id} is verified but for its device")


@contextmanager
def _output(quiet: bool) -> Iterator[IO[bytes] | None]:
    """Give the file for the suite's output, which is printed if the block fails; None: a terminal.

    quiet: whether it is a file.
    """
    if not quiet:
        yield None
        return
    with tempfile.TemporaryFile(dir=tmp_parent()) as file:
        try:
            yield file
        except BaseException:
            file.seek(0)
            print(file.read().decode(errors="replace"), end="", flush=True)
            raise


def verify_python(
    python: str, *, full: bool = False, json_file: Path | None = None, limit: int = 0
) -> None:
    """Diagnose any interpreter that has Theano or a descendant; nothing is installed.

    That of an environment that the builder made is compared with what it must have. limit: as for
    verify_variant. Raises UsageError if there is no such interpreter, VerifyError if a check failed
    or the device is missing.
    """
    path = expanded(python)
    # A name without a slash is looked up on PATH.
    if "/" in python and paths.is_dir(path):
        raise UsageError(
            f"{python} is a folder",
            expected="a Python interpreter",
            fix=f"give the interpreter: {_interpreter_of(path)}",
        )
    # No file may be written into another environment, not even compiled modules.
    env = {**surroundings.program(os.environ), "PYTHONDONTWRITEBYTECODE": "1"}
    # Not as a Path: `./python` would become a name that is looked up on PATH.
    command = os.path.abspath(path) if "/" in python else python  # noqa: PTH100
    _require_python(python, command, env)
    arguments = _options(full, limit)
    prefix = Path(shutil.which(command) or command).parent.parent
    if (prefix / settings.EXPECTATION).is_file():
        # A person who calls this interpreter by its path has not left out the home's packages.
        env |= environment(prefix) | {USER_SITE: os.environ.get(USER_SITE, "")}
        arguments += ["--expect", str(prefix / settings.EXPECTATION)]
    with tmp_folder() as folder:
        report = folder / "report.json"
        what = f"{python} could not be verified"
        status = _verify(command, arguments, env, report, what)
        if json_file:
            write_atomically(json_file, report.read_bytes())
    if status != PASSED:
        raise_for(status, f"{python} did not pass")


def _interpreter_of(folder: Path) -> Path:
    """Return the interpreter of an environment's folder, or of its bin; it may be missing."""
    names = ("bin/python", "python", "bin/python3", "python3")
    return next((folder / name for name in names if paths.exists(folder / name)), folder / names[0])


def _options(full: bool, limit: int) -> list[str]:
    return [*(["--full"] if full else []), *(["--limit", str(limit)] if limit else [])]


def _verify(
    python: str,
    arguments: list[str],
    env: Mapping[str, str],
    report: Path,
    what: str,
    output: IO[bytes] | None = None,
) -> int:
    """Run the suite on an interpreter; return PASSED, FAILED or NO_DEVICE as its report has it.

    report: the path for the report. output: as for run_suite. Raises VerifyError `what` if the
    suite did not run to its end: any other program may end with a status of the suite's.
    """
    status = run_suite(python, [*arguments, "--json", str(report)], env, output)
    names = " ".join(surroundings.suspects(env))
    if status not in (PASSED, FAILED, CANNOT_RUN, NO_DEVICE, INTERRUPTED) and names:
        # Before the suite could say why.
        found, fix = f"exit status {status}", f"unset {names}, and run it again"
        error = VerifyError(what, found=found, fix=fix)
        error.exit_code = CANNOT_RUN
        raise error
    if status not in (PASSED, FAILED, NO_DEVICE):
        raise_for(status, what)
    check_report(status, report, what, f"{python} is no Python that runs the suite")
    return status


def _require_start(python: str, env: Mapping[str, str]) -> None:
    """Raise UsageError if a file that each start runs, or a variable, keeps a Python from starting.

    Python's own message does not name each of them: it says "unknown encoding".
    """

    def failure(variables: Mapping[str, str]) -> CommandError | None:
        try:
            call([python, "-c", ""], env=variables, limit=START)
        except CommandError as error:
            return error
        return None

    error = failure(env)
    if error is None:
        return
    hangs = error.found is not None and not str(error.found).startswith("exit status")
    output = ""
    with suppress(CommandError):
        words = [python, "-S", "-c", OWN_FILES, str(START)]
        output = call(words, env=env, accepted=range(-64, 256), limit=2 * START)
    if path := output.rpartition("\n")[0].rpartition("\n")[2]:
        folder = os.path.realpath(os.path.dirname(path))  # noqa: PTH120 - as the variable has it
        raise UsageError(
            f"{python} does not start: {path}, which it runs at each start, "
            + ("takes too long" if hangs else "ends it"),
            fix=surroundings.without("PYTHONPATH", folder, environ=env)
            or f"remove {path}, or the package that has installed it",
        )
    # If it hangs, each trial takes as long.
    for name in [] if hangs else sorted(filter(lambda name: name.startswith(EARLY), env)):
        if failure({other: env[other] for other in env if other != name}) is None:
            what = f"{python} does not start with {name}={env[name]}"
            raise UsageError(what, fix=f"unset {name}")


def _require_python(python: str, command: str, env: Mapping[str, str]) -> None:
    """Raise UsageError if `command`, which the user calls `python`, is no Python for the suite."""
    another = "give another interpreter, such as /usr/bin/python3"
    _require_start(command, env)
    try:
        answer = call([command, "-c", PROBE], env=env, limit=ANSWER)
    except CommandError as error:
        reason = error.what.removeprefix(f"cannot run {command}: ")
        raise UsageError(
            f"{python} does not start: {reason}",
            expected=error.expected or f"a Python for this machine, which is {os.uname().machine}",
            found=error.found,
            fix=another,
        ) from error
    if re.fullmatch(r"\d+\.\d+\n", answer):
        raise UsageError(
            f"{python} is too old", expected=PYTHONS, found=f"Python {answer.strip()}", fix=another
        )
    if answer != "42\n":
        raise UsageError(
            f"{python} is no Python",
            expected="42 for print(6 * 7)",
            found=ascii(answer[:80]),
            fix=another,
        )
