"""A stack.yaml: a variant beside one's own code, which adds one's own packages to a flavour.

PATH/stack.yaml     what a person writes
PATH/stack.lock/    its lock, to be committed
PATH/stack.build/   its environment and reports, and copies of it on other flavours (`recommend`);
                    it can be removed at any time
"""

import json
import os
import re
import unicodedata
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
from stacks.core.paths import exists, expanded, is_dir
from stacks.core.process import quoted
from stacks.variants.files import FloatX, Variables
from stacks.variants.requests import file_requests, request_of
from verify.core import surroundings

NAME = "stack.yaml"
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

# Variables that have their effect before a Python can set them, as patterns, and who reads them.
EARLY = {
    "PYTHON* LANG LC_* LOCPATH TZ TZDIR": "Python reads it when it starts",
    "LD_*": "the loader reads it when a program starts",
    "GLIBC_TUNABLES MALLOC_* GCONV_PATH": "the C library reads it when a program starts",
    "HOME USER LOGNAME SHELL PWD TERM": "each session sets it, and what is set stays",
}
# Variables that the environment sets itself at each start, as patterns, and what to write instead.
ITS_OWN = {
    "PATH": "name programs by their whole paths, or add their packages to `packages:`",
    "THEANO_FLAGS AESARA_FLAGS PYTENSOR_FLAGS": "write the flags into `flags:`",
    "THEANORC AESARARC PYTENSORRC": "write the file's flags into `flags:`",
    "CONDA_* PIP_CONSTRAINT UV_CONSTRAINT THEANO_STACKS_*": "leave it out",
}
# Keys that people write, with _ for -, and what the file has for it.
OTHER_KEYS = {
    "dependencies dev_dependencies deps requires libraries modules": "Python packages go into "
    "`pip:`, as pip takes them, and conda packages into `packages:`",
    "install pip_packages pip_requirements install_requires pypi python_packages extras numpy "
    "scipy pymc*": "`pip:` lists Python packages, and their extras: NAME[EXTRA]",
    "conda conda_packages conda_dependencies system apt": "`packages:` lists conda packages",
    "channels channel": "conda packages come from the project's channel; other Python packages "
    "come by `pip:`",
    "index_url index find_links": "the index is that of your pip configuration",
    "python python_version requires_python theano aesara pytensor version": "`framework:` selects "
    "the framework, and Python with it",
    "env envs variables vars env_vars env_file": "`environment:` sets variables",
    "name title description": "`summary:` describes it; its name is that of its folder",
    "blas base flavour flavor variant from inherits": "`extends:` names the flavour, which has "
    "the BLAS",
    "device gpu cuda": "`extends:` names a flavour, and some are for a device",
    "prefix path location": "its environment is made in stack.build, next to this file",
    "theano_flags config settings cxx cxxflags ldflags": "`flags:` sets flags of the framework",
    "threads": '`environment:` sets the number: {OMP_NUM_THREADS: "2"}',
}


def _row(table: dict[str, str], name: str) -> str | None:
    """Return the text of a table's row for a name, None if no pattern fits."""
    for names, text in table.items():
        if any(fnmatchcase(name, each) for each in names.split()):
            return text
    return None


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

    @classmethod
    def key_hint(cls, key: str) -> str | None:
        """Return what the file has for a key that people write instead, None if unknown."""
        return _row(OTHER_KEYS, key.lower().replace("-", "_"))


@dataclass(frozen=True)
class Stack:
    """A stack.yaml. file: its path. requests: the packages of one's own, as pip takes them."""

    file: Path
    content: StackFile
    positions: yamlfile.Positions
    requests: tuple[str, ...]


def file_of(text: str) -> Path | None:
    """Return the stack.yaml that the name of a variant stands for, None if it is no path.

    It is a path if it ends in .yaml or .yml, begins as no name does, or is a folder with a
    stack.yaml. The result is the same for every way to name its folder: an environment is bound
    to its path.
    """
    path = expanded(text)
    if path.suffix not in (".yaml", ".yml"):
        path /= NAME
        if not text or not (exists(path) or text.startswith(("/", ".", "~"))):
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
    return plain_name("-".join([file.parent.name] + ([] if file.name == NAME else [file.stem])))


def plain_name(text: str) -> str:
    """Return a text in small ASCII letters, digits and -, `stack` if none is left."""
    text = unicodedata.normalize("NFKD", text).lower()
    plain = "".join(c for c in text if not unicodedata.combining(c))
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-") or "stack"


def read(file: Path) -> Stack:
    """Return a stack; UsageError with file, line and column if it is missing or wrong."""
    if not exists(file):
        if not is_dir(file.parent) and exists(file.parent):
            raise UsageError(
                f"{display_path(file.parent)}: neither a {NAME} nor a folder with one",
                fix="name the file that has `extends:` and `framework:`, or its folder",
            )
        raise UsageError(
            f"{display_path(file)}: no such file",
            expected=f"a {NAME}",
            fix=f"`./invoke init {quoted([display_path(file.parent)])}` writes one"
            if file.name == NAME
            else "check the spelling",
        )
    content, positions = yamlfile.read(file, StackFile)
    where = positions.where
    for name, value in content.environment.items():
        _check_variable(name, value, where(("environment", name)))
    requests = [
        request
        for number, text in enumerate(content.pip)
        if (request := request_of(text, where(("pip", number))))
    ]
    if content.requirements is not None:
        requests += _listed_requests(file.parent, content.requirements, where(("requirements",)))
    return Stack(file, content, positions, tuple(dict.fromkeys(requests)))


def _listed_requests(folder: Path, name: str, where: str) -> list[str]:
    """Return the requests of the requirements file that a stack in a folder names."""
    if "://" in name:
        raise UsageError(
            f"{where}: the requirements file is an address",
            expected="a file on this machine",
            fix="save it next to this file, and write its name",
        )
    return file_requests(folder / expanded(name), where)


def _check_variable(name: str, value: str, where: str) -> None:
    """Raise UsageError for a variable that an environment's Python would not, or too late, set.

    Also for a value that a shell would replace: a lock is for other people and machines, too.
    """
    found, fix = "the environment sets it itself", _row(ITS_OWN, name)
    if name in surroundings.dropped():
        found = f"it {surroundings.reason_of(name, 'any')}"
        fix = "leave it out: no program of an environment gets it"
    if fix:
        raise UsageError(f"{where}: {name} may not stand in `environment:`", found=found, fix=fix)
    set_at_start = f"set it where you start programs: {name}=VALUE ./invoke run ... passes it on"
    if reader := _row(EARLY, name):
        raise UsageError(
            f"{where}: {name} has no effect in `environment:`",
            expected="variables that are read after Python has started",
            found=reader,
            fix=set_at_start,
        )
    if re.search(r"\$[\w{]|^~", value):
        raise UsageError(
            f"{where}: {name} is taken as it is written, with {value}",
            fix=f"write it out, or {set_at_start}",
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
