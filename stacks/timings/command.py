"""`./invoke publish`."""

import sys
from collections.abc import Sequence
from pathlib import Path

from stacks.bench import store
from stacks.bench.result import Result
from stacks.bench.store import BadResultError, StoredResult
from stacks.core.console import display_path, plural
from stacks.core.disk import write_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.timings import beside, documents
from stacks.timings.beside import DeviceReport
from stacks.timings.survey import view
from stacks.timings.view import CurrentLock, View
from stacks.variants.load import all_variants


def publish(workspace: Workspace) -> None:
    """Write docs/timings.md, docs/timings.svg and site/index.html from results/.

    Raises UsageError if there are no results, and, after writing the others, if a result cannot be
    published.
    """
    stored, drawn, left_out = _results(workspace)
    if not stored:
        raise UsageError(
            "no results to publish",
            fix="make some: ./invoke bench; for a first try: --variants pip-default,mkl --quick",
        )
    for path, text in rendered(drawn, workspace.root).items():
        # Without a ratio to a baseline there is no picture.
        if text:
            write_atomically(path, text)
            print(f"{display_path(path)}: {len(text.encode()) / 1e3:.0f} kB")
    _refuse(left_out, len(stored))


def add(workspace: Workspace, paths: Sequence[Path]) -> None:
    """Put results of other machines, and reports of devices, into results/.

    Raises UsageError that names each file that cannot be taken; then none is.
    """
    locks = current_locks(workspace)
    results, reports, errors = list[Result](), dict[Path, DeviceReport](), list[str]()
    for path in paths:
        try:
            if beside.is_report(path):
                reports[path] = beside.REPORTS.read(path)
                continue
            result = store.read(path)
        except BadResultError as error:
            errors.append(str(error))
            continue
        results.append(result)
        errors += [
            f"{path}: its packages of {subject.id} are not those of the lock that it names"
            for subject in result.subjects
            if (current := locks.get(subject.id))
            and subject.lock == current.sha256
            and current.digests != {(each.name, each.sha256) for each in subject.packages}
        ]
    if errors:
        raise UsageError("\n".join(errors), fix="nothing was taken; leave these files out")
    # One that cannot be shown would make every later `publish` fail.
    new = [StoredResult(workspace.results, one) for one in results]
    rendered(view(new, {}, list(reports.values())), workspace.root)
    taken = [beside.add_report(workspace, path) for path in reports]
    for result in results:
        machine = store.named(workspace, result.machine)
        taken.append(store.write(workspace, result.model_copy(update={"machine": machine})))
    for path in taken:
        print(f"taken: {display_path(path)}", file=sys.stderr)


def prune(workspace: Workspace) -> None:
    """Remove the results that no published figure comes from, and compress the others.

    Raises UsageError, and changes nothing, if a file in results/ cannot be published.
    """
    stored, drawn, left_out = _results(workspace)
    _refuse(left_out, len(stored))
    used = {one.stored.path for one in drawn.sessions}
    for one in stored:
        if one.path in used:
            store.pack(one)
        else:
            one.path.unlink()
            print(f"removed: {display_path(one.path)}", file=sys.stderr)
    print(f"{plural(len(used), 'result')} kept of {len(stored)}")


def check(workspace: Workspace) -> None:
    """Raise StaleError if one of the committed files is not what results/ gives.

    Also if the lock of an environment in the tables has changed since it was timed. UsageError if
    nothing is stale, but a result cannot be published.
    """
    stored, drawn, left_out = _results(workspace)
    stale = [
        display_path(path)
        for path, text in rendered(drawn, workspace.root).items()
        # The page is not committed: it may be missing.
        if path.is_file() or path.suffix != ".html"
        if (path.read_text() if path.is_file() else "") != (text if stored else "")
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not what results/ gives",
            fix="run `./invoke publish` and commit the files together with the results"
            if stored
            else "remove these files: there are no results",
        )
    if older := drawn.not_timed:
        raise StaleError(
            f"{', '.join(older)}: the lock has changed since it was timed",
            fix="time them again: ./invoke bench --all",
        )
    _refuse(left_out, len(stored))


def current_locks(workspace: Workspace) -> dict[str, CurrentLock]:
    """Return the lock of each variant in envs/, by FRAMEWORK/FLAVOUR.

    Empty for a folder that has only results.
    """
    if not workspace.envs.is_dir():
        return {}
    locks = {each.id: lock.read(workspace, each) for each in all_variants(workspace)}
    return {
        name: CurrentLock(one.sha256, sum(file.size for file in one.files), frozenset(one.digests))
        for name, one in locks.items()
    }


def rendered(view: View, root: Path) -> dict[Path, str]:
    """Return {path: text} of the published files; "" for a picture of nothing.

    The same view gives the same bytes.
    """
    return {
        root / "docs/timings.md": documents.markdown(view),
        root / "docs/timings.svg": documents.document(view),
        root / "site/index.html": documents.page(view),
    }


def _results(workspace: Workspace) -> tuple[list[StoredResult], View, int]:
    """Return the results, and what is published of them; name other files, return their number."""
    stored, errors = store.read_all(workspace)
    reports, of_devices = beside.REPORTS.read_all(workspace)
    figures, of_samplers = beside.SAMPLERS.read_all(workspace)
    samplings, of_samplings = beside.SAMPLINGS.read_all(workspace)
    errors = [*errors, *of_devices, *of_samplers, *of_samplings]
    for error in errors:
        print(f"left out: {error}", file=sys.stderr)
    drawn = view(stored, current_locks(workspace), reports, figures, samplings)
    return stored, drawn, len(errors)


def _refuse(left_out: int, published: int) -> None:
    """Raise UsageError if results were left out."""
    if left_out:
        raise UsageError(
            f"published without {left_out} of {published + left_out} results",
            fix="see the messages above for each result that was left out",
        )
