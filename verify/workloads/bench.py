"""Time this interpreter's environment: a result as `./invoke bench` writes it, of one variant.

Each turn is a process, the one that the bench starts, under the same variables: both
follow verify/workloads/rounds.py. An image runs this program; `./invoke bench --images` has several
images take turns by it.
"""

from __future__ import absolute_import, division, print_function

import argparse
import json
import os
import re
import sys
import time

from verify import table
from verify.blas import kernels
from verify.core import expectation as expectations
from verify.core import machine, process, program, progress, report
from verify.core.portable import monotonic
from verify.workloads import rounds

# As results/result.schema.json and docs/guides/bench.md have them.
SCHEMA = 1
IMAGE = re.compile("sha256:[0-9a-f]{64}$")
UNKNOWN = "unknown"


class TurnError(Exception):
    """A process of a turn failed, or its answer is no measurement."""


def main(argv):
    """Run the program and return its exit status."""
    return program.exit_status("bench", run, parse(argv))


def parse(argv):
    """Return the parsed arguments. Invalid ones end the program with status 2."""
    parser = argparse.ArgumentParser(
        prog="bench", description="Time this environment; print the medians, or write the result."
    )
    parser.add_argument(
        "--workload",
        type=_workloads,
        default=rounds.OF_IMAGES,
        metavar="NAMES",
        help="workloads to time, with commas (default: %s)" % ",".join(rounds.OF_IMAGES),
    )
    parser.add_argument(
        "--rounds",
        type=program.positive,
        metavar="N",
        help="number of rounds (default: %d; with --full %d)"
        % (rounds.QUICK_ROUNDS, rounds.ROUNDS),
    )
    parser.add_argument(
        "--round",
        type=program.positive,
        metavar="N",
        help="take only this round: others take turns. The first one warms up and measures the "
        "processor's peak",
    )
    parser.add_argument(
        "--threads",
        type=program.positive,
        default=machine.usable_cores(),
        metavar="N",
        help="threads of the BLAS library (default: all usable processors)",
    )
    parser.add_argument(
        "--full", action="store_true", help="time all sizes, with more samples and calls"
    )
    parser.add_argument(
        "--image-digest",
        type=_image,
        default=os.environ.get("THEANO_STACKS_IMAGE", UNKNOWN),
        metavar="DIGEST",
        help="what `docker image inspect --format {{.Id}} IMAGE` prints, for the result (default: "
        "the variable THEANO_STACKS_IMAGE)",
    )
    parser.add_argument("--expect", metavar="FILE", required=True, help="the expectation file")
    parser.add_argument("--json", metavar="FILE", help="write the result to FILE")
    parser.add_argument("--debug", action="store_true", help="print tracebacks")
    return parser.parse_args(argv)


def _workloads(text):
    names = tuple(word for word in text.split(",") if word)
    known = rounds.KERNELS + rounds.PROGRAMS
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        known = ", ".join(known)
        raise argparse.ArgumentTypeError("%s: not of %s" % (", ".join(unknown) or text, known))
    return names


def _image(text):
    if text != UNKNOWN and not IMAGE.match(text):
        raise argparse.ArgumentTypeError("%r is no digest: sha256: and 64 digits" % text)
    return text


def run(arguments):
    """Take all turns, print the medians or write the result; return the exit status."""
    expected = expectations.load(arguments.expect)
    if "lock" not in expected:
        return program.cannot_run(
            "bench", "%s names no lock" % arguments.expect, "use ./invoke bench outside an image"
        )
    device = expected["flags"].get("device", "cpu")
    if device != "cpu":
        return program.cannot_run(
            "bench",
            "this environment computes on a device (%s)" % device,
            "use ./invoke bench outside an image, or `verify`, which times the device",
        )
    began, start = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), monotonic()
    is_first = arguments.round in (None, 1)
    count = arguments.rounds or (rounds.ROUNDS if arguments.full else rounds.QUICK_ROUNDS)
    numbers = [arguments.round] if arguments.round else range(1, count + 1)
    try:
        with program.temporary_folder() as folder:
            peaks = _peaks(expected, folder) if is_first else {}
            for name in arguments.workload if is_first else ():
                progress.note("warming up: %s" % name)
                _series(name, expected, arguments, folder)
            runs, rounds_began = [], monotonic()
            for done, number in enumerate(numbers):
                _show(number, done, numbers, monotonic() - rounds_began)
                runs += [_run(number, n, expected, arguments, folder) for n in arguments.workload]
    except (TurnError, process.NoCompilerError) as error:
        fix = "see the message above; `verify` names what is wrong with the environment"
        return program.cannot_run("bench", error, fix)
    progress.end()
    content = {
        "schema": SCHEMA,
        "began": began,
        "seconds": round(monotonic() - start, 1),
        # An image has no checkout.
        "commit": None,
        "changed": False,
        "machine": machine.described(peaks),
        "settings": {
            "workloads": arguments.workload,
            "rounds": len(numbers),
            "threads": [arguments.threads],
            "quick": not arguments.full,
            "pinned": False,
            "quota": machine.quota_and_file()[0],
        },
        "subjects": [_subject(expected, arguments.image_digest)],
        "runs": runs,
        "remarks": [],
    }
    if arguments.json:
        report.write(arguments.json, content)
    table.show("\n".join(table.timing_lines(_timings(runs))) + "\n")
    return 0


