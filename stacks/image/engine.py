"""A variant's image in a container engine: loaded from its archive, verified, then named.

Docker, or podman, whose socket has the same API, through the Docker SDK. Its address is that of the
docker program: DOCKER_HOST, DOCKER_CONTEXT, `docker context use`.
"""

import hashlib
import os
import re
import secrets
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from docker.client import DockerClient
from docker.context import ContextAPI
from docker.errors import APIError, DockerException, NotFound
from docker.utils import parse_repository_tag, version_lt
from requests.exceptions import RequestException

from stacks.core.console import step
from stacks.core.disk import hold_lock, tmp_folder, write_atomically
from stacks.core.errors import IntegrityError, StacksError, UsageError
from stacks.core.workspace import Workspace
from stacks.environments.programs import FAILED, NO_DEVICE, PASSED, check_report, raise_for
from stacks.image import base, layout, oci
from stacks.image.layout import Layers
from stacks.image.metadata import ImageConfig, config_of
from stacks.variants.variant import Variant

# That of Docker 20.10 and podman 4.
OLDEST_API = "1.41"
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
class Engine:
    """An engine that answers. name: with its version, `podman 4.3.1`."""

    name: str
    client: DockerClient = field(repr=False)

    def image_id(self, name: str) -> str | None:
        """Return the id of an image (`sha256:...`), None if the engine does not have it."""
        with explained(f"the engine cannot look up {name}"):
            try:
                return str(self.client.images.get(name).id)
            except NotFound:
                return None

    def load(self, archive: Path) -> None:
        """Load the images of an archive, by the names in it."""
        with explained("the engine cannot load the image"), archive.open("rb") as file:
            for line in self.client.api.load_image(file):
                if "error" in line:
                    raise APIError(line["error"])

    def tag(self, image: str, name: str) -> None:
        """Give an image a name."""
        with explained(f"the image cannot be named {name}"):
            self.client.api.tag(image, *parse_repository_tag(name))

    def remove_name(self, name: str) -> None:
        """Remove a name if it exists, and with its last name the image."""
        with explained(f"{name} cannot be removed"), suppress(NotFound):
            self.client.images.remove(name)

    def run(self, image: str, command: Sequence[str], output: IO[bytes]) -> int:
        """Run a command in a new confined container, and return its exit status.

        output: the file for its standard output; its errors go to this process's. The container is
        removed in the end, whether it ends by itself or not.
        """
        name = f"theano-stacks-{secrets.token_hex(6)}"
        try:
            with explained(f"a container of {image} cannot be run"):
                made = self.client.containers.create(image, list(command), name=name, **CONFINED)
                streams = made.attach(stdout=True, stderr=True, stream=True, demux=True)
                made.start()
                for printed, error in streams:
                    output.write(printed or b"")
                    sys.stderr.write((error or b"").decode(errors="replace"))
                    sys.stderr.flush()
                return int(made.wait()["StatusCode"])
        finally:
            # Also where ctrl-C came before the engine's answer. An engine that no longer answers
            # has ended the block with that error, which says more.
            with suppress(APIError, RequestException):
                self.client.api.remove_container(name, v=True, force=True)


