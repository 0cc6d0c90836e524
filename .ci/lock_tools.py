"""Write the locks of the tools, requirements*.lock, from what they are made of, with uv.

After a change to pyproject.toml or requirements-NAME.in, by Python 3.11 and uv (`pip install uv`):

    .venv/bin/python .ci/lock_tools.py

uv lists the files of every platform. A lock keeps the wheels that CPython on Linux installs, as
only these are installed, and leaves out what is installed before it: `./invoke` installs
requirements.lock, then what a task needs, and `./invoke test` the others in the order of LOCKS.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import unquote

import tomllib
from packaging.markers import Marker
from packaging.utils import parse_wheel_filename

REPOSITORY = Path(__file__).resolve().parents[1]
# What each is made of, and the locks that are installed before it.
LOCKS = {
    "requirements.lock": ("pyproject.toml", ()),
    "requirements-locking.lock": ("requirements-locking.in", ("requirements.lock",)),
    "requirements-cluster.lock": ("requirements-cluster.in", ("requirements.lock",)),
    "requirements-release.lock": ("requirements-release.in", ("requirements.lock",)),
    "requirements-test.lock": (
        "requirements-test.in",
        (
            "requirements.lock",
            "requirements-locking.lock",
            "requirements-cluster.lock",
            "requirements-release.lock",
        ),
    ),
    "requirements-docs.lock": ("requirements-docs.in", ()),
    "tests/integration/jupyter.lock": ("tests/integration/jupyter.in", ()),
}
UV = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.10"]
UV += ["--no-annotate", "--no-header", "--no-emit-package", "pip"]
UV += ["--no-emit-index-url", "--no-emit-find-links"]
PYTHON = re.compile(r"py3|cp31[0-9]|cp3[2-9](?=-abi3)")
PLATFORM = re.compile(r"any|(linux|manylinux).*_(x86_64|aarch64)")

LINUX = {"sys_platform": "linux", "platform_system": "Linux", "os_name": "posix"}
LINUX |= {"implementation_name": "cpython", "platform_python_implementation": "CPython"}
LINUX |= {"platform_machine": "x86_64"}


def is_installable(wheel: str) -> bool:
    """Say whether CPython 3.10 or newer on Linux with glibc can install a wheel, by its name."""
    return any(
        PYTHON.match(f"{tag.interpreter}-{tag.abi}")
        and not re.fullmatch(r"cp\d+t", tag.abi)
        and PLATFORM.fullmatch(tag.platform)
        for tag in parse_wheel_filename(wheel)[3]
    )


def is_for_linux(requirement: str) -> bool:
    """Say whether a requirement's marker lets some CPython on Linux install it."""
    marker = requirement.partition(";")[2]
    return not marker or any(
        Marker(marker).evaluate(
            LINUX | {"python_version": f"3.{minor}", "python_full_version": f"3.{minor}.0"}
        )
        for minor in range(10, 20)
    )


def installable_hashes(pylock: str) -> set[str]:
    """Return the SHA-256 of the wheels in a pylock.toml that can be installed."""
    return {
        wheel["hashes"]["sha256"]
        for package in tomllib.loads(pylock)["packages"]
        for wheel in package.get("wheels", ())
        if is_installable(unquote(wheel["url"].rsplit("/", 1)[-1]))
    }


def reduced(lock: str, hashes: set[str], before: set[str]) -> str:
    """Return a lock without other hashes, and without the requirements that stand in `before`.

    before: first lines, NAME==VERSION with a marker. Raises SystemExit for one without hash.
    """
    kept = []
    # A requirement, and its hashes on the lines below.
    for name, lines in re.findall(r"^([^\s#].*?)(?: \\)?\n((?:\s.*\n)*)", lock, re.MULTILINE):
        if name in before or not is_for_linux(name):
            continue
        found = [each for each in re.findall(r"--hash=sha256:(\w+)", lines) if each in hashes]
        if not found:
            raise SystemExit(f"error: {name}: no wheel for CPython on Linux")
        kept.append(" \\\n".join([name, *(f"    --hash=sha256:{each}" for each in found)]) + "\n")
    return "".join(kept)


def names_in(lock: str) -> set[str]:
    """Return the first lines of a lock's requirements."""
    return {line.rstrip(" \\") for line in re.findall(r"^[a-zA-Z0-9].*", lock, re.MULTILINE)}


def main() -> None:
    """Write the locks; the versions of those that are there stay, where they still fit."""
    for lock, (source, earlier) in LOCKS.items():
        path = REPOSITORY / lock
        with tempfile.TemporaryDirectory() as folder:
            whole, files = Path(folder) / "whole.lock", Path(folder) / "pylock.toml"
            # uv prefers the versions in its old output, and would keep the few hashes there.
            whole.write_text("".join(f"{name}\n" for name in sorted(names_in(path.read_text()))))
            compiled = [*UV, source, "-o"]
            subprocess.run([*compiled, whole, "--generate-hashes"], check=True, cwd=REPOSITORY)
            exact = ["-c", whole, "--format", "pylock.toml"]
            subprocess.run([*compiled, files, *exact], check=True, cwd=REPOSITORY)
            hashes = installable_hashes(files.read_text())
            before = {name for one in earlier for name in names_in((REPOSITORY / one).read_text())}
            text = reduced(whole.read_text(), hashes, before)
        path.write_text(f"# Written by .ci/lock_tools.py from {source}\n{text}")
        print(f"{lock}: {len(names_in(text))} packages, {len(text) / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
