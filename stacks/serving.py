"""The channel over HTTP on this machine, for conda, mamba, pixi and conda-lock."""

from __future__ import annotations

import functools
import http.server
from pathlib import Path

from stacks import channel as channels
from stacks import lock, pipeline
from stacks.errors import UsageError
from stacks.variant import all_variants


def serve(port: int = channels.PORT) -> None:
    """Build every package that a lock names and serve the channel until ctrl-C.

    Only this machine can reach it. Raises UsageError where the port is taken.
    """
    channel = channels.read_channel()
    names = {p.file_name for v in all_variants() for p in lock.check(v, channel).packages}
    offers = [channel.offers[name] for name in sorted(names)]
    channels.publish(channel, pipeline.build_packages(channel, offers))
    root = channels.FOLDER
    handler = functools.partial(_Handler, directory=str(root))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be served: {error.strerror}",
            mend="stop what is there, or choose another: ./invoke serve --port N",
        ) from error
    with server:
        print(f"{len(names)} packages at http://localhost:{port}/theano-stacks (ctrl-C ends)")
        server.serve_forever()


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the channel's folder below /theano-stacks, and logs nothing but errors."""

    def translate_path(self, path: str) -> str:
        prefix = "/theano-stacks/"
        if not path.startswith(prefix):
            return str(Path(self.directory) / "no-such-path")
        return super().translate_path(path[len(prefix) - 1 :])

    def log_request(self, code: object = "-", size: object = "-") -> None:
        """Say nothing of requests that were answered."""
