"""What follows from the code and the pages: JSON schemas, the page of files, and the site.

The schemas are of the files in envs/ and results/. For the site, Sphinx reads a folder with copies
of the pages. Those in docs/ come to its top, so docs/index.md is the site's first page. Others keep
their paths, and so do the files that a page links to.
"""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue

from stacks.bench.result import Result
from stacks.core import records, reproducible
from stacks.core.console import display_path, plural, step
from stacks.core.disk import fixed_umask, replace_atomically, tmp_folder, write_atomically
from stacks.core.errors import StacksError, StaleError
from stacks.core.process import call
from stacks.core.workspace import DOCS_LOCK, Workspace, prepare_tools
from stacks.environments.use.kernel import KernelFile
from stacks.sources.mirrors import pip_options
from stacks.variants.files import BlasFile, FlavourFile, FrameworkFile
from stacks.variants.stack import StackFile

MODELS: dict[str, type[BaseModel]] = {
    "envs/blas.schema.json": BlasFile,
    "envs/framework.schema.json": FrameworkFile,
    "envs/kernel.schema.json": KernelFile,
    "envs/variant.schema.json": FlavourFile,
    "results/result.schema.json": Result,
}


class _WithoutNull(GenerateJsonSchema):
    """Leaves out the default null, which cannot be written in a file."""

    def default_schema(self, schema: Any) -> JsonSchemaValue:
        rendered = super().default_schema(schema)
        return {k: v for k, v in rendered.items() if (k, v) != ("default", None)}


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema."""
    return model.model_json_schema(schema_generator=_WithoutNull)


def schemas(workspace: Workspace) -> dict[Path, str]:
    """Return {path: text} of every schema."""
    dialect = {"$schema": _WithoutNull.schema_dialect}
    contents = {name: {**dialect, **json_schema(model)} for name, model in MODELS.items()}
    return {
        workspace.root / name: json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        for name, content in contents.items()
    }


def write_files(files: Mapping[Path, str]) -> None:
    """Write files that follow from the code, by path."""
    for path, text in files.items():
        write_atomically(path, text)


def check_files(files: Mapping[Path, str], task: str) -> None:
    """Raise StaleError with the committed files that differ; task: that which writes them."""
    stale = [
        display_path(path)
        for path, text in files.items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not what the code gives",
            fix=f"./invoke {task}, then commit the files",
        )


# {what a person calls the file: its model}.
FILES: Mapping[str, type[BaseModel]] = {
    "stack.yaml": StackFile,
    "envs/variants/NAME.yaml": FlavourFile,
    "envs/frameworks/NAME.yaml": FrameworkFile,
    "envs/blas/NAME.yaml": BlasFile,
}
HEAD = """# Files

Made by `./invoke docs` from the models that read these files. An unknown key, a \
wrong type or a missing key is an error that names file, line and column. Editors that read JSON \
schemas show the same while you type: [variant](../../envs/variant.schema.json), \
[framework](../../envs/framework.schema.json), [blas](../../envs/blas.schema.json).

Paths are relative to the checkout, except for `stack.yaml`, which is \
[next to your code](../guides/your-own-code.md).
"""


def document() -> str:
    """Return the page of all files."""
    parts = [HEAD]
    for name, model in FILES.items():
        schema = json_schema(model)
        parts += _object(f"## {name}", schema)
        for part, definition in schema.get("$defs", {}).items():
            parts += _object(f"### {part}", definition)
    return "\n".join(parts)


def _object(heading: str, schema: Mapping[str, Any]) -> Iterator[str]:
    paragraphs = (" ".join(part.split()) for part in schema["description"].split("\n\n"))
    yield f"{heading}\n\n" + "\n\n".join(paragraphs) + "\n"
    yield "| key | value | default | |\n|---|---|---|---|"
    required = schema.get("required", ())
    for key, value in schema["properties"].items():
        default = "required" if key in required else _default(value)
        yield f"| `{key}` | {_type(value)} | {default} | {value.get('description', '')} |"
    yield ""


def _default(value: Mapping[str, Any]) -> str:
    default = value.get("default")
    return "" if default in (None, [], {}) else f"`{json.dumps(default).strip(chr(34))}`"


def _type(value: Mapping[str, Any]) -> str:
    """Return the kind of a key's value in words."""
    match value:
        case {"enum": values}:
            return " or ".join(f"`{one}`" for one in values)
        case {"$ref": reference}:
            name = reference.rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        case {"type": "array", "items": items}:
            return f"list of {_type(items)}"
        case {"type": "object"}:
            return "mapping of names to text"
        case {"type": "boolean"}:
            return "`true` or `false`"
        case {"type": "integer"}:
            return "number"
        case _:
            return "text"


