"""Building the channel's packages in parallel."""

import select
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from stacks.channel import package
from stacks.channel.assemble import Candidate
from stacks.channel.build_process import BuildProcess
from stacks.channel.candidates import Channel
from stacks.channel.package import Built
from stacks.core.console import plural, step
from stacks.core.errors import IntegrityError, UsageError
from stacks.core.workspace import VERSION, Workspace
from stacks.sources.fetch import fetch
from stacks.sources.pins import LockedPackage, Pin, Pins
from verify.core import machine

# The origin of a package that was built.
SOURCES = "sources"


def build_packages(
    workspace: Workspace,
    channel: Channel,
    candidates: Iterable[Candidate],
    also: Iterable[Pin] = (),
    *,
    quiet: bool = False,
) -> dict[str, Built]:
    """Return the packages by file name; build in parallel those that this code has not built.

    All missing sources, and the pins in `also`, are fetched first: the rest needs no network.
    Unless quiet, a line says how many were built.
    """
    candidates = tuple(candidates)
    with _counted(len(candidates), quiet) as (origins, summaries):
        return _build(workspace, channel, candidates, also, origins, summaries)


def obtain_packages(
    workspace: Workspace,
    channel: Channel,
    packages: Sequence[LockedPackage],
    also: Iterable[Pin] = (),
    made_by: str = "",
    *,
    quiet: bool = False,
) -> dict[str, Built]:
    """Return the packages of a lock by file name, each with the locked bytes.

    A package is taken by its SHA-256 from the cache, else from the first place that has it, and
    only else built from sources, if a recipe of the channel gives its file name. Pins in `also` are
    fetched too. Unless quiet, a line says how many came from where. made_by: the version that made
    the lock, if known. Raises MissingPackagesError for packages that are nowhere, IntegrityError if
    one that was built has other bytes.
    """
    with _counted(len(packages), quiet) as (origins, summaries):
        found = {
            each.filename: built
            for each in packages
            if (built := package.cached(workspace, each.filename, each.sha256))
        }
        if missing := [each for each in packages if each.filename not in found]:
            # Loaded here: most runs find all in the cache and need no HTTP library.
            from stacks.sources.places import published_places

            places = published_places(workspace)
            for name, taken in package.retrieve(workspace, places, missing).items():
                origins[name], found[name] = taken
            missing = [each for each in missing if each.filename not in found]
        if nowhere := [each for each in missing if each.filename not in channel.candidates]:
            raise MissingPackagesError(nowhere, made_by)
        candidates = [channel.candidates[each.filename] for each in missing]
        built_here = _build(workspace, channel, candidates, also, origins, summaries)
        check_bytes(missing, built_here)
        return found | built_here


class MissingPackagesError(UsageError):
    """Packages of a lock that no place has and no recipe gives."""

    def __init__(self, packages: Sequence[LockedPackage], made_by: str) -> None:
        names = "".join(f"\n  - {each.filename}" for each in packages)
        maker = f"theano-stacks {made_by}" if made_by else "an earlier version of theano-stacks"
        super().__init__(
            f"{plural(len(packages), 'locked package')} cannot be found:{names}",
            expected="each in the cache, a vendored folder, a published channel, or the recipes of "
            "this version",
            found=f"the lock was made by {maker}; this is {VERSION}",
            fix="name a channel or a vendored folder that has them (THEANO_STACKS_CHANNEL, "
            "THEANO_STACKS_VENDOR; that version writes both), or take the packages of this "
            "version: `./invoke lock --upgrade`, with the --variant that you build",
        )


def check_bytes(locked: Iterable[LockedPackage], built: Mapping[str, Built]) -> None:
    """Raise IntegrityError if a package that was built has other bytes than the locked ones."""
    for each in locked:
        found = built[each.filename]
        if found.sha256 != each.sha256:
            raise IntegrityError(
                f"{each.filename}: built from its sources, it has other bytes than the lock names",
                expected=f"sha256 {each.sha256}",
                found=f"sha256 {found.sha256}",
                fix="if this checkout's code or tools were changed: raise the `revision` of its "
                "stage (its class in stacks/channel/staging/), or the recipe's build number, then "
                "`./invoke lock`; if the lock was edited: put it back; else please report it: a "
                "build must not depend on the machine",
            )


