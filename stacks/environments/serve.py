"""An HTTP server of the channel on this machine, for conda, mamba, pixi and conda-lock."""

from __future__ import annotations

import functools
import http.server
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

from stacks.channel import build as channel_build
from stacks.channel.offers import PORT, read_channel
from stacks.core.allowance import Allowance, limited_stream
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.variants.variant import all_variants


def serve(workspace: Workspace, port: int = PORT) -> None:
    """Build every package of the locks and serve the channel to this machine until ctrl-C.

    Raises UsageError if the port is in use.
    """
    channel = read_channel(workspace)
    names = {
        p.file_name
        for v in all_variants(workspace)
        for p in lock.check(workspace, v, channel).packages
    }
    offers = [channel.offers[name] for name in sorted(names)]
    built = channel_build.build_packages(workspace, channel, offers)
    channel_build.write_index(workspace, channel, built)
    with server_of(workspace.channel, port) as server:
        print(f"{len(names)} packages at http://localhost:{port}/theano-stacks (ctrl-C ends)")
        server.serve_forever()


def server_of(folder: Path, port: int, seconds: float = 15.0) -> http.server.ThreadingHTTPServer:
    """Return a server of a channel's folder on this machine; UsageError if the port is in use.

    seconds: within which a client must send its request, and read each block of the answer.
    """
    handler = functools.partial(_Handler, directory=str(folder))
    try:
        return _Server(("127.0.0.1", port), handler, seconds)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"port {port} cannot be served",
            found=str(error),
            fix="stop the program there, or choose another port: ./invoke serve --port N",
        ) from error


class _Server(http.server.ThreadingHTTPServer):
    def __init__(
        self, address: tuple[str, int], handler: Callable[..., _Handler], seconds: float
    ) -> None:
        super().__init__(address, handler)
        self.seconds = seconds

    def handle_error(self, request: object, client_address: object) -> None:
        """Print one line: a lost connection is no failure of the server."""
        print(f"a client disconnected: {sys.exc_info()[1]}", file=sys.stderr)


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the channel's folder below /theano-stacks, by GET and HEAD; logs only errors.

    The base class limits the request line and each of at most 100 headers to 64 KiB.
    """

    server: _Server

    def setup(self) -> None:
        super().setup()
        self.rfile.close()
        self.connection.settimeout(self.server.seconds)
        allowance = Allowance(self.server.seconds, 1)
        self.rfile = limited_stream(self.connection, lambda: allowance.left)

    def translate_path(self, path: str) -> str:
        prefix, missing = "/theano-stacks/", str(Path(self.directory) / "no-such-path")
        if not path.startswith(prefix):
            return missing
        file = super().translate_path(path[len(prefix) - 1 :])
        # A link must not lead out of the folder; realpath accepts no null byte.
        if "\0" in file or not Path(file).resolve().is_relative_to(Path(self.directory).resolve()):
            return missing
        return file

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        # The request took some of it.
        self.connection.settimeout(self.server.seconds)
        # rattler sends If-Modified-Since, but does not accept the answer 304.
        del self.headers["If-Modified-Since"]
        return super().send_head()

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Print nothing for a successful request."""
