"""A stack.yaml: a variant beside one's own code, which adds one's own packages to a flavour.

PATH/stack.yaml     what a person writes
PATH/stack.lock/    its lock, to be committed
PATH/stack.build/   its environment and reports, and copies of it on other flavours (`recommend`);
                    it can be removed at any time
"""

from __future__ import annotations

import codecs
import json
import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from stacks.core import yamlfile
from stacks.core.console import as_typed, display_path
from stacks.core.disk import explain_disk_errors
from stacks.core.errors import UsageError
from stacks.core.models import Flag, Line, Setting, Spec, Strict
from stacks.core.paths import expanded, is_file
from stacks.core.process import quoted
from stacks.variants.files import FloatX, Variables

NAME = "stack.yaml"
MAX_REQUIREMENTS = 1 << 20
# UTF-32 first: its mark begins with that of UTF-16.
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)

TEMPLATE = """\
# Your variant: `./invoke lock --variant FILE`, then `./invoke build --variant FILE`.
summary: {summary}

# Where BLAS comes from: `./invoke list` shows all flavours.
extends: {extends}

# Which Theano on which Python.
framework: {framework}

# Your packages, as pip takes them. They cannot replace what the framework needs.
pip: []
# pip: [scikit-learn, "matplotlib<4"]

# A requirements file next to this one, with one package on each line.
# requirements: requirements.txt

# Settings of the framework, environment variables and more conda packages.
# floatX: float32
# flags: {{on_unused_input: warn}}
# environment: {{OMP_NUM_THREADS: "2"}}
# packages: []
"""

# Options of requirements files, and why a lock cannot follow them.
REFUSED = {
    "an index": (
        "the index is that of your own pip configuration, so that nothing here names a host",
        ("-i", "--index-url", "--extra-index-url", "--no-index", "-f", "--find-links"),
    ),
    "a trusted host": ("set it in your own pip configuration", ("--trusted-host",)),
    "an editable install": (
        "an environment is made of locked files; add its folder to PYTHONPATH instead",
        ("-e", "--editable"),
    ),
    "another file": (
        "name its packages here, or in `pip:`",
        ("-r", "--requirement", "-c", "--constraint"),
    ),
    "hashes": ("the lock has them: leave them out here", ("--hash",)),
}

# Variables that have their effect before a Python can set them, as patterns, and who reads them.
EARLY = {
    "PYTHON*": "Python reads it when it starts",
    "LD_*": "the loader reads it when a program starts",
    "GLIBC_TUNABLES": "the C library reads it when a program starts",
    "MALLOC_*": "the C library reads it when a program starts",
    "PATH": "each program has it already",
}


class StackFile(Strict):
    """Your packages and settings on a variant, next to your code."""

    summary: Line = Field(description="one line for lists, tables and file headers")
    extends: Line = Field(description="the flavour that it is based on")
    framework: Line = Field(description="which Theano on which Python")
    pip: tuple[Line, ...] = Field((), description="your packages, as pip takes them")
    requirements: Line | SkipJsonSchema[None] = Field(
        None, description="a requirements file, by its path from here"
    )
    floatX: FloatX | SkipJsonSchema[None] = Field(  # noqa: N815 - the framework's own name for it
        None, description="the precision of the framework's default type"
    )
    flags: dict[Flag, Setting] = Field({}, description="more flags of the framework, section.name")
    environment: Variables = Field({}, description="more environment variables")
    packages: tuple[Spec, ...] = Field((), description="more conda packages, as match specs")


@dataclass(frozen=True)
class Stack:
    """A stack.yaml. file: its path. requests: the packages of one's own, as pip takes them."""

    file: Path
    content: StackFile
    positions: yamlfile.Positions
    requests: tuple[str, ...]

    @property
    def name(self) -> str:
        """A name for prompts and reports, of the folder's: small ASCII letters, digits and -."""
        return name_of(self.file)


def file_of(text: str) -> Path | None:
    """Return the stack.yaml that the name of a variant stands for, None if it is no path.

    It is a path if it ends in .yaml or .yml, begins as no name does, or is a folder with a
    stack.yaml. The result is the same for every way to name its folder: an environment is bound
    to its path.
    """
    path = expanded(text)
    if path.suffix not in (".yaml", ".yml"):
        path /= NAME
        if not text or not (is_file(path) or text.startswith(("/", ".", "~"))):
            return None
    # Unlike Path.resolve, it takes links that lead in a circle.
    return Path(os.path.realpath(path.parent), path.name)


def build_folder(file: Path) -> Path:
    """Return the folder of a stack's environment and reports."""
    return file.with_suffix(".build")


def flavours_folder(file: Path) -> Path:
    """Return the folder of a stack's copies on other flavours, which `recommend` makes."""
    return build_folder(file) / "flavours"


def make_build_folder(file: Path) -> None:
    """Make the folder of a stack's environment and reports; git leaves it alone."""
    folder = build_folder(file)
    with explain_disk_errors(folder):
        folder.mkdir(exist_ok=True)
        if not (folder / ".gitignore").exists():
            (folder / ".gitignore").write_text("*\n")


