"""Whether a program is a Python that the verification suite runs on, and what it is if not."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Mapping
from pathlib import Path

from stacks.core.errors import UsageError
from stacks.core.process import CommandError, call

# Seconds in which a Python has started.
ANSWER = 60.0
PYTHONS = "Python 2.7, or 3.4 and later"
# Any Python runs it: one for the suite answers 42, another one with its version.
PROBE = (
    "import sys; v = sys.version_info[:2]; "
    "print((v < (2, 7) or (3, 0) <= v < (3, 4)) and '%d.%d' % v or 6 * 7)"
)
# e_machine of the ELF header, by the names that uname has for them.
MACHINES = {
    3: "i686",
    20: "ppc",
    21: "ppc64",
    22: "s390x",
    40: "armv7l",
    62: "x86_64",
    183: "aarch64",
    243: "riscv64",
    258: "loongarch64",
}


def require(python: str, command: str, env: Mapping[str, str]) -> None:
    """Raise UsageError if `command`, which the user calls `python`, is no Python for the suite."""
    another = "give another interpreter, such as /usr/bin/python3"
    try:
        answer = call([command, "-c", PROBE], env=env, limit=ANSWER)
    except CommandError as error:
        if isinstance(cause := error.__cause__, OSError):
            raise _no_program(python, command, cause) from error
        raise UsageError(
            f"{python} is no Python that starts: {error.what}",
            expected=error.expected,
            found=error.found,
            fix=f"look at what it does, or {another}",
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


def _no_program(python: str, command: str, error: OSError) -> UsageError:
    """Return the error for a command that the system does not start."""
    path = Path(shutil.which(command, os.F_OK) or command)
    fix = "give an interpreter, such as /usr/bin/python3"
    if error.errno == errno.ENOEXEC:
        found = _contents(path)
    elif error.errno == errno.EACCES:
        found = "a file that may not be executed"
    elif path.is_file():
        found = "a file whose first line, or header, names a program that is not there"
    else:
        found, fix = "nothing there", "check the spelling of its path or name"
    return UsageError(
        f"cannot run {python}: {os.strerror(error.errno or 0)}",
        expected=f"a Python for this machine, which is {os.uname().machine}",
        found=found,
        fix=fix,
    )


def _contents(path: Path) -> str:
    """Return what a file is that the system cannot execute."""
    try:
        with path.open("rb") as file:
            header = file.read(20)
    except OSError:
        return "a file that you may not read"
    if not header.startswith(b"\x7fELF"):
        return "neither a program nor a script with a first line that names one"
    number = int.from_bytes(header[18:20], "big" if header[5:6] == b"\2" else "little")
    return f"a program for {MACHINES.get(number, f'ELF machine {number}')}"
