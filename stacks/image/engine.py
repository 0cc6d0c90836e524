"""The container engine, through the Docker SDK: docker, or podman, whose socket has the same API.

Its address is that of the docker program: DOCKER_HOST, DOCKER_CONTEXT, `docker context use`. Images
are made without an engine (stacks/image/oci.py); this loads, runs, tags and removes them.
"""

from __future__ import annotations

import os
import re
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from docker.client import DockerClient
from docker.context import ContextAPI
from docker.errors import APIError, DockerException, NotFound
from docker.utils import parse_repository_tag
from requests.exceptions import RequestException

from stacks.core.errors import StacksError, UsageError

if TYPE_CHECKING:
    from docker.models.containers import Container as Handle

# The API of Docker 20.10, and the podman that is tested.
OLDEST_API, OLDEST_PODMAN = (1, 41), (4, 3)
# Seconds in which an engine must say its version. Later requests may take as long as they need.
PATIENCE = 60
ALTERNATIVE = "or write the image to a file, which needs no engine: --to oci"
NO_ANSWER = "the container engine does not answer"
START = (
    "install one (Debian, Ubuntu: apt install docker.io) or start it (sudo systemctl start docker, "
    "or systemctl --user start podman.socket), check DOCKER_HOST and `docker context ls`, "
    f"{ALTERNATIVE}"
)
# Without privileges, as everybody should run an image: options of the SDK.
CONFINED: Mapping[str, Any] = {
    "network_mode": "none",
    "read_only": True,
    "tmpfs": {"/tmp": "rw,exec,nosuid,nodev,mode=1777"},  # noqa: S108
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
}


class EngineError(StacksError):
    """The container engine is missing, does not answer, or refused a request."""


@dataclass(frozen=True)
class Container:
    """A container that was created, and is removed at the end of its block."""

    name: str
    handle: Handle = field(repr=False)

    def start(self) -> None:
        """Start it; EngineError if the engine refuses."""
        with _explained("the container cannot be started"):
            self.handle.start()

    def call(self, *words: str) -> str:
        """Run a program in it, once it runs, and return its output; EngineError if it fails."""
        command = " ".join(words)
        with _explained(f"{command} cannot be run in the container"):
            status, (output, errors) = self.handle.exec_run(list(words), demux=True)
        if status != 0:
            tail = b"\n".join(filter(None, (output, errors))).decode(errors="replace").strip()
            raise EngineError(
                f"{command}\n{tail}", expected="exit status 0", found=f"exit status {status}"
            )
        return (output or b"").decode(errors="replace")

    def run(self, output: IO[bytes]) -> int:
        """Start it and return the exit status of its program, once that ends.

        output: the file for its standard output; its errors go to this process's.
        """
        with _explained("the container cannot be run"):
            streams = self.handle.attach(stdout=True, stderr=True, stream=True, demux=True)
            self.handle.start()
            for printed, error in streams:
                output.write(printed or b"")
                sys.stderr.write((error or b"").decode(errors="replace"))
                sys.stderr.flush()
            return int(self.handle.wait()["StatusCode"])


@dataclass(frozen=True)
class Engine:
    """An engine that answers: its kind (docker, podman) and version."""

    kind: str
    version: str
    client: DockerClient = field(repr=False)

    def close(self) -> None:
        """End the connections."""
        self.client.close()

    def image_id(self, name: str) -> str | None:
        """Return the id of an image (`sha256:...`), None if the engine does not have it."""
        with _explained(f"the engine cannot look up {name}"):
            try:
                image = self.client.images.get(name)
            except NotFound:
                return None
        return str(image.id)

    def load(self, archive: Path) -> None:
        """Load the images of an archive, by the names in it."""
        with _explained("the engine cannot load the image"), archive.open("rb") as file:
            for line in self.client.api.load_image(file):
                if "error" in line:
                    raise DockerException(line["error"])

    def save(self, name: str, archive: Path) -> None:
        """Write an image to a new archive."""
        with _explained(f"the engine cannot save {name}"), archive.open("xb") as file:
            for block in self.client.api.get_image(name):
                file.write(block)

    def pull(self, name: str) -> None:
        """Pull an image, with the user's login for its registry."""
        with _explained(f"{name} cannot be pulled"):
            self.client.images.pull(*parse_repository_tag(name))

    def tag(self, image: str, names: Sequence[str]) -> None:
        """Give an image its names: all of them, or none."""
        before = {name: self.image_id(name) for name in names}
        try:
            for name in names:
                self._tag(image, name)
        except BaseException:
            for name, old in before.items():
                if old:
                    self._tag(old, name)
                else:
                    self.remove_name(name)
            raise

    def _tag(self, image: str, name: str) -> None:
        repository, tag = parse_repository_tag(name)
        with _explained(f"the image cannot be named {name}"):
            self.client.api.tag(image, repository, tag)

    def remove_name(self, name: str) -> None:
        """Remove a name if it exists, and with its last name the image.

        Two that remove the last two names of an image at once leave an image without a name to the
        engine: so what has none goes by its id, unless a container uses it.
        """
        with _explained(f"{name} cannot be removed"), suppress(NotFound):
            image = self.client.images.get(name)
            self.client.images.remove(name)
            image.reload()
            if not image.tags:
                try:
                    self.client.images.remove(image.id)
                except APIError as error:
                    if error.status_code not in (HTTPStatus.NOT_FOUND, HTTPStatus.CONFLICT):
                        raise

    @contextmanager
    def container(self, image: str, command: Sequence[str], **options: Any) -> Iterator[Container]:
        """Create a confined container; it is removed in the end, running or not.

        options: of the SDK's `create`, beside those in CONFINED.
        """
        name = f"theano-stacks-{secrets.token_hex(6)}"
        try:
            with _explained(f"a container of {image} cannot be created"):
                handle = self.client.containers.create(
                    image, list(command), name=name, **{**CONFINED, **options}
                )
            yield Container(name, handle)
        finally:
            # Also where ctrl-C came before the engine's answer. An engine that no longer answers
            # has ended the block with that error, which says more.
            with suppress(NotFound, APIError, RequestException):
                self.client.api.remove_container(name, v=True, force=True)


