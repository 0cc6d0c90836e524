"""`./invoke publish`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from stacks.bench import images, store
from stacks.bench.candidates import packages_of
from stacks.bench.store import BadResultError, StoredResult
from stacks.core.console import display_path, plural
from stacks.core.disk import write_atomically
from stacks.core.errors import StaleError, UsageError
from stacks.core.workspace import Workspace
from stacks.locks import lock
from stacks.timings import devices, documents
from stacks.timings.devices import DeviceReport
from stacks.timings.survey import view
from stacks.timings.view import CurrentLock, View
from stacks.variants.load import all_variants


def publish(workspace: Workspace) -> None:
    """Write docs/timings.md, docs/timings.svg and site/index.html from results/.

    Raises UsageError if there are no results, and, after writing the others, if a result cannot be
    published.
    """
    stored, reports, left_out = _results(workspace)
    if not stored:
        raise UsageError(
            "no results to publish",
            fix="make some: ./invoke bench; for a first try: --variants pip-default,mkl --quick",
        )
    drawn = view(stored, current_locks(workspace), reports)
    for path, text in rendered(drawn, workspace.root).items():
        write_atomically(path, text)
        print(f"{display_path(path)}: {len(text.encode()) / 1e3:.0f} kB")
    _refuse(left_out, len(stored))


def add(workspace: Workspace, paths: Sequence[Path]) -> None:
    """Put results of other machines and of images, and reports of devices, into results/.

    Those of single images that belong together become one result, which has their ratios. Raises
    UsageError that names each file that cannot be taken; then none is.
    """
    locks = current_locks(workspace)
    results, errors, read = [], [], []
    reports = [path for path in paths if devices.is_report(path)]
    for path in paths:
        try:
            if path in reports:
                read.append(devices.read(path))
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
            and current.packages != {*subject.packages}
        ]
        if any(subject.image == "unknown" for subject in result.subjects):
            print(f"{path}: it does not name its image's digest: --image-digest", file=sys.stderr)
    if errors:
        raise UsageError("\n".join(errors), fix="nothing was taken; leave these files out")
    taken = images.together(results)
    # One that cannot be shown would make every later `publish` fail.
    new = [StoredResult(workspace.results, one) for one in taken]
    rendered(view(new, {}, read), workspace.root)
    for path in reports:
        print(f"taken: {display_path(devices.add(workspace, path))}", file=sys.stderr)
    for result in taken:
        stored = store.write(workspace, store.named(workspace, result))
        print(f"taken: {display_path(stored)}", file=sys.stderr)


def prune(workspace: Workspace) -> None:
    """Remove the results that no published figure comes from, and compress the others.

    Raises UsageError, and changes nothing, if a file in results/ cannot be published.
    """
    stored, reports, left_out = _results(workspace)
    _refuse(left_out, len(stored))
    used = {one.stored.path for one in view(stored, current_locks(workspace), reports).sessions}
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
    stored, reports, left_out = _results(workspace)
    drawn = view(stored, current_locks(workspace), reports)
    page_path = _paths(workspace.root)[-1]
    expected = (
        rendered(drawn, workspace.root) if stored else dict.fromkeys(_paths(workspace.root), "")
    )
    stale = [
        display_path(path)
        for path, text in expected.items()
        # The page is not committed: it may be missing.
        if (path.is_file() or path != page_path)
        and (path.read_text() if path.is_file() else "") != text
    ]
    if stale:
        raise StaleError(
            f"{', '.join(stale)}: not what results/ gives",
            fix="run `./invoke publish` and commit the files together with the results"
            if stored
            else "remove these files: there are no results",
        )
    # The machine with the device may be gone: its rows say that their lock is older.
    on_device = {row.name for table in drawn.machines for row in table.rows if row.on_device}
    if older := [name for name in drawn.not_timed if name not in on_device]:
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
        name: CurrentLock(
            one.sha256,
            sum(one.sizes.values()) + sum(each.size for each in one.requirements),
            frozenset(packages_of(one)),
        )
        for name, one in locks.items()
    }


def rendered(view: View, root: Path) -> dict[Path, str]:
    """Return {path: text} of the published files; the same view gives the same bytes."""
    texts = (documents.markdown(view), documents.document(view), documents.page(view))
    # Without a ratio to a baseline there is no picture.
    return {path: text for path, text in zip(_paths(root), texts, strict=True) if text}


def _paths(root: Path) -> tuple[Path, Path, Path]:
    docs = root / "docs"
    return docs / "timings.md", docs / "timings.svg", root / "site" / "index.html"


def _results(workspace: Workspace) -> tuple[list[StoredResult], list[DeviceReport], int]:
    """Return the results and reports to publish; name the others, and return their number."""
    stored, errors = store.read_all(workspace)
    reports, more_errors = devices.read_all(workspace)
    misplaced = store.misplaced(stored)
    messages = [*misplaced.values(), *map(str, errors + more_errors)]
    for message in messages:
        print(f"left out: {message}", file=sys.stderr)
    return [one for one in stored if one.path not in misplaced], reports, len(messages)


def _refuse(left_out: int, published: int) -> None:
    """Raise UsageError if results were left out."""
    if left_out:
        raise UsageError(
            f"published without {left_out} of {published + left_out} results",
            fix="see the messages above for each result that was left out",
        )
