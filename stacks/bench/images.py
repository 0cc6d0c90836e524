"""`./invoke bench --images`: times variants in their images, which take turns in rounds."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from stacks.bench import command, merge, store
from stacks.bench import table as bench_table
from stacks.bench.options import BenchOptions
from stacks.bench.progress import round_display
from stacks.bench.result import Result
from stacks.bench.schedule import rotated
from stacks.core import cores
from stacks.core.console import plural, step
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.image import engine as engines
from stacks.image.engine import Container, Engine, EngineError
from verify.workloads.rounds import OF_IMAGES, ON_ONE_THREAD

# The bench's options that apply in images.
IN_IMAGES = {"workload", "rounds", "threads", "quick"}
LABEL = "org.opencontainers.image"


@dataclass(frozen=True)
class _Turn:
    """A workload in a round, which each image takes."""

    round: int
    workload: str
    threads: int


@dataclass(frozen=True)
class RunningImage:
    """A container of an image, in which each turn is a process.

    title, version: by the image's labels.
    """

    name: str
    container: Container
    title: str
    version: str

    def call(self, *words: str) -> str:
        """Run a command of the image's entry program and return its output; EngineError."""
        return self.container.call("theano-stacks", *words)


def bench(
    workspace: Workspace, names: Sequence[str], options: BenchOptions, machine_name: str = ""
) -> None:
    """Verify images, time them in turn, store the result with their digests, and print it.

    names: of images that the engine has. Raises UsageError for an image that cannot be timed,
    another StacksError if a process fails; nothing is stored then, and no container is left.
    """
    options.check()
    if not names:
        raise UsageError("--images names no image", expected="for example theano-mkl")
    if options != BenchOptions(**options.model_dump(include=IN_IMAGES)):
        raise UsageError(
            "an option that images do not have",
            expected=f"with --images: {', '.join(f'--{name}' for name in sorted(IN_IMAGES))}",
        )
    with closing(engines.find()) as engine:
        result = timed(engine, names, options)
    result = store.named(workspace, result, machine_name or None)
    path = store.write(workspace, result)
    bench_table.show(result)
    print(f"stored in {workspace.shown(path)}", file=sys.stderr)


def timed(engine: Engine, names: Sequence[str], options: BenchOptions) -> Result:
    """Verify images, time them in turn, and return the result; raises what `bench` raises."""
    with ExitStack() as stack:
        images = [stack.enter_context(running(engine, name)) for name in names]
        if len({(image.title, image.version) for image in images}) < len(images):
            raise UsageError(
                f"two of the images are of one variant: {', '.join(names)}",
                fix="time them one after the other, each in a separate command",
            )
        for image in images:
            with step("verify", image.name):
                _verify(image)
        return merge.merged(_rounds(images, options))


def _rounds(images: Sequence[RunningImage], options: BenchOptions) -> list[Result]:
    """Take all turns and return the result of each."""
    turns = [(turn, image) for turn in _turns(options) for image in rotated(images, turn.round)]
    results: list[Result] = []
    start = time.monotonic()
    with round_display(len(turns)) as display:
        for number, (turn, image) in enumerate(turns):
            seconds = (time.monotonic() - start) / max(number, 1) * (len(turns) - number)
            title = f"{image.name}, {turn.workload}, {plural(turn.threads, 'thread')}"
            head = f"round {turn.round} of {options.round_count}"
            display.update(f"{head}: {title}", number, seconds if number else 0.0)
            results.append(_turn(image, turn, options))
    return results


@contextmanager
def running(engine: Engine, name: str) -> Iterator[RunningImage]:
    """Give a container of an image, confined; it is removed in the end. Raises UsageError."""
    digest = engine.image_id(name)
    if digest is None:
        raise UsageError(
            f"the engine has no image {name}",
            fix="./invoke build --variant NAME --to docker makes one, `docker pull` retrieves one",
        )
    labels = engine.labels_of(digest)
    title, version = (labels.get(f"{LABEL}.{key}", "") for key in ("title", "version"))
    variables = {"THEANO_STACKS_IMAGE": digest}
    with engine.container(digest, ["sleep", "infinity"], environment=variables) as container:
        container.start()
        yield RunningImage(name, container, title, version)


def _verify(image: RunningImage) -> None:
    try:
        image.call("verify")
    except EngineError as error:
        raise UsageError(
            f"{image.name} does not pass its verification, so its figures would mean nothing:\n"
            f"{error.what}",
            found=error.found,
            fix=f"docker run --rm {image.name} verify",
        ) from error


def _turn(image: RunningImage, turn: _Turn, options: BenchOptions) -> Result:
    """Take a turn and return its result. Raises EngineError, UsageError."""
    words = ["bench", "--json", "--round", str(turn.round), "--workload", turn.workload]
    words += ["--threads", str(turn.threads), *([] if options.quick else ["--full"])]
    fix = "build or pull the image again"
    result = store.parsed(image.call(*words), image.name, fix)
    subject = result.subjects[0]
    stem = subject.framework.removesuffix(f"-{image.version}")
    if image.title not in (f"{stem}-{subject.flavour}", f"stack-{subject.flavour}"):
        raise UsageError(
            f"{image.name} is of {subject.id}, but not by its labels",
            found=f"{image.title}, version {image.version}",
            fix=fix,
        )
    return result


def _turns(options: BenchOptions) -> Iterator[_Turn]:
    counts = command.thread_counts(options.threads or str(cores.affine()), cores.affine())
    for number in range(1, options.round_count + 1):
        for workload in options.workloads if options.workload else OF_IMAGES:
            for threads in counts[:1] if workload in ON_ONE_THREAD else counts:
                yield _Turn(number, workload, threads)
