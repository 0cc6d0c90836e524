"""Compare the unpacked contents of the packages in two caches, whatever their build strings.

    .venv/bin/python measurements/compare_packages.py CACHE CACHE

Files, links and modes must be the same, and all metadata but the hash in the build string. Prints
one line for each package and the first differences; exits with status 1 where there are any.
"""

from __future__ import annotations

import hashlib
import json
import re
import stat
import sys
import tempfile
from pathlib import Path

from rattler import package_streaming

HASH = re.compile(r"h[0-9a-f]{7}(?=_[0-9]+)")
LIMIT = 5


def packages(cache: Path) -> dict[str, Path]:
    """Return the packages of a cache by their file names without the hash."""
    paths = sorted(cache.glob("packages/*/*.conda"))
    named = {HASH.sub("h*", path.name): path for path in paths}
    if len(named) != len(paths):
        sys.exit(f"{cache}: some packages are there in several versions of their build string")
    return named


def contents(package: Path) -> dict[str, tuple[int, str]]:
    """Return (mode, SHA-256 or link target) of each file, link and folder by its path."""
    entries = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "package"
        package_streaming.extract(package, folder)
        index = folder / "info/index.json"
        metadata = json.loads(index.read_bytes())
        metadata["build"] = HASH.sub("h*", metadata["build"])
        index.write_text(json.dumps(metadata))
        for path in folder.rglob("*"):
            mode, data = path.lstat().st_mode, ""
            if stat.S_ISLNK(mode):
                data = str(path.readlink())
            elif stat.S_ISREG(mode):
                data = hashlib.sha256(path.read_bytes()).hexdigest()
            entries[str(path.relative_to(folder))] = (mode, data)
    return entries


def main(caches: list[str]) -> int:
    """Compare two caches and return the exit status."""
    first, second = (packages(Path(cache)) for cache in caches)
    different = 0
    for name in sorted(first | second):
        if name not in first or name not in second:
            differences = [f"only in {caches[name not in first]}"]
        else:
            one, two = contents(first[name]), contents(second[name])
            differences = [path for path in sorted(one | two) if one.get(path) != two.get(path)]
        different += bool(differences)
        print(f"{'different' if differences else 'identical'}  {name}", *differences[:LIMIT])
    print(f"{len(first | second) - different} identical, {different} different")
    return bool(different)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