def name_of(file: Path) -> str:
    """Return a name for the stack in a file: its folder's, and its own if it is no stack.yaml."""
    return _plain("-".join([file.parent.name] + ([] if file.name == NAME else [file.stem])))


def name_of_file(file: Path) -> str:
    """Return a name for the stack in a file, whatever its folder: `stack` for a stack.yaml."""
    return _plain(file.stem)


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKD", text).lower()
    plain = "".join(c for c in text if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "stack"


def read(file: Path) -> Stack:
    """Return a stack; UsageError with file, line and column if it is missing or wrong."""
    if not is_file(file):
        raise UsageError(
            f"{display_path(file)}: no such file",
            expected=f"a {NAME}",
            fix=f"`./invoke init {quoted([display_path(file.parent)])}` writes one"
            if file.name == NAME
            else "check the spelling",
        )
    document = yamlfile.read(file, StackFile)
    content, where = document.value, document.positions.where
    for name in content.environment:
        _check_variable(name, where(("environment", name)))
    requests = [
        request
        for number, text in enumerate(content.pip)
        if (request := _request(text, where(("pip", number))))
    ]
    if content.requirements:
        requests += _requirements(
            file.parent / content.requirements, where(("requirements",)), file.parent
        )
    return Stack(file, content, document.positions, tuple(dict.fromkeys(requests)))


def _check_variable(name: str, where: str) -> None:
    """Raise UsageError for a variable that an environment's Python would set too late."""
    for pattern, reason in EARLY.items():
        if fnmatchcase(name, pattern):
            raise UsageError(
                f"{where}: {name} has no effect in `environment:`",
                expected="variables that are read after Python has started",
                found=reason,
                fix=f"set it where you start programs: {name}=VALUE ./invoke run ... passes it on",
            )


def _requirements(path: Path, where: str, folder: Path) -> list[str]:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_REQUIREMENTS + 1)
        text = _decoded(data)
    except (OSError, ValueError, LookupError) as error:
        reason = (
            error.strerror
            if isinstance(error, OSError)
            else "it is not UTF-8, nor what it says it is"
        )
        raise UsageError(f"{where}: {display_path(path)}: {reason}") from error
    if len(data) > MAX_REQUIREMENTS:
        raise UsageError(f"{where}: {display_path(path)}: larger than {MAX_REQUIREMENTS >> 20} MiB")
    return [
        request
        for number, line in _joined_lines(text)
        if (request := _request(re.sub(r"(^|\s)#.*", "", line), f"{display_path(path)}:{number}"))
    ]


def _decoded(data: bytes) -> str:
    """Return the text of a requirements file, whose first bytes may name its encoding, as in pip.

    Raises ValueError or LookupError if it has another encoding.
    """
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding)
    for line in data.split(b"\n", 2)[:2]:
        if found := re.match(rb"\s*#.*coding[:=]\s*([-\w.]+)", line):
            return data.decode(found[1].decode("ascii"))
    return data.decode()


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


def _request(text: str, where: str) -> str:
    """Return a request in its normal form, empty if the text has none; UsageError names a fault."""
    text = text.strip()
    if not text:
        return ""
    if text.startswith("-"):
        raise _option(where, text)
    if re.match(r"[./~]|[A-Za-z+]+://|.*\.(whl|zip|tar\.\w+)$", text):
        raise _elsewhere(where, text)
    # Loaded here: every command reads this module, and few a stack.yaml.
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        if re.search(r"\s-", text):
            raise _option(where, text) from None
        raise UsageError(
            f"{where}: {text!r} is no requirement",
            expected="such as lasagne, lasagne==0.1 or \"matplotlib<4; python_version<'3.10'\"",
            found=str(error).splitlines()[0],
        ) from None
    if requirement.url:
        raise _elsewhere(where, text)
    return str(requirement)


def _option(where: str, text: str) -> UsageError:
    """Return the error for a line with an option of pip."""
    option = next(word for word in text.split() if word.startswith("-")).partition("=")[0]
    found = ((what, why) for what, (why, options) in REFUSED.items() if option in options)
    what, why = next(found, ("an option of pip", "only packages can be named here"))
    return UsageError(f"{where}: {text!r} is {what}", fix=why)


def _elsewhere(where: str, text: str) -> UsageError:
    return UsageError(
        f"{where}: {text!r} is a file or an address",
        expected="the name of a package in your index, such as lasagne==0.1",
        fix="a lock names files that any index can have; for a package of your own, put it into "
        "a folder that pip's find-links names, or its source folder on PYTHONPATH",
    )


def write_template(folder: Path, *, extends: str, framework: str) -> Path:
    """Write a stack.yaml with comments into a folder; UsageError if there is one."""
    file = folder / NAME
    # A string of JSON is one of YAML, too.
    name = folder.resolve().name.encode(errors="replace").decode()
    summary = json.dumps(name, ensure_ascii=False)
    with explain_disk_errors(file):
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with file.open("x", encoding="utf-8") as new:
                text = TEMPLATE.format(summary=summary, extends=extends, framework=framework)
                new.write(as_typed(text))
        except FileExistsError:
            raise UsageError(
                f"{display_path(file)} is there already", fix="edit it, or choose another folder"
            ) from None
    return file