def find(environ: Mapping[str, str] = os.environ) -> Engine:
    """Return the engine at docker's address, or where nothing is there, podman at its socket.

    An address in DOCKER_HOST or DOCKER_CONTEXT has no other in its place. Raises EngineError if
    there is none, it does not answer, or it is too old; UsageError if DOCKER_CONTEXT names what
    does not exist.
    """
    host, name = environ.get("DOCKER_HOST"), environ.get("DOCKER_CONTEXT")
    context = ContextAPI.get_context(name)
    # The SDK would take the default one.
    if not host and context is None:
        raise UsageError(
            f"docker has no context named {name or 'as the current one'}",
            fix="docker context ls, then docker context use NAME, or unset DOCKER_CONTEXT",
        )
    socket = re.fullmatch(r"(?:http\+)?unix:/*(/.+)", host or str(context.Host))
    if socket and not os.access(socket[1], os.F_OK):
        folders = (environ.get("XDG_RUNTIME_DIR", ""), "/run")
        paths = [path for f in folders if os.access(path := f"{f}/podman/podman.sock", os.W_OK)]
        if host or name or not paths:
            raise EngineError(NO_ANSWER, found=f"nothing at {socket[1]}", fix=START)
        environ = {**environ, "DOCKER_HOST": f"unix://{paths[0]}"}
    # `ssh` itself, with the user's settings for it, as the docker program does.
    with explained(NO_ANSWER):
        client = DockerClient.from_env(
            version="auto", timeout=PATIENCE, environment=dict(environ), use_ssh_client=True
        )
        answer = client.version()
        client.api.timeout = None
    components = {part["Name"]: part["Version"] for part in answer.get("Components") or ()}
    podman, api = components.get("Podman Engine"), answer["ApiVersion"]
    version = f"podman {podman}" if podman else f"docker {answer.get('Version')}"
    if version_lt(api, OLDEST_API):
        raise EngineError(
            "the container engine is too old",
            expected=f"API {OLDEST_API}: Docker 20.10, podman 4, or newer",
            found=f"{version}, API {api}",
            fix=f"upgrade the engine, {ALTERNATIVE}",
        )
    return Engine(version, client)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Raise EngineError for an error of the SDK in the block; `what` says what failed."""
    try:
        yield
    except (DockerException, RequestException) as error:
        message, found, fix = str(getattr(error, "explanation", None) or error), None, None
        if re.search("no space left on device|disk quota exceeded", message, re.IGNORECASE):
            what, found = "the disk of the container engine is full", message
            fix = "free some: `docker system df` shows its use, `docker system prune` frees it"
        elif isinstance(error, APIError):
            what, status = f"{what}: {message}", error.status_code
            found = f"status {status}" if status else None
        elif "PermissionError" in message:
            what, found = "this user may not use the container engine", message
            fix = (
                "sudo usermod -aG docker $USER, then log in again; or use podman, which needs no "
                "group: systemctl --user start podman.socket, then set DOCKER_HOST to "
                f"unix://$XDG_RUNTIME_DIR/podman/podman.sock; {ALTERNATIVE}"
            )
        else:
            what, found, fix = NO_ANSWER, message, START
        raise EngineError(what, found=found, fix=fix) from error


def build(
    workspace: Workspace, variant: Variant, *, full: bool = False, json_file: Path | None = None
) -> str:
    """Build a variant's image from its lock, verify it, name it, and return its name.

    An image that is ready is verified again only for a `full` run or for the report. A failed
    check leaves no image and no name changed.

    Raises StacksError if there is no engine, it refuses, content is not as locked, or a check
    fails; also if the image is built, but its device is missing.
    """
    config, status = config_of(workspace, variant), PASSED
    record = layout.path_beside(workspace, variant, "docker.txt")
    reports = [report_path(workspace, variant), *([json_file] if json_file else [])]
    engine = find()
    with closing(engine.client), hold_lock(record, f"the image {config.names[0]}"):
        layers = layout.lay_out(workspace, variant)
        image, *others = {engine.image_id(name) for name in config.names}
        noted = record.read_bytes() if record.is_file() else None
        if image and not others and noted == f"{layers.key} {image}\n".encode():
            print(f"  {'ready':<9}{' '.join(config.names)}", file=sys.stderr, flush=True)
            if full or json_file:
                status = verify(engine, image, variant, reports, full=full)
        else:
            # One name for each checkout: the next build removes it where this one was killed.
            mark = hashlib.sha256(str(record.resolve()).encode()).hexdigest()[:12]
            unverified = f"{config.repository}:unverified-{mark}"
            with _loaded(workspace, engine, config, layers, unverified) as image:
                status = verify(engine, image, variant, reports, full=full)
                for name in config.names:
                    engine.tag(image, name)
            print(f"  {'image':<9}{' '.join(config.names)} {image}", file=sys.stderr, flush=True)
        if status == NO_DEVICE:
            what = f"the image of {variant.id} is built, and verified except for its device"
            raise_for(status, what)
        write_atomically(record, f"{layers.key} {image}\n")
    return config.names[0]


@contextmanager
def _loaded(
    workspace: Workspace, engine: Engine, config: ImageConfig, layers: Layers, name: str
) -> Iterator[str]:
    """Load the image under a name of its own, which it loses in the end; give its id.

    An image without another name goes with it. Raises IntegrityError unless the engine has the
    image of the archive, which its id, a digest of all its content, says.
    """
    engine.remove_name(name)
    try:
        with tmp_folder() as folder:
            archive = folder / "image.tar"
            digests = oci.pack(config, base.tar(workspace), layers, archive, [name])
            with step("load", engine.name):
                engine.load(archive)
        image = engine.image_id(name)
        if image not in digests:
            raise IntegrityError(
                "the engine has another image than it was given",
                expected=" or ".join(digests),
                found=image or "none",
                fix="run the command again; if it fails again, check the engine's storage",
            )
        yield image
    finally:
        engine.remove_name(name)


def verify(
    engine: Engine, image: str, variant: Variant, reports: Sequence[Path], *, full: bool
) -> int:
    """Run the verification suite in the image, print its table, and store its report.

    reports: the files for it. Returns PASSED, or NO_DEVICE if the image's device is missing. Raises
    VerifyError if a check failed or the suite could not run.
    """
    with tmp_folder() as folder:
        report = folder / "report.json"
        with report.open("wb") as file:
            status = engine.run(image, ["verify", "--json", *(["--full"] if full else [])], file)
        what = f"the image of {variant.id} could not be verified"
        if status not in (PASSED, FAILED, NO_DEVICE):
            raise_for(status, f"{what} (status {status})")
        check_report(status, report, what, "the image's entry program is not the suite's")
        for path in reports:
            write_atomically(path, report.read_bytes())
    if status == FAILED:
        raise_for(status, f"the image of {variant.id} failed its verification")
    return status


def report_path(workspace: Workspace, variant: Variant) -> Path:
    """Return the path of the last report of a variant's image."""
    if variant.file:
        return layout.path_beside(workspace, variant, "report.json")
    return workspace.reports / "images" / variant.framework.name / f"{variant.name}.json"
