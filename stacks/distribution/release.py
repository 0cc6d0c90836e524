"""`./invoke release`, `verify-app`: files of a release, the same bytes for the same commit.

theano_stacks-VERSION-py3-none-any.whl    the command `theano-stacks`
blas_verify-VERSION-py2.py3-none-any.whl  the verification, and a plugin for pytest
blas-verify.pyz                           the verification as one file, for any Python
NOTES.md                                  what CHANGELOG.md says of the version, for a tag
SHA256SUMS                                the digest of each file, as sha256sum prints it
"""

import base64
import csv
import hashlib
import io
import re
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from stacks.core import records
from stacks.core.console import display_path, plural, step
from stacks.core.disk import fixed_umask, replace_atomically, tmp_folder, write_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.process import call
from stacks.core.reproducible import CREATED, environment
from stacks.core.workspace import (
    RELEASE_LOCK,
    VERSION,
    Workspace,
    described,
    prepare_tools,
    revision,
)

DIGESTS = "SHA256SUMS"
NOTES = "NOTES.md"
SUITE = "blas-verify.pyz"
PACKAGE = "blas_verify"
# pip and uv read the version and the Pythons from a wheel's name.
SUITE_WHEEL = f"{PACKAGE}-{VERSION}-py2.py3-none-any.whl"
# What an archive of Python may begin with; the zip archive is found from its end.
FIRST_LINE = b"#!/usr/bin/env python3\n"
# Not for a person's Python: `profile` and `bench` put it on the path of programs, as a folder.
LEFT_OUT = ("program_hook",)
# What zip calls the system that the files' modes are of.
UNIX = 3
# "Core metadata" and "Binary distribution format" in the packaging specifications; the oldest
# version that the pips of Python 2.7 read.
METADATA = f"""\
Metadata-Version: 2.1
Name: blas-verify
Version: {VERSION}
Summary: Does Theano, a descendant of it, or NumPy use a fast BLAS? If not, what fixes it?
License: BSD-3-Clause
Platform: Linux
Classifier: Framework :: Pytest
Classifier: Operating System :: POSIX :: Linux
Requires-Python: >=2.7,!=3.0.*,!=3.1.*,!=3.2.*,!=3.3.*
"""
TAGS = """\
Wheel-Version: 1.0
Generator: theano-stacks
Root-Is-Purelib: true
Tag: py2-none-any
Tag: py3-none-any
"""
ENTRY_POINTS = f"""\
[console_scripts]
blas-verify = {PACKAGE}.__main__:run

[pytest11]
{PACKAGE} = {PACKAGE}.pytest_plugin
"""


def release(workspace: Workspace, folder: Path, *, tag: str = "") -> None:
    """Write a release into a folder, in place of one that is there.

    tag: the git tag that is released; without it, this is a trial. Raises UsageError if the folder
    has something else, or the tag is not that of the version; StaleError if files of the checkout
    differ from the commit, or CHANGELOG.md lacks the version.
    """
    records.check_rewritable(folder, DIGESTS, "release")
    notes_of_tag = _notes_for(workspace, tag) if tag else None
    what = f"theano-stacks {described(workspace.root)}"
    prepare_tools(RELEASE_LOCK)
    with step("release", display_path(folder)), fixed_umask(), replace_atomically(folder) as new:
        new.mkdir()
        write_wheel(workspace, new)
        write_suite(workspace, new)
        write_suite(workspace, new, wheel=True)
        if notes_of_tag is not None:
            (new / NOTES).write_text(notes_of_tag)
        digests = records.list_folder(new)
        (new / DIGESTS).write_text(digests)
    print(f"{what}: {plural(len(digests.splitlines()), 'file')}")


def write_wheel(workspace: Workspace, folder: Path) -> None:
    """Write the project's wheel into a folder; `prepare_tools` must have installed hatchling."""
    with tmp_folder() as home:
        call(
            [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "-d", folder],
            cwd=workspace.root,
            env=environment(home),
        )


