"""`./invoke docs`: the documentation as static files, and a server of them on this machine.

Sphinx reads a folder with copies of the pages. Those in docs/ come to its top, so docs/index.md is
the site's first page. Others keep their paths, and so do the files that a page links to.
"""

from __future__ import annotations

import functools
import http.server
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from stacks.core import digest_list, reproducible
from stacks.core.console import display_path, plural, step
from stacks.core.disk import fixed_umask, replace_atomically, scratch
from stacks.core.errors import StacksError, UsageError
from stacks.core.process import call
from stacks.core.venv import DOCS_LOCK, prepare_tools
from stacks.core.workspace import Workspace
from stacks.sources.mirrors import pip_options

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


def build(workspace: Workspace, folder: Path) -> None:
    """Write the site into a folder, in place of a site that is there.

    The same pages give the same bytes. Raises PagesError naming each fault with page and line;
    UsageError if something else is in the folder.
    """
    digest_list.check_rewritable(folder, MARK, "site that this command wrote")
    python = prepare_tools(DOCS_LOCK, Path(sys.prefix) / "docs", pip_options())
    with scratch() as temporary, step("docs", display_path(folder)) as summaries:
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


def serve(folder: Path, port: int) -> None:
    """Serve a folder to this machine until ctrl-C; UsageError if the port is in use."""
    handler = functools.partial(_Handler, directory=str(folder))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"port {port} cannot be served",
            found=str(error),
            fix="stop the program there, or choose another port: ./invoke docs --serve --port N",
        ) from error
    with server:
        print(f"http://localhost:{server.server_port} (ctrl-C ends)", flush=True)
        server.serve_forever()


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Print nothing: the browser shows what is missing."""


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
