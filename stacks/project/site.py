"""`./invoke docs`: the documentation as static files, and a server of them on this machine."""

from __future__ import annotations

import functools
import http.server
import sys
from collections.abc import Mapping
from pathlib import Path

from stacks.core import reproducible
from stacks.core.console import display_path, plural, step
from stacks.core.disk import fixed_umask, replace_atomically, scratch
from stacks.core.errors import StacksError, UsageError
from stacks.core.paths import check_working_folder
from stacks.core.process import call
from stacks.core.venv import DOCS_LOCK, prepare_environment
from stacks.core.workspace import Workspace
from stacks.project import site_source
from stacks.sources.vendored import pip_options

# Written by Sphinx into every site.
MARK = "searchindex.js"


class PagesError(StacksError):
    """A page has a broken link or anchor, is in no section of the index, or is not valid."""


def build(workspace: Workspace, folder: Path) -> None:
    """Write the site into a folder, in place of a site that is there.

    The same pages give the same bytes. Raises PagesError naming each fault with page and line;
    UsageError if something else is in the folder.
    """
    check_working_folder(folder)
    _require_replaceable(folder)
    python = prepare_environment(Path(sys.prefix) / "docs", DOCS_LOCK, pip_options())
    with scratch() as temporary, step("docs", display_path(folder)) as summaries:
        source, warnings = temporary / "source", temporary / "warnings"
        written = site_source.write(workspace.root, source)
        (source / "conf.py").write_bytes((workspace.root / "docs/conf.py").read_bytes())
        with fixed_umask(), replace_atomically(folder) as new:
            words: list[str | Path] = [
                python,
                "-I",
                "-m",
                "sphinx",
                "--quiet",
                "--no-color",
                "--builder",
                "html",
            ]
            words += ["--warning-file", warnings, "--doctree-dir", temporary / "doctrees"]
            call([*words, source, new], env=reproducible.environment(temporary))
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


def _require_replaceable(folder: Path) -> None:
    if (
        folder.exists()
        and not (folder / MARK).is_file()
        and (not folder.is_dir() or any(folder.iterdir()))
    ):
        raise UsageError(
            f"{display_path(folder)} is not a site that this command wrote",
            fix="name a new or an empty folder: ./invoke docs --to DIR",
        )