def _show(number, done, numbers, seconds):
    """Print a line for a round that begins; on a terminal notes show each turn."""
    if len(numbers) > 1 and not sys.stderr.isatty():
        left = ", about %d s left" % (seconds / done * (len(numbers) - done)) if done else ""
        progress.log("round %d of %d%s ..." % (number, numbers[-1], left))


def _subject(expected, image):
    keys = ("name", "version", "sha256")
    return {
        "framework": expected["framework"],
        "flavour": expected["variant"],
        "baseline": expected["baseline"],
        "lock": expected["lock"],
        "image": image,
        "packages": [{key: package[key] for key in keys} for package in expected["packages"]],
    }


def _peaks(expected, folder):
    progress.note("measuring this machine's peak")
    return kernels.peaks(kernels.load_peak(expected["flags"].get("cxx", "g++"), folder))


def _run(number, name, expected, arguments, folder):
    progress.note("round %d: %s" % (number, name))
    before, start = machine.counters(), monotonic()
    series = _series(name, expected, arguments, folder)
    seconds = monotonic() - start
    return {
        "subject": "%s/%s" % (expected["framework"], expected["variant"]),
        "workload": name,
        "threads": arguments.threads,
        "round": number,
        "start": number,
        "seconds": seconds,
        "noise": machine.noise_between(before, machine.counters(), machine.usable_cores()),
        "series": series,
    }


def _series(name, expected, arguments, folder):
    """Take one turn and return its series. Raises TurnError."""
    module, quick = expected["module"], not arguments.full
    variables = rounds.variables(os.environ, module, arguments.threads)
    if name in rounds.KERNELS:
        words = rounds.kernel_words(module, name, quick)
        done = _done(process.suite_command("bench-probe", *words), variables)
        # Standard error is in it, too.
        answer = process.answer(done, '{"series"')
        if answer is None:
            raise TurnError("%s: no measurement: %s" % (name, done.output.strip()[-200:]))
        series = answer["series"]
        return [dict(one, samples=rounds.rounded(one["samples"])) for one in series]
    series = []
    for ending in rounds.endings(module, expected["version"], name):
        series += _of_program(name, ending, quick, variables, folder)
    return series


def _of_program(name, ending, quick, variables, folder):
    path = os.path.join(folder, "report.json")
    words = rounds.program_words(name, ending, quick)
    words += ["--calls", str(rounds.calls_of(name, quick)), "--quiet", "--json", path]
    _done(process.suite_command("workload", *words), variables)
    with open(path) as file:
        cases = json.load(file)["cases"]
    return [rounds.series(name, ending, case, case["seconds"], False) for case in cases]


def _done(command, variables):
    """Return the Done of a process. Raises TurnError with its last lines if it has failed."""
    done = process.call(command, rounds.LIMIT, variables)
    if done.timed_out:
        raise TurnError("%s: no answer within %d s" % (" ".join(command[2:4]), rounds.LIMIT))
    if done.status:
        words = (command[2], done.status, done.output.strip()[-2000:])
        raise TurnError("%s: exit status %d\n%s" % words)
    return done


def _timings(runs):
    """Return the samples of all rounds, as the table of a verification shows them."""
    samples = {}
    for one in runs:
        for series in one["series"]:
            samples.setdefault((series["name"], series["unit"]), []).extend(series["samples"])
    return [report.timing(*key + (samples[key],))._asdict() for key in sorted(samples)]