# Written by Sphinx into every site.
MARK = "searchindex.js"
FOLDER = "docs"
INDEX = f"{FOLDER}/index.md"
# Pages outside of docs/.
OTHERS = (
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "README.md",
    "examples/**/README.md",
    "measurements/README.md",
)
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s]+)\)")
HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)


class PagesError(StacksError):
    """A page has a broken link or anchor, is in no section of the index, or is not valid."""


def build_site(workspace: Workspace, folder: Path) -> None:
    """Write the site into a folder, in place of a site that is there.

    The same pages give the same bytes. Raises PagesError naming each fault with page and line;
    UsageError if something else is in the folder.
    """
    records.check_rewritable(folder, MARK, "site that this command wrote")
    python = prepare_tools(DOCS_LOCK, Path(sys.prefix) / "docs", pip_options())
    with tmp_folder() as temporary, step("docs", display_path(folder)) as summaries:
        source, warnings = temporary / "source", temporary / "warnings"
        written = write_source(workspace.root, source)
        (source / "conf.py").write_bytes((workspace.root / "docs/conf.py").read_bytes())
        with fixed_umask(), replace_atomically(folder) as new:
            options = ["--quiet", "--no-color", "--builder", "html"]
            folders: list[str | Path] = [
                "--warning-file",
                warnings,
                "--doctree-dir",
                temporary / "doctrees",
            ]
            call(
                [python, "-I", "-m", "sphinx", *options, *folders, source, new],
                env=reproducible.environment(temporary),
            )
            if faults := faults_of(warnings.read_text(), source, written):
                raise PagesError(
                    f"the documentation has {plural(len(faults), 'fault')}",
                    found="\n            ".join(faults),
                    fix="correct these lines, then run ./invoke docs again",
                )
        summaries.append(f"{display_path(folder)}: {plural(len(written), 'page')}")


def faults_of(warnings: str, source: Path, written: Mapping[str, str]) -> list[str]:
    """Return Sphinx's warnings with the pages' own paths.

    written: {path below `source`: page of the checkout}.
    """
    faults = []
    for line in warnings.splitlines():
        place, _, rest = line.replace(f"{source}/", "").partition(":")
        faults.append(f"{written.get(place, place)}:{rest}" if rest else line)
    return faults


def pages(root: Path) -> list[str]:
    """Return the paths of all pages, relative to the checkout."""
    found = (path for pattern in (f"{FOLDER}/**/*.md", *OTHERS) for path in root.glob(pattern))
    return sorted(path.relative_to(root).as_posix() for path in found)


def write_source(root: Path, folder: Path) -> dict[str, str]:
    """Write the pages, with what they show and link to; return {path in the folder: page}.

    A link to a folder becomes one to its README.md, or none if that is no page. Lines keep their
    numbers.
    """
    names, linked, name = pages(root), set[str](), ""

    def moved(match: re.Match[str]) -> str:
        words, link = match.groups()
        path, mark, anchor = link.partition("#")
        target = os.path.normpath(PurePosixPath(name).parent / path)
        if not path or ":" in path or target.startswith(".."):
            return match[0]
        if (root / target).is_dir():
            target += "/README.md"
            if target not in names:
                return words
        linked.add(target)
        place = os.path.relpath(staged(target), PurePosixPath(staged(name)).parent)
        return f"[{words}]({place}{mark}{anchor})"

    for name in names:
        text = LINK.sub(moved, (root / name).read_text(encoding="utf-8"))
        _put(folder / staged(name), (text + _sidebar(name, text)).encode())
    for file in linked.difference(names):
        if (root / file).is_file():
            _put(folder / staged(file), (root / file).read_bytes())
    return {staged(name): name for name in names}


def staged(path: str) -> str:
    """Return the place of a page or file in the folder that Sphinx reads."""
    return path.removeprefix(f"{FOLDER}/")


def _sidebar(name: str, text: str) -> str:
    """Return what a page adds to the sidebar: sections of the index, and folders below a README."""
    if name == INDEX:
        _, *parts = HEADING.split(text)
        sections = zip(parts[::2], parts[1::2], strict=True)
        return "".join(
            _toctree(LINK.findall(section), f":caption: {heading}") for heading, section in sections
        )
    below = [(words, link) for words, link in LINK.findall(text) if link.endswith("/README.md")]
    return _toctree(below) if below and PurePosixPath(name).match("*/README.md") else ""


def _toctree(links: Sequence[tuple[str, str]], *options: str) -> str:
    entries = (f"{words} <{link}>" for words, link in links)
    return "\n".join(["", "```{toctree}", ":hidden:", *options, "", *entries, "```", ""])


def _put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