def find(environ: Mapping[str, str] = os.environ) -> Engine:
    """Return the engine at docker's address, or where nothing is there, podman at its socket.

    An address in DOCKER_HOST has no other in its place. Raises EngineError if there is none, it
    does not answer, or it is too old; UsageError if DOCKER_CONTEXT names what does not exist.
    """
    if missing := _missing_socket(environ):
        folders = (environ.get("XDG_RUNTIME_DIR") or "/run/user/none", "/run")
        paths = [Path(folder, "podman/podman.sock") for folder in folders]
        podman = [f"unix://{path}" for path in paths if os.access(path, os.W_OK)]
        if environ.get("DOCKER_HOST") or not podman:
            raise EngineError(NO_ANSWER, found=f"nothing at {missing}", fix=START)
        environ = {**environ, "DOCKER_HOST": podman[0]}
    with _explained(NO_ANSWER):
        client = _client(environ, ".".join(map(str, OLDEST_API)), PATIENCE)
        try:
            # The one request that has no version of the API in it.
            answer = client.api.version(api_version=False)
        finally:
            client.close()
    try:
        components = {part["Name"]: part["Version"] for part in answer.get("Components") or ()}
        version, api = str(answer["Version"]), str(answer["ApiVersion"])
    except (AttributeError, LookupError, TypeError) as error:
        raise EngineError(
            "what listens at the engine's address is not a container engine",
            expected="its version, as docker and podman send it",
            found=str(answer)[:200],
            fix=f"check DOCKER_HOST and `docker context ls`, {ALTERNATIVE}",
        ) from error
    by_podman = components.get("Podman Engine")
    found, oldest = (by_podman, OLDEST_PODMAN) if by_podman else (api, OLDEST_API)
    if tuple(int(n) for n in re.findall(r"\d+", found)[:2]) < oldest:
        raise EngineError(
            "the container engine is too old",
            expected="Docker 20.10 (its API 1.41), podman 4.3, or newer",
            found=f"podman {by_podman}" if by_podman else f"Docker {version} (its API {api})",
            fix=f"upgrade the engine, {ALTERNATIVE}",
        )
    kind = "podman" if by_podman else "docker"
    return Engine(kind, by_podman or version, _client(environ, api))


def _missing_socket(environ: Mapping[str, str]) -> Path | None:
    """Return the path of the socket that the docker program would use, if nothing is there."""
    address = environ.get("DOCKER_HOST")
    if not address:
        name = environ.get("DOCKER_CONTEXT")
        context = ContextAPI.get_context(name)
        if context is None:
            raise UsageError(
                f"DOCKER_CONTEXT names no context of docker: {name}",
                fix="docker context ls, or unset DOCKER_CONTEXT",
            )
        address = str(context.Host)
    socket = re.fullmatch(r"(?:http\+)?unix:/*(/.+)", address)
    try:
        return Path(socket[1]) if socket and not Path(socket[1]).exists() else None
    except PermissionError:
        # To be reported as that, by the request.
        return None


def _client(environ: Mapping[str, str], version: str, limit: float | None = None) -> DockerClient:
    """Return a client, which connects at its first request. limit: seconds for each answer."""
    return DockerClient.from_env(
        environment=dict(environ),
        version=version,
        timeout=limit,
        # `ssh` itself, with the user's settings for it, as the docker program does.
        use_ssh_client=True,
    )


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Raise EngineError for an error of the SDK in the block."""
    try:
        yield
    except (DockerException, RequestException) as error:
        raise engine_error(what, error) from error


def engine_error(what: str, error: Exception) -> EngineError:
    """Return the error for a request to the engine that failed; `what` says which."""
    message = str(getattr(error, "explanation", None) or error)
    if re.search("no space left on device|disk quota exceeded", message, re.IGNORECASE):
        return EngineError(
            "the disk of the container engine is full",
            found=message,
            fix="free some space: `docker system df` shows its use, `docker system prune` removes "
            "what is unused",
        )
    if isinstance(error, APIError):
        return EngineError(f"{what}: {message}", found=f"status {error.status_code}")
    if "PermissionError" in message:
        return EngineError(
            "this user may not use the container engine",
            found=message,
            fix="sudo usermod -aG docker $USER, then log in again; or use podman, which needs no "
            "group: systemctl --user start podman.socket, then set DOCKER_HOST to "
            f"unix://$XDG_RUNTIME_DIR/podman/podman.sock; {ALTERNATIVE}",
        )
    if isinstance(error, RequestException):
        return EngineError(NO_ANSWER, found=message, fix=START)
    return EngineError(f"{what}: {message}")
