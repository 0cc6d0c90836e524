"""`./invoke bench --images`: times variants in their images, which take turns in rounds.

Each turn is a result of one image. Those that belong together become one, in which their ratios
are; so do results of images that were timed elsewhere (`./invoke publish --add`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass

from stacks.bench import command, machine, store
from stacks.bench.result import Peak, Result
from stacks.bench.schedule import BenchOptions, rotated
from stacks.core import cores
from stacks.core.console import Progress, plural, step
from stacks.core.errors import UsageError
from stacks.core.workspace import Workspace
from stacks.image import engine as engines
from stacks.image.engine import Container, Engine, EngineError
from verify.workloads.rounds import OF_IMAGES, ON_ONE_THREAD

# The bench's options that apply in images.
IN_IMAGES = {"workload", "rounds", "threads", "quick"}
LABEL = "org.opencontainers.image"
ONE_AFTER_ANOTHER = (
    "the images were timed one after another, not in turn: what changed on the machine in between "
    "looks like a difference between them"
)


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
    command.keep(workspace, store.named(workspace, result, machine_name))


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
        return merged(_take_turns(images, options))


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


def _take_turns(images: Sequence[RunningImage], options: BenchOptions) -> list[Result]:
    """Take all turns and return the result of each."""
    most = cores.affine()
    counts = options.thread_counts(most) if options.threads else (most,)
    turns = [
        (number, workload, threads, image)
        for number in range(1, options.round_count + 1)
        for workload in (options.workloads if options.workload else OF_IMAGES)
        for threads in (counts[:1] if workload in ON_ONE_THREAD else counts)
        for image in rotated(images, number)
    ]
    results: list[Result] = []
    start = time.monotonic()
    with Progress(len(turns)) as progress:
        for done, (number, workload, threads, image) in enumerate(turns):
            seconds = (time.monotonic() - start) / max(done, 1) * (len(turns) - done)
            title = f"{image.name}, {workload}, {plural(threads, 'thread')}"
            head = f"round {number} of {options.round_count}"
            progress.update(f"{head}: {title}", done, seconds if done else 0.0)
            words = ["--round", str(number), "--workload", workload, "--threads", str(threads)]
            results.append(_turn(image, [*words, *([] if options.quick else ["--full"])]))
    return results


def _turn(image: RunningImage, words: Sequence[str]) -> Result:
    """Take a turn and return its result. Raises EngineError, UsageError."""
    fix = "build or pull the image again"
    result = store.parsed(image.call("bench", "--json", *words), image.name, fix)
    subject = result.subjects[0]
    stem = subject.framework.removesuffix(f"-{image.version}")
    if image.title not in (f"{stem}-{subject.flavour}", f"stack-{subject.flavour}"):
        raise UsageError(
            f"{image.name} is of {subject.id}, but not by its labels",
            found=f"{image.title}, version {image.version}",
            fix=fix,
        )
    return result


def together(results: Sequence[Result]) -> list[Result]:
    """Return the results with those of single images merged that belong together.

    These are of different images of one framework, timed on one machine with the same settings.
    Others are returned as they are.
    """
    groups: list[list[Result]] = []
    for result in sorted(results, key=lambda one: one.began):
        group = next((group for group in groups if _belongs(result, group)), None)
        if group is None:
            groups.append([result])
        else:
            group.append(result)
    return [
        group[0]
        if not _is_of_image(group[0])
        else merged(group, (ONE_AFTER_ANOTHER,) if len(group) > 1 else ())
        for group in groups
    ]


def merged(results: Sequence[Result], remarks: Sequence[str] = ()) -> Result:
    """Return one result with the runs of all, which are of one machine; add remarks on noise."""
    first = min(results, key=lambda one: one.began)
    peaks: dict[tuple[str, int], Peak] = {}
    for peak in (peak for one in results for peak in one.machine.peak):
        key = peak.dtype, peak.threads
        peaks[key] = max(peaks.get(key, peak), peak, key=lambda each: each.gflops)
    runs = tuple(run for one in results for run in one.runs)
    workloads = dict.fromkeys(name for one in results for name in one.settings.workloads)
    settings = {
        "workloads": tuple(workloads),
        "rounds": len({run.round for run in runs}),
        "threads": tuple(sorted({count for one in results for count in one.settings.threads})),
    }
    highest = {"peak": tuple(peaks[key] for key in sorted(peaks))}
    return first.model_copy(
        update={
            "seconds": round(sum(one.seconds for one in results), 1),
            "machine": first.machine.model_copy(update=highest),
            "settings": first.settings.model_copy(update=settings),
            "subjects": tuple({s.id: s for one in results for s in one.subjects}.values()),
            "runs": runs,
            "remarks": (*machine.remarks([run.noise for run in runs]), *remarks),
        }
    )


def _is_of_image(result: Result) -> bool:
    return len(result.subjects) == 1 and result.subjects[0].image is not None


def _belongs(result: Result, group: Sequence[Result]) -> bool:
    first, frameworks = group[0], {one.subjects[0].framework for one in (*group, result)}
    return (
        all(map(_is_of_image, (*group, result)))
        and len(frameworks) == 1
        and result.subjects[0].id not in {one.subjects[0].id for one in group}
        and result.machine.same_hardware(first.machine)
        and result.settings == first.settings
    )
