"""Packages as a person names them to pip: single requests, and the lines of requirements files."""

from __future__ import annotations

import codecs
import io
import re
import tokenize
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stacks.core.console import display_path
from stacks.core.errors import UsageError
from stacks.core.paths import check_is_file

if TYPE_CHECKING:
    from packaging.requirements import Requirement

MAX_REQUIREMENTS = 1 << 20

# The bytes that a file of another encoding than UTF-8 begins with.
MARKS = {
    (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE): "utf-32",
    (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE): "utf-16",
}
# Files, folders and addresses in place of the name of a package: archives have these names for pip.
ELSEWHERE = re.compile(
    r"[./~]|[A-Za-z+]+:|[^\s;#@\[(<>=!~]+[/\\]"
    r"|\S+\.(whl|zip|tar|tar\.\w+|tgz|tbz|txz|tlz)(\[.*\])?$"
)
# Options of requirements files, and why a lock cannot follow them.
REFUSED = {
    "an index": (
        "the index is that of your own pip configuration, so that nothing here names a host",
        ("-i", "--index-url", "--extra-index-url", "--no-index", "-f", "--find-links"),
    ),
    "a trusted host": ("set it in your own pip configuration", ("--trusted-host",)),
    "an editable install": (
        "an environment is made of locked files: put the folder of its source on PYTHONPATH where "
        "you start programs, or name a release of it",
        ("-e", "--editable"),
    ),
    "another file": (
        "name its packages here, or in `pip:`",
        ("-r", "--requirement", "-c", "--constraint"),
    ),
    "a hash": ("the lock has the hashes: leave them out here", ("--hash", "--require-hashes")),
    "a choice of files": (
        "a lock takes the wheel that fits best; `lock --no-sdist` refuses source archives",
        ("--no-binary", "--only-binary", "--prefer-binary"),
    ),
    "a choice of versions": ("name the one that you mean, such as NAME==2.0rc1", ("--pre",)),
}


def file_requests(path: Path, where: str) -> list[str]:
    """Return the requests of a requirements file, which is named at `where`.

    Raises UsageError, with the file and the line, for what a lock cannot follow: the first line of
    each kind.
    """
    name = f"{where}: {display_path(path)}"
    check_is_file(path, name, fix="save it as a file: `lock` reads it each time")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_REQUIREMENTS + 1)
        text = _decoded(data)
    except (OSError, ValueError, SyntaxError) as error:
        raise UsageError(
            f"{name}: "
            + (error.strerror or "" if isinstance(error, OSError) else "it is not UTF-8"),
            fix="check the path, which begins at the folder of this file"
            if isinstance(error, OSError)
            else "save it as UTF-8, or name its encoding in the first line: # coding: latin-1",
        ) from error
    if len(data) > MAX_REQUIREMENTS:
        raise UsageError(f"{name}: larger than {MAX_REQUIREMENTS >> 20} MiB")
    requests, faults = [], dict[str | None, UsageError]()
    for number, line in _joined_lines(text):
        try:
            request = request_of(re.sub(r"(^|\s)#.*", "", line), f"{display_path(path)}:{number}")
            requests += [request] if request else []
        except UsageError as error:
            faults.setdefault(error.fix, error)
    if len(faults) > 1:
        raise UsageError("\n".join(map(str, faults.values())))
    for fault in faults.values():
        raise fault
    return requests


def _decoded(data: bytes) -> str:
    """Return the text of a requirements file, whose first bytes may name its encoding, as in pip.

    Raises ValueError or SyntaxError if it has another encoding.
    """
    # The mark of UTF-32 begins with that of UTF-16.
    for marks, coding in MARKS.items():
        if data.startswith(marks):
            return data.decode(coding)
    if b"\0" in data:
        raise ValueError("UTF-16 without a byte order mark, or no text")
    # Python's own files name their encoding in the same way.
    return data.decode(tokenize.detect_encoding(io.BytesIO(data).readline)[0])


def _joined_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of each line, with those that it continues on, as pip does.

    A backslash at the end continues a line, but not a comment's.
    """
    start, parts = 1, list[str]()
    for number, line in enumerate(text.splitlines(), 1):
        is_comment = line.lstrip().startswith("#")
        parts.append(f" {line}" if is_comment else line.removesuffix("\\"))
        if is_comment or not line.endswith("\\"):
            yield start, "".join(parts)
            start, parts = number + 1, []
    if parts:
        yield start, "".join(parts)


def request_of(text: str, where: str) -> str:
    """Return a request in its normal form, empty if the text has none; UsageError names a fault."""
    text = text.strip()
    if not text:
        return ""
    if text.startswith("-"):
        raise _option(where, text)
    if ELSEWHERE.match(text):
        raise _elsewhere(where, text)
    if variable := re.search(r"\$\{?\w+\}?", text):
        raise UsageError(
            f"{where}: {_shown(text)} has the variable {variable[0]}",
            fix="write its value: a lock is the same for everybody",
        )
    # Loaded here: every command reads this module, and few a stack.yaml.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        if re.search(r"\s-", text):
            raise _option(where, text) from None
        raise UsageError(
            f"{where}: {_shown(text)} is no requirement",
            expected="such as lasagne, lasagne==0.1 or \"matplotlib<4; python_version<'3.10'\"",
            found=str(error).splitlines()[0],
            fix=_meant(text),
        ) from None
    if requirement.url:
        raise _elsewhere(where, text)
    return str(requirement)


def _meant(text: str) -> str | None:
    """Return what a text that is no request was meant to be, None if unknown."""
    if text[0] in "<>=!~":
        return "put a request with a comma in quotes"
    return "write NAME==VERSION" if re.fullmatch(r"[\w.-]+(=| +)\d\S*", text) else None


def unfit_requests(
    requests: Iterable[str], versions: Mapping[str, str], python: str, excluded: Collection[str]
) -> dict[str, Requirement]:
    """Return the requests, by normalised names, that cannot be met beside what is installed.

    versions: those installed, by name. python: its Python, X.Y. excluded: what may not be added.
    """
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    target = {"python_version": python, "python_full_version": f"{python}.0"}
    unfit = {}
    for request in map(Requirement, requests):
        name = str(canonicalize_name(request.name))
        version = versions.get(name)
        fits = version in request.specifier if version else name not in excluded
        if not fits and (request.marker is None or request.marker.evaluate(target)):
            unfit[name] = request
    return unfit


def _option(where: str, text: str) -> UsageError:
    """Return the error for a line with an option of pip."""
    word = next(word for word in text.split() if word.startswith("-"))
    # A short option's value may follow it without a blank.
    option = word.partition("=")[0] if word.startswith("--") else word[:2]
    found = ((what, why) for what, (why, options) in REFUSED.items() if option in options)
    what, why = next(found, ("an option of pip", "only packages can be named here"))
    return UsageError(f"{where}: {_shown(text)} is {what}", fix=why)


def _shown(text: str) -> str:
    """Return a text in quotes, without the user and password of an address in it."""
    return repr(re.sub(r"//[^/\s]*@", "//", text))


def _elsewhere(where: str, text: str) -> UsageError:
    return UsageError(
        f"{where}: {_shown(text)} is a file or an address",
        expected="the name of a package in your index, such as lasagne==0.1",
        fix="a lock names files that any index can have; for a package of your own, put it into "
        "a folder that pip's find-links names, or its source folder on PYTHONPATH",
    )
