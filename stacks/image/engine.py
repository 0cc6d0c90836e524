"""The container engine: docker, or podman, which has the same commands."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from stacks.core.errors import StacksError, UsageError
from stacks.core.process import CommandError, call, run_attached, run_piped, run_streaming

CHOICE = "THEANO_STACKS_ENGINE"
PROGRAMS = ("docker", "podman")
# The API of Docker 20.10, and the podman that is tested.
OLDEST_API, OLDEST_PODMAN = (1, 41), (4, 3)
# From this version on, the docker program needs the plugin buildx for BuildKit.
NEEDS_BUILDX = (23,)
ALTERNATIVE = "or write the image to a file, which needs no engine: --to oci"


class EngineError(StacksError):
    """The container engine is missing, refused a command, or failed at a step."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """An engine that answers: its program and kind (docker, podman), the program's variables."""

    program: str
    kind: str
    version: str
    environment: Mapping[str, str] = field(repr=False)

    def call(self, *arguments: str | Path) -> str:
        """Run one of the engine's commands and return its output; EngineError if it fails."""
        try:
            return call([self.program, *arguments], env=self.environment)
        except CommandError as error:
            raise engine_error(error) from error

    def follow(self, arguments: Sequence[str | Path], on_line: Callable[[str], None]) -> None:
        """Run one of the engine's commands and pass on each line; EngineError if it fails."""
        try:
            run_streaming([self.program, *arguments], on_line, env=self.environment)
        except CommandError as error:
            raise engine_error(error) from error

    @contextmanager
    def pipe(self, *arguments: str | Path) -> Iterator[IO[bytes]]:
        """Open the output of one of the engine's commands; EngineError if it fails."""
        try:
            with run_piped([self.program, *arguments], env=self.environment) as stream:
                yield stream
        except CommandError as error:
            raise engine_error(error) from error

    def attach(self, *arguments: str | Path, output: IO[bytes] | None = None) -> int:
        """Run one of the engine's commands on the user's terminal and return its exit status.

        output: the file for its standard output, if not the terminal.
        """
        return run_attached([self.program, *arguments], env=self.environment, output=output)

    def image_id(self, name: str) -> str | None:
        """Return the id of an image (`sha256:...`), None if the engine does not have it."""
        image = self._inspect(name)
        return _digest(image["Id"]) if image else None

    def names_of(self, image: str) -> tuple[str, ...]:
        """Return an image's names, including those by digest; none if it does not exist."""
        description = self._inspect(image) or {}
        return (*(description.get("RepoTags") or ()), *(description.get("RepoDigests") or ()))

    def labels_of(self, image: str) -> Mapping[str, str]:
        """Return an image's labels; none if it does not exist."""
        return ((self._inspect(image) or {}).get("Config") or {}).get("Labels") or {}

    def unnamed_made_from(self, image: str) -> list[str]:
        """Return the images without a name whose parent is this image."""
        unnamed = self.call("images", "--quiet", "--no-trunc", "--filter", "dangling=true").split()
        images = json.loads(self.call("image", "inspect", *unnamed)) if unnamed else []
        return [
            _digest(other["Id"])
            for other in images
            if other.get("Parent", "").removeprefix("sha256:").startswith(image)
        ]

    def unnamed_with_title(self, title: str) -> frozenset[str]:
        """Return the images without a name that have this title as a label."""
        label = f"label=org.opencontainers.image.title={title}"
        filters = ["--filter", "dangling=true", "--filter", label]
        return frozenset(self.call("images", "--quiet", "--no-trunc", *filters).split())

    def discard(self, images: Iterable[str]) -> None:
        """Remove those of the images that have no name and no descendants."""
        for image in images:
            if not self.names_of(image):
                self._try("image", "rm", image)

    def remove_container(self, name: str) -> None:
        """Remove a container, running or not, if it exists."""
        self._try("rm", "--force", "--volumes", name)

    def _try(self, *arguments: str) -> None:
        call([self.program, *arguments], env=self.environment, accepted=range(256))

    def _inspect(self, name: str) -> dict[str, Any] | None:
        answer = call(
            [self.program, "image", "inspect", name], env=self.environment, accepted=(0, 1, 125)
        )
        images = json.loads(answer or "[]")
        return images[0] if images else None


