"""An HTTP server of the channel on this machine, for conda, mamba, pixi and conda-lock."""

from __future__ import annotations

import functools
import http.server
import io
from pathlib import Path
from typing import BinaryIO

from stacks.channel import build as channel_build
from stacks.channel.offers import PORT, read_channel
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


def server_of(folder: Path, port: int) -> http.server.ThreadingHTTPServer:
    """Return a server of a channel's folder on this machine; UsageError if the port is in use."""
    handler = functools.partial(_Handler, directory=str(folder))
    try:
        return http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"port {port} cannot be served",
            found=str(error),
            fix="stop the program there, or choose another port: ./invoke serve --port N",
        ) from error


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the channel's folder below /theano-stacks; logs only errors."""

    def translate_path(self, path: str) -> str:
        prefix = "/theano-stacks/"
        if not path.startswith(prefix):
            return str(Path(self.directory) / "no-such-path")
        return super().translate_path(path[len(prefix) - 1 :])

    def send_head(self) -> io.BytesIO | BinaryIO | None:
        # rattler sends If-Modified-Since, but does not accept the answer 304.
        del self.headers["If-Modified-Since"]
        return super().send_head()

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Print nothing for a successful request."""
