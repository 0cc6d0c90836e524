from __future__ import annotations

import http.client
import socket
import threading
from pathlib import Path

import pytest

from stacks.core.errors import UsageError
from stacks.environments.serve import server_of


def test_only_files_of_the_channel_are_served(tmp_path: Path) -> None:
    (tmp_path / "channel").mkdir()
    (tmp_path / "channel/a").write_text("text")
    (tmp_path / "secret").write_text("secret")
    with server_of(tmp_path / "channel", 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        answers = []
        for path in ("/theano-stacks/a", "/a", "/theano-stacks/../secret"):
            connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
            connection.request("GET", path, headers={"If-Modified-Since": "never"})
            answers.append(connection.getresponse().status)
            connection.close()
        server.shutdown()
    assert answers == [200, 404, 404]


def test_a_port_in_use_is_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port} cannot be served") as caught:
            server_of(tmp_path, port)
    assert caught.value.fix and "--port" in caught.value.fix
