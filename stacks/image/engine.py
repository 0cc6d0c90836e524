"""The one door to a container engine: docker, or podman, which takes the same commands."""

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
# The API of Docker 20.10, and the podman that was tried.
OLDEST_API, OLDEST_PODMAN = (1, 41), (4, 3)
# From this version on the docker program needs a plugin, buildx, for BuildKit.
NEEDS_BUILDX = (23,)
WITHOUT = "or write the image to a file, which needs no engine: --to oci"


class EngineError(StacksError):
    """The container engine is not there, refused, or failed at a step."""


@dataclass(frozen=True, kw_only=True)
class Engine:
    """An engine that answers: its program, what it is, and the variables for its program."""

    program: str
    kind: str
    version: str
    environment: Mapping[str, str] = field(repr=False)

    def ask(self, *arguments: str | Path) -> str:
        """Run one of the engine's commands and return what it printed; EngineError on failure."""
        try:
            return call([self.program, *arguments], env=self.environment)
        except CommandError as error:
            raise explained(error) from error

    def follow(self, arguments: Sequence[str | Path], tell: Callable[[str], None]) -> None:
        """Run one of the engine's commands, giving its lines to `tell`; EngineError on failure."""
        try:
            run_streaming([self.program, *arguments], tell, env=self.environment)
        except CommandError as error:
            raise explained(error) from error

    @contextmanager
    def pipe(self, *arguments: str | Path) -> Iterator[IO[bytes]]:
        """Give the bytes that one of the engine's commands writes; EngineError on failure."""
        try:
            with run_piped([self.program, *arguments], env=self.environment) as stream:
                yield stream
        except CommandError as error:
            raise explained(error) from error

    def attach(self, *arguments: str | Path, output: IO[bytes] | None = None) -> int:
        """Run one of the engine's commands on the user's terminal and return its exit status.

        What it prints on standard output goes to the file `output`, where that is given.
        """
        return run_attached([self.program, *arguments], env=self.environment, output=output)

    def image_id(self, name: str) -> str | None:
        """Return the id of an image that the engine has (`sha256:...`), None where it has none."""
        found = self._inspect(name)
        return _digest(found["Id"]) if found else None

    def names_of(self, image: str) -> tuple[str, ...]:
        """Return the names that an image has, those by digest too; none where it is not there."""
        found = self._inspect(image) or {}
        return (*(found.get("RepoTags") or ()), *(found.get("RepoDigests") or ()))

    def unnamed_made_from(self, image: str) -> list[str]:
        """Return the images without a name that a builder has made as the next step after one."""
        unnamed = self.ask("images", "--quiet", "--no-trunc", "--filter", "dangling=true").split()
        found = json.loads(self.ask("image", "inspect", *unnamed)) if unnamed else []
        return [
            _digest(other["Id"])
            for other in found
            if other.get("Parent", "").removeprefix("sha256:").startswith(image)
        ]

    def unnamed_with_title(self, title: str) -> frozenset[str]:
        """Return the images without a name whose label gives them this title."""
        wanted = f"label=org.opencontainers.image.title={title}"
        filters = ["--filter", "dangling=true", "--filter", wanted]
        return frozenset(self.ask("images", "--quiet", "--no-trunc", *filters).split())

    def discard(self, images: Iterable[str]) -> None:
        """Remove images that nobody has named and nothing is made from; leave the others."""
        for image in images:
            if not self.names_of(image):
                self._try("image", "rm", image)

    def remove_container(self, name: str) -> None:
        """Remove a container, running or not, where there is one."""
        self._try("rm", "--force", "--volumes", name)

    def _try(self, *arguments: str) -> None:
        call([self.program, *arguments], env=self.environment, accepted=range(256))

    def _inspect(self, name: str) -> dict[str, Any] | None:
        answer = call(
            [self.program, "image", "inspect", name], env=self.environment, accepted=(0, 1, 125)
        )
        found = json.loads(answer or "[]")
        return found[0] if found else None


