"""An HTTP server of the channel on this machine, for conda, mamba, pixi and conda-lock.

The index follows from the locks. A package is fetched or built when a client asks for it.
"""

from __future__ import annotations

import functools
import http.server
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from stacks.channel.candidates import Channel, IndexEntry, index_files, read_channel
from stacks.core.disk import explain_disk_errors, replace_atomically, temporary_folder
from stacks.core.errors import StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.make.pip_install import link_or_copy
from stacks.locks.solution import entries_of, packages_of
from stacks.sources.pins import PORT
from stacks.variants.load import all_variants
from stacks.variants.variant import Variant

# Makes the file at a path of the channel's folder, if the channel has it.
Make = Callable[[str], None]


def serve(workspace: Workspace, port: int = PORT, more: Sequence[Variant] = ()) -> None:
    """Serve the channel with the packages of all locks to this machine until ctrl-C.

    more: variants beside those of the checkout. Raises UsageError if the port is in use.
    """
    channel = read_channel(workspace)
    entries = entries_of(workspace, channel, (*all_variants(workspace), *more))
    with ExitStack() as stack:
        stack.enter_context(explain_disk_errors(workspace.build))
        workspace.build.mkdir(parents=True, exist_ok=True)
        # In build/: TMPDIR may be too small for packages.
        own = stack.enter_context(temporary_folder(workspace.build, ".channel.", ".part"))
        folder = own / "channel"
        make = maker(workspace, folder, channel, entries)
        server = stack.enter_context(server_of(folder, port, make=make))
        write_channel(folder, entries)
        print(f"{len(entries)} packages at http://localhost:{port}/theano-stacks (ctrl-C ends)")
        print("a package is fetched or built when a client first asks for it", flush=True)
        server.serve_forever()


def write_channel(folder: Path, entries: tuple[IndexEntry, ...]) -> None:
    """Write the folder of a channel: its index, no packages yet."""
    with replace_atomically(folder) as new:
        for path, data in index_files(entries).items():
            (new / path).parent.mkdir(parents=True, exist_ok=True)
            (new / path).write_bytes(data)


def maker(
    workspace: Workspace, folder: Path, channel: Channel, entries: tuple[IndexEntry, ...]
) -> Make:
    """Return the function that puts a package into the channel's folder, built if need be."""
    known: Mapping[str, IndexEntry] = {entry.path: entry for entry in entries}

    def make(path: str) -> None:
        entry, target = known.get(path), folder / path
        if entry is None:
            return
        # A lock in the cache lets one of several clients build it.
        with explain_disk_errors(workspace.cache):
            [package] = packages_of(workspace, channel, [entry], quiet=True).values()
        with replace_atomically(target) as new:
            link_or_copy(package, new)

    return make


def server_of(
    folder: Path, port: int, make: Make = lambda path: None
) -> http.server.ThreadingHTTPServer:
    """Return a server of a channel's folder on this machine; UsageError if the port is in use.

    make: called with the path of a file that the folder lacks; what it raises is the answer 500.
    """
    handler = functools.partial(_Handler, directory=str(folder))
    try:
        return _Server(("127.0.0.1", port), handler, make)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"port {port} cannot be served",
            found=str(error),
            fix="stop the program there, or choose another port: ./invoke serve --port N",
        ) from error


class _Server(http.server.ThreadingHTTPServer):
    def __init__(
        self, address: tuple[str, int], handler: Callable[..., _Handler], make: Make
    ) -> None:
        super().__init__(address, handler)
        self.make = make

    def handle_error(self, request: object, client_address: object) -> None:
        """Print one line: a lost connection is no failure of the server."""
        print(f"a client disconnected: {sys.exc_info()[1]}", file=sys.stderr)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the channel's folder below /theano-stacks, by GET and HEAD; logs only errors.

    The base class limits the request line and each of at most 100 headers to 64 KiB.
    """

    server: _Server

    # Seconds in which a client must send something, or read what it is sent.
    timeout = 15.0

    def translate_path(self, path: str) -> str:
        prefix = "/theano-stacks/"
        is_inside = path.startswith(prefix)
        return super().translate_path(path[len(prefix) - 1 :] if is_inside else "/no-such-path")

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        file = Path(self.translate_path(self.path))
        # Path.exists raises an error for a name that is too long.
        if not os.path.exists(file):  # noqa: PTH110
            try:
                self.server.make(os.path.relpath(file, self.directory))
            except (StacksError, OSError) as error:
                self.log_error("%s", " ".join(str(error).split()))
                self.send_error(500, "the package cannot be built: see the server's messages")
                return None
        # rattler sends If-Modified-Since, but does not accept the answer 304.
        del self.headers["If-Modified-Since"]
        return super().send_head()

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Print nothing for a successful request."""
