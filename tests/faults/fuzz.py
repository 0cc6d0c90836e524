"""Random changes of the text files that are read: settings, recipes, pins, locks, reports."""

import json
from pathlib import Path
from random import Random

from faults.room import Trial
from faults.trees import broken, remove

# Texts that mean something in one of the languages that values are written into or read from.
NASTY = (
    "..", "../../../beside/evil", "/etc/passwd", "a/b", "\n[global]\ncxx = evil\n", '"\n',
    "\n  - x: y\n", "&a [*a]", "*a", "!!python/object/apply:os.system ['true']", "<<: {a: b}",
    "\x00", "\x85", "\u2028", "\ud7ff", "\ufeff", "é" * 50, "$(touch evil)", "`touch evil`", "%s",
    "${HOME}", "--index-url=http://127.0.0.1:9/", "\\", "'", '"', "# ", ": ", "- ", "{", "[", "}",
    "0x7fffffffffffffffff", "1e999999", "-1", ".nan", "null", "~", "true", "2021-01-01",
    "{" * 20_000, "[" * 20_000, "- " * 5_000, "9" * 5_000, "x" * 300_000, "\t", "\r", "---\n",
    "...\n", "? ", "> ", "| ", "@", "%YAML 1.1\n---\n", "\x1b[31m",
)  # fmt: skip
BOMB = "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}' if n else 'lol'] * 9)}]\n" for n in range(9))
SETTINGS = (
    "envs/variants/by-conda.yaml", "envs/variants/by-pip.yaml", "envs/frameworks/tiny.yaml",
    "envs/blas/openblas.yaml", "recipes/six/recipe.yaml", "recipes/wheel-0.37/recipe.yaml",
)  # fmt: skip
LOCKS = (
    "recipes/sources.lock", "envs/locks/tiny/by-conda/conda-lock.yml",
    "envs/locks/tiny/by-conda/environment.yml", "envs/locks/tiny/by-pip/conda-lock.yml",
    "envs/locks/tiny/by-pip/requirements.txt",
)  # fmt: skip
STATE = (
    "etc/theano-stacks/ready.json", "etc/theano-stacks/expect.json", "etc/theanorc",
    "etc/theano-stacks/files.json", "conda-meta/six-*.json",
)  # fmt: skip


def mutate(random: Random, data: bytes) -> tuple[bytes, str]:
    """Return changed bytes of a text file, and what was done."""
    lines = data.splitlines(keepends=True) or [b"\n"]
    way = random.choice(
        ("insert", "insert", "replace value", "replace value", "flip", "drop", "double", "swap",
         "indent", "cut", "garbage", "bomb", "empty")
    )  # fmt: skip
    place = random.randrange(len(lines))
    nasty = random.choice(NASTY).encode("utf-8", "surrogatepass")
    shown = nasty[:40]
    if way == "insert":
        column = random.randrange(len(lines[place]) + 1)
        lines[place] = lines[place][:column] + nasty + lines[place][column:]
        return b"".join(lines), f"{shown!r} in line {place + 1}, column {column}"
    if way == "replace value":
        head, colon, _ = lines[place].partition(b": ")
        quoted = json.dumps(nasty.decode(errors="replace")).encode()
        value = random.choice((nasty, quoted))
        lines[place] = head + colon + value + b"\n"
        return b"".join(lines), f"the value {shown!r} in line {place + 1}"
    if way in ("flip", "cut", "garbage", "empty"):
        return broken(random, data, way), way
    if way == "bomb":
        return data + BOMB.encode(), "nested aliases at the end"
    if way == "drop":
        del lines[place]
    elif way == "double":
        lines.insert(random.randrange(len(lines)), lines[place])
    elif way == "swap":
        other = random.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines[place] = b" " * random.randint(1, 5) + lines[place]
    return b"".join(lines), f"{way} line {place + 1}"


def spoil(trial: Trial, path: Path) -> None:
    data = path.read_bytes()
    for _ in range(trial.random.choice((1, 1, 1, 3))):
        data, what = mutate(trial.random, data)
        trial.tell(f"{path.relative_to(trial.room.root)}: {what}")
    path.unlink()
    path.write_bytes(data)


def play(trial: Trial, files: tuple[str, ...]) -> None:
    """Change a committed file; commands refuse it by name, or make the locked environment."""
    room, random = trial.room, trial.random
    path = room.root / random.choice(files)
    before = path.read_bytes()
    variant = "by-pip" if "by-pip" in str(path) else "by-conda"
    spoil(trial, path)
    room.without()
    words = random.choice(
        (("make", "--variant", variant), ("make", "--variant", variant), ("list",),
         ("lock", "--check"))
    )  # fmt: skip
    done = room.run(*words)
    names = (path.name, path.parent.name, variant, "tiny", path.stem)
    if words[0] == "make":
        room.check_result(done, variant, *names)
    elif done.status:
        room.check_error(done, *names)
    remove(path)
    path.write_bytes(before)
    room.check_undisturbed(variant)


def play_state(trial: Trial) -> None:
    """Change what an environment, or a report, says of itself."""
    room, random = trial.room, trial.random
    variant = random.choice(("by-conda", "by-pip"))
    if random.random() < 0.3:
        path = room.root / "build/reports/tiny" / f"{variant}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{\n "schema": 1,\n "passed": true,\n "checks": []\n}\n')
    else:
        names = [n for pattern in STATE for n in sorted(room.place(variant).glob(pattern))]
        path = random.choice(names)
    spoil(trial, path)
    done = room.run(*random.choice((("list",), ("verify", "--variant", variant))))
    if done.status:
        done.check(done.status in (1, 2), "expected the exit status 0, 1 or 2")
        text = done.out + done.err
        done.check("error: " in text and "fix" in text, "expected an error with a fix")
        done.check(not (room.root / "evil").exists(), "a value was run as a command")
    room.run("make", "--variant", variant)
    room.check_undisturbed(variant)