def find(environ: Mapping[str, str] = os.environ) -> Engine:
    """Return the engine: `THEANO_STACKS_ENGINE`, else docker, else podman.

    Where it is, its own settings say: DOCKER_HOST, DOCKER_CONTEXT, `docker context use`.

    Raises EngineError where there is none, it does not answer, or it is too old.
    """
    program = _program(environ)
    try:
        answer = call([program, "version", "--format", "{{json .}}"], env=environ)
    except CommandError as error:
        raise explained(error) from error
    version = _version(program, answer)
    client = version["Client"]
    # Debian's podman-docker is a podman by the name of docker.
    kind = "podman" if "APIVersion" in client else "docker"
    if kind == "podman":
        _check_age("podman", client["Version"], client["Version"], OLDEST_PODMAN)
        return Engine(
            program=program, kind=kind, version=client["Version"], environment=dict(environ)
        )
    server = version["Server"]
    _check_age("Docker's API", server["ApiVersion"], server["Version"], OLDEST_API)
    return Engine(
        program=program,
        kind=kind,
        version=server["Version"],
        environment=_for_building(program, client["Version"], environ),
    )


def _program(environ: Mapping[str, str]) -> str:
    chosen, path = environ.get(CHOICE), environ.get("PATH")
    if chosen:
        found = shutil.which(chosen, path=path)
        if not found:
            raise UsageError(
                f"{CHOICE} names a program that is not there",
                found=chosen,
                fix=f"give the name or path of docker or podman, or unset {CHOICE}",
            )
        return found
    for name in PROGRAMS:
        found = shutil.which(name, path=path)
        if found:
            return found
    raise EngineError(
        "there is no container engine",
        expected="docker or podman on PATH",
        found="neither",
        fix=f"install one (Debian, Ubuntu: apt install docker.io), {WITHOUT}",
    )


def _version(program: str, answer: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(answer)
        if "APIVersion" in found["Client"] or found["Server"]["ApiVersion"]:
            return found
    except (ValueError, KeyError, TypeError):
        pass
    raise EngineError(
        f"{program} does not say its version as docker and podman do",
        found=answer.strip()[:200] or "nothing",
        fix=f"name another program: {CHOICE}=docker, {WITHOUT}",
    )


def _check_age(what: str, found: str, version: str, oldest: tuple[int, ...]) -> None:
    if _number(found) < oldest:
        raise EngineError(
            "the container engine is too old",
            expected=f"{what} {'.'.join(map(str, oldest))} or newer"
            + (" (Docker 20.10)" if oldest == OLDEST_API else ""),
            found=f"{found} (version {version})" if found != version else version,
            fix=f"upgrade the engine, {WITHOUT}",
        )


def _for_building(program: str, client: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables under which `docker build` takes the best builder that it has."""
    buildkit = environ.get("DOCKER_BUILDKIT") != "0"
    if buildkit and _number(client) >= NEEDS_BUILDX:
        buildkit = bool(call([program, "buildx", "version"], env=environ, accepted=range(256)))
    return {
        **environ,
        "DOCKER_BUILDKIT": "1" if buildkit else "0",
        # A builder of the user's own may lie elsewhere, where the base and the result are not.
        "BUILDX_BUILDER": "default",
        # They carry clocks, so that no image would be the same twice.
        "BUILDX_NO_DEFAULT_ATTESTATIONS": "1",
    }


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in re.findall(r"\d+", version)[:2])


def _digest(image: str) -> str:
    return image if image.startswith("sha256:") else f"sha256:{image}"


def explained(error: CommandError) -> EngineError:
    """Return what to tell of a command of the engine that failed, by the engine's own words."""
    said = error.what.lower()
    for pattern, what, fix in KNOWN:
        if re.search(pattern, said):
            words = [w for w in error.what.splitlines() if re.search(pattern, w.lower())]
            return EngineError(what, found=words[-1].strip() if words else None, fix=fix)
    return EngineError(error.what, expected=error.expected, found=error.found, fix=error.fix)


# What engines say, what it means, and what to do about it.
KNOWN = (
    (
        "no space left on device|disk quota exceeded",
        "the disk of the container engine is full",
        "free some space: `docker system df` shows what takes it, `docker system prune` removes "
        "what nothing uses",
    ),
    (
        "permission denied while trying to connect|dial unix .*permission denied",
        "you may not talk to the container engine",
        "sudo usermod -aG docker $USER, then log in anew; or use podman, which needs no such "
        f"right: {CHOICE}=podman; {WITHOUT}",
    ),
    (
        "cannot connect to the docker daemon|error during connect|connection refused|"
        "failed to connect to the docker api|cannot connect to podman",
        "the container engine does not answer",
        "start it (sudo systemctl start docker), look at DOCKER_HOST and `docker context ls`, "
        f"{WITHOUT}",
    ),
    (
        "client version .* is too (old|new)",
        "the docker program and its engine are too far apart in age",
        f"upgrade the older of the two, {WITHOUT}",
    ),
)