def _notes_for(workspace: Workspace, tag: str) -> str:
    """Return the notes of the version that a tag names, if this checkout may be released as it."""
    if tag != f"v{VERSION}":
        raise UsageError(
            f"the tag {tag} is not that of this version",
            expected=f"v{VERSION}",
            fix="edit stacks/core/workspace.py, or name the right tag",
        )
    commit, is_changed = revision(workspace.root)
    if is_changed:
        raise StaleError(
            "files of this checkout differ from its commit",
            found=f"commit {commit}, with changes" if commit else "no commit",
            fix="commit them, then tag that commit",
        )
    return notes((workspace.root / "CHANGELOG.md").read_text(encoding="utf-8"), VERSION)


def notes(changelog: str, version: str) -> str:
    """Return what a changelog says of a version; StaleError if it has no section with its date."""
    head = rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d\n"
    found = re.search(rf"{head}(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if not found:
        raise StaleError(
            f"CHANGELOG.md has no section of {version}",
            expected=f"## [{version}] - YYYY-MM-DD",
            fix="give the section Unreleased that name, and begin a new one above it",
        )
    return found[1].strip() + "\n"


def write_suite(workspace: Workspace, target: Path, *, wheel: bool = False) -> Path:
    """Write the verification suite to a file, or into a folder, and return its path.

    The same files of verify/ give the same bytes. A file whose name ends in .whl is a wheel too.
    Raises UsageError if there is no such folder, or if pip would refuse the wheel's name.
    """
    wheel = wheel or target.suffix == ".whl"
    name = SUITE_WHEEL if wheel else SUITE
    if target.is_dir():
        target /= name
    # pip does not install a wheel of another name.
    if not target.parent.is_dir() or target.is_dir() or (wheel and target.name != name):
        raise UsageError(
            f"{target}: cannot be written there",
            expected=f"a folder that exists, or {'this' if wheel else 'a'} file in one: {name}",
            fix=f"name the folder: {target.parent}",
        )
    files = {name: path.read_bytes() for name, path in _files(workspace).items()}
    write_atomically(target, _zipped(_wheel(files)) if wheel else _zipped(files, FIRST_LINE))
    target.chmod(0o644 if wheel else 0o755)
    return target


def _files(workspace: Workspace) -> dict[str, Path]:
    """Return the modules and C sources of the suite, and the licence, by names in the archive."""
    suite = workspace.suite
    found = {
        path.relative_to(suite).as_posix(): path
        for pattern in ("*.py", "*.c")
        for path in suite.rglob(pattern)
        if path.relative_to(suite).parts[0] not in LEFT_OUT
    }
    return {**found, "LICENSE": workspace.root / "LICENSE"}


def _wheel(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files of the wheel: the suite as a package, which Python also runs as a folder."""
    info = f"{PACKAGE}-{VERSION}.dist-info"
    contents = {
        **{f"{PACKAGE}/{name}": data for name, data in files.items() if name != "LICENSE"},
        f"{info}/LICENSE": files["LICENSE"],
        f"{info}/METADATA": METADATA.encode(),
        f"{info}/WHEEL": TAGS.encode(),
        f"{info}/entry_points.txt": ENTRY_POINTS.encode(),
    }
    record = f"{info}/RECORD"
    rows: list[tuple[str, str, int | str]] = []
    for name, data in sorted(contents.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        rows.append((name, f"sha256={digest}", len(data)))
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*rows, (record, "", "")])
    return {**contents, record: text.getvalue().encode()}


def _zipped(files: Mapping[str, bytes], first_line: bytes = b"") -> bytes:
    buffer = io.BytesIO()
    buffer.write(first_line)
    with zipfile.ZipFile(buffer, "a") as archive:
        for name, data in sorted(files.items()):
            # Not compressed: zlib's versions differ in their bytes.
            info = zipfile.ZipInfo(name, CREATED.timetuple()[:6])
            info.create_system, info.external_attr = UNIX, 0o644 << 16
            archive.writestr(info, data)
    return buffer.getvalue()