def find(environ: Mapping[str, str] = os.environ) -> Engine:
    """Return the engine: `THEANO_STACKS_ENGINE`, else docker, else podman.

    Its own settings choose its address: DOCKER_HOST, DOCKER_CONTEXT, `docker context use`.

    Raises EngineError if none is installed, it does not answer, or it is too old.
    """
    program = _program(environ)
    try:
        answer = call([program, "version", "--format", "{{json .}}"], env=environ)
    except CommandError as error:
        raise engine_error(error) from error
    version = _version(program, answer)
    client = version["Client"]["Version"]
    # Debian's podman-docker installs podman under the name docker.
    if "APIVersion" in version["Client"]:
        _check_age("podman", client, client, OLDEST_PODMAN)
        return Engine(program=program, kind="podman", version=client, environment=dict(environ))
    server = version["Server"]
    _check_age("Docker's API", server["ApiVersion"], server["Version"], OLDEST_API)
    environment = _for_building(program, client, environ)
    return Engine(
        program=program, kind="docker", version=server["Version"], environment=environment
    )


def _program(environ: Mapping[str, str]) -> str:
    chosen = environ.get(CHOICE)
    for name in (chosen,) if chosen else PROGRAMS:
        path = shutil.which(name, path=environ.get("PATH"))
        if path:
            return path
    if chosen:
        raise UsageError(
            f"{CHOICE} names a program that does not exist",
            found=chosen,
            fix=f"give the name or path of docker or podman, or unset {CHOICE}",
        )
    raise EngineError(
        "no container engine is installed",
        expected="docker or podman on PATH",
        found="neither",
        fix=f"install one (Debian, Ubuntu: apt install docker.io), {ALTERNATIVE}",
    )


def _version(program: str, answer: str) -> dict[str, Any]:
    try:
        version: dict[str, Any] = json.loads(answer)
        if "APIVersion" in version["Client"] or version["Server"]["ApiVersion"]:
            return version
    except (ValueError, KeyError, TypeError):
        pass
    raise EngineError(
        f"{program} is not a container engine",
        expected="its version, as docker and podman print it",
        found=answer.strip()[:200] or "nothing",
        fix=f"name another program: {CHOICE}=docker, {ALTERNATIVE}",
    )


def _check_age(what: str, found: str, version: str, oldest: tuple[int, ...]) -> None:
    if _number(found) < oldest:
        raise EngineError(
            "the container engine is too old",
            expected=f"{what} {'.'.join(map(str, oldest))} or newer"
            + (" (Docker 20.10)" if oldest == OLDEST_API else ""),
            found=f"{found} (version {version})" if found != version else version,
            fix=f"upgrade the engine, {ALTERNATIVE}",
        )


def _for_building(program: str, client: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for `docker build` to use BuildKit if it can."""
    buildkit = environ.get("DOCKER_BUILDKIT") != "0"
    if buildkit and _number(client) >= NEEDS_BUILDX:
        buildkit = bool(call([program, "buildx", "version"], env=environ, accepted=range(256)))
    return {
        **environ,
        "DOCKER_BUILDKIT": "1" if buildkit else "0",
        # A builder of the user's own may be on another machine, without the base and the result.
        "BUILDX_BUILDER": "default",
        # They contain the time, so no two images would be the same.
        "BUILDX_NO_DEFAULT_ATTESTATIONS": "1",
    }


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])


def _digest(image: str) -> str:
    return image if image.startswith("sha256:") else f"sha256:{image}"


def engine_error(error: CommandError) -> EngineError:
    """Return the error for a command of the engine that failed, by the engine's own message."""
    for pattern, what, fix in KNOWN:
        if re.search(pattern, error.what, re.IGNORECASE):
            lines = [w for w in error.what.splitlines() if re.search(pattern, w, re.IGNORECASE)]
            return EngineError(what, found=lines[-1].strip() if lines else None, fix=fix)
    return EngineError(error.what, expected=error.expected, found=error.found, fix=error.fix)


# A pattern of the engines' messages, what it means, and the fix.
KNOWN = (
    (
        "no space left on device|disk quota exceeded",
        "the disk of the container engine is full",
        "free some space: `docker system df` shows its use, `docker system prune` removes what is "
        "unused",
    ),
    (
        "permission denied while trying to connect|dial unix .*permission denied",
        "this user may not use the container engine",
        "sudo usermod -aG docker $USER, then log in again; or use podman, which needs no group: "
        f"{CHOICE}=podman; {ALTERNATIVE}",
    ),
    (
        "cannot connect to the docker daemon|error during connect|connection refused|"
        "failed to connect to the docker api|cannot connect to podman",
        "the container engine does not answer",
        "start it (sudo systemctl start docker), check DOCKER_HOST and `docker context ls`, "
        f"{ALTERNATIVE}",
    ),
    (
        "client version .* is too (old|new)",
        "the docker program and its engine have no API version in common",
        f"upgrade the older of the two, {ALTERNATIVE}",
    ),
)