def _build(
    workspace: Workspace,
    channel: Channel,
    candidates: Sequence[Candidate],
    also: Iterable[Pin],
    origins: dict[str, str],
    summaries: list[str],
) -> dict[str, Built]:
    """Return the packages by file name; those that are built get the origin SOURCES."""
    packages = {
        candidate.file_name: built
        for candidate in candidates
        if (built := package.built_before(workspace, candidate))
    }
    missing = [candidate for candidate in candidates if candidate.file_name not in packages]
    tools = {tool.file_name: tool for candidate in missing for tool in candidate.tools}
    first = [tool for tool in tools.values() if package.built_before(workspace, tool) is None]
    pins = {pin for each in (*missing, *first) for pin in each.recipe.pins(channel.pins)}
    # They import what they need while this one fetches.
    processes = [BuildProcess() for _ in range(min(len(missing), machine.usable_cores()))]
    try:
        fetch(workspace, {*also, *pins})
        if missing:
            packages |= _build_missing(workspace, channel.pins, missing, processes, summaries)
            origins |= {candidate.file_name: SOURCES for candidate in missing}
    finally:
        for process in processes:
            process.end()
        if missing:
            # They were killed with what they had begun, if not all was built.
            package.remove_left_by_killed(workspace)
    return packages


def _build_missing(
    workspace: Workspace,
    pins: Pins,
    missing: Sequence[Candidate],
    processes: Sequence[BuildProcess],
    summaries: list[str],
) -> dict[str, Built]:
    """Build packages in processes, each after its tools; summaries: gets what is being built."""

    tools = {tool.file_name for candidate in missing for tool in candidate.tools}

    def weight(candidate: Candidate) -> tuple[bool, bool, int]:
        # What others wait for comes first, then what is compiled, which a small source may be, then
        # the largest: no process ends long after the others.
        sizes = (pin.size for pin in candidate.recipe.pins(pins))
        return candidate.file_name in tools, bool(candidate.tools), sum(sizes)

    waiting = sorted(missing, key=weight)
    idle, running = list(processes), dict[BuildProcess, Candidate]()
    built: dict[str, Built] = {}
    with package.unpacked_tools(workspace, pins) as tools_of:
        while waiting or running:
            # No process waits for what another one builds.
            pending = {candidate.file_name for candidate in (*waiting, *running.values())}
            ready = [o for o in waiting if pending.isdisjoint(t.file_name for t in o.tools)]
            for candidate in ready[::-1][: len(idle)]:
                waiting.remove(candidate)
                process = idle.pop()
                process.begin(package.build, workspace, candidate, pins, tools_of(candidate))
                running[process] = candidate
            abouts = [candidate.recipe.package for candidate in running.values()]
            titles = " and ".join(f"{about.name} {about.version}" for about in abouts)
            done = f"{len(built)} of {plural(len(missing), 'package')} built"
            summaries.append(f"building {titles}, {done}")
            for process in select.select(running, [], [])[0]:
                built[running.pop(process).file_name] = process.result()
                idle.append(process)
    return built


@contextmanager
def _counted(total: int, quiet: bool) -> Iterator[tuple[dict[str, str], list[str]]]:
    """Give the origins of packages that are not in the cache, and the summaries of the step.

    An origin is the name of the place that had the package, or SOURCES. In the end their counts are
    printed.
    """
    origins: dict[str, str] = {}
    if quiet:
        yield origins, []
        return
    with step("channel", plural(total, "package")) as summaries:
        yield origins, summaries
        counts = Counter(origins.values())
        words = [f"{plural(counts.pop(SOURCES, 0), 'package')} built"]
        words += [f"{count} fetched from {place}" for place, count in counts.items()]
        words.append(f"{total - len(origins)} from the cache")
        summaries.append(", ".join(words))
