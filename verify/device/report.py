"""What was found on the device, as checks and timings, and as part of the report."""

from __future__ import absolute_import, division, print_function

from verify.core.report import failed, passed, skipped, timing

PRECISION = 1e-4
LEAST_OF_BLAS = 0.8
COMPUTED = (
    "Gemm",
    "Gemv",
    "elementwise",
    "reduce",
    "softmax",
    "convolution",
    "scan",
    "training step",
)
# What the framework cannot do on a kind of device: the words that it fails with there, and why. It
# is told as such: neither passed, nor failed as if this environment could fix it.
SCAN = (
    "This is for CUDA arrays",
    "pygpu gives no address of an OpenCL array, which Theano's scan asks for",
)
# Views of an input, before it is moved.
VIEWS = {"Subtensor"}
# The op that stays on the host, and why; and what is then done with its result.
ENTROPY = (
    "CrossentropySoftmaxArgmax1HotWithBias",
    "its kernel is not valid OpenCL, so this environment's settings leave it on the host",
)
LOSS = {ENTROPY[0], "Sum", "Elemwise of true_div", "Elemwise of TrueDiv", "Elemwise of Composite"}


def describe(device, asked):
    """Return one line about a device, for people."""
    return "%s: %s (%s)" % (asked, device["name"], device["driver"])


def checks_and_timings(context, results):
    """Return ([Check], [Timing]) of the steps' results; context.device gets what else there is."""
    is_opencl = context.requested_device.startswith("opencl")
    computed = [name for name in COMPUTED if name in results]
    checks, timings = [_computed(name, results[name], is_opencl) for name in computed], []
    context.device["operations"] = {
        name: results[name]["result"]["places"] for name in computed if "result" in results[name]
    }
    if "left on the host" in results:
        checks.append(_left(results["left on the host"], is_opencl))
    if "speed" in results:
        check, rates = _speed(context, results["speed"])
        checks.append(check)
        timings += rates
    if "optimiser" in results:
        context.device["optimiser"] = results["optimiser"].get("result")
    for name in ("optimiser", "large optimiser"):
        if name in results:
            check, times = _optimiser(name, results[name])
            checks.append(check)
            timings += times
    return checks, timings


def _computed(name, message, is_opencl):
    title = "device: " + name
    if "error" in message:
        return failed(title, message["error"], _fix(name))
    result = message["result"]
    detail = "%s; off by %.0e" % (_places(result["places"]), result["error"])
    if not result["error"] <= PRECISION:
        return failed(title, "wrong numbers: " + detail, _fix(name))
    refused = result.get("refused", "")
    if is_opencl and SCAN[0] in refused:
        return skipped(title, "not on OpenCL (%s: %s); on the host: %s" % (SCAN + (detail,)))
    if refused:
        return failed(title, refused, _fix(name))
    fallen = sorted(set(result["places"]["host"]) - VIEWS)
    if is_opencl and ENTROPY[0] in fallen and not set(fallen) - LOSS:
        return skipped(title, "%s is not on OpenCL: %s; %s" % (ENTROPY + (detail,)))
    if not result["served"] or fallen:
        return failed(
            title, "on the host: %s; %s" % (", ".join(fallen) or "all", detail), _fix(name)
        )
    return passed(title, detail)


def _places(places):
    done = ", ".join("%s %d" % item for item in sorted(places["device"].items()))
    words = [done or "nothing on the device"]
    if places["host"]:
        host = ", ".join("%s %d" % item for item in sorted(places["host"].items()))
        words.append("host: " + host)
    words.append("transfers: %d to, %d from" % (places["to_device"], places["from_device"]))
    return "; ".join(words)


def _left(message, is_opencl):
    title = "device: left on the host"
    if "error" in message:
        return failed(title, message["error"], _fix("the optimiser"))
    found = ", ".join("%s (%s)" % item for item in sorted(message["result"].items()))
    if not found:
        return passed(title, "none of the functions that are looked at")
    why = "Theano has no OpenCL kernels for them" if is_opencl else "Theano leaves them there"
    return skipped(title, "%s: %s" % (why, found))


def _speed(context, message):
    title = "device: Gemm speed"
    if "error" in message:
        return failed(title, message["error"], _fix("Gemm")), []
    found = message["result"]
    best, alone = max(found["theano"]), max(found["alone"])
    detail = "%.1f GFLOP/s at %d, %.0f %% of %s alone (%.1f)" % (
        best,
        found["size"],
        100 * best / alone,
        found["blas"],
        alone,
    )
    highest, kind = _peak(context)
    if highest:
        detail += ", %.0f %% of the %s peak" % (100 * best / highest, kind)
    timings = [
        timing("device Gemm float32 %d" % found["size"], "GFLOP/s", found["theano"]),
        timing("device BLAS alone float32 %d" % found["size"], "GFLOP/s", found["alone"]),
        timing("device check_blas float32 %d" % found["size"], "s", [found["check_blas"]]),
    ]
    if best < LEAST_OF_BLAS * alone:
        fix = "Theano adds too much around the product: look for transfers in a profile"
        return failed(title, detail, fix), timings
    return passed(title, detail), timings


def _peak(context):
    if context.device["is_cpu"]:
        peaks = context.peaks.get("float32")
        return (peaks[max(peaks)], "measured") if peaks else (None, None)
    return context.device["peak"], "nominal"


def _optimiser(name, message):
    title = "device: " + name
    if "error" in message:
        return failed(title, message["error"], _fix("the optimiser")), []
    result, words, times = message["result"], [], []
    lost = []
    for tag in ("fast_run", "fast_compile"):
        if tag not in result:
            continue
        run = result[tag]
        graph, local = min(run["graph"]), min(run["local"])
        words.append(
            "%s: %d nodes, moved in %.2f s by GraphToGPU and in %.2f s by the local optimiser "
            "(ratio %.2f), all optimisers %.1f s; %d on the device, %d on the host"
            % (
                tag,
                run["nodes"][0],
                graph,
                local,
                graph / local,
                run["seconds"],
                run["device"],
                sum(run["host"].values()),
            )
        )
        times += [
            timing("%s %s, GraphToGPU" % (name, tag), "s", run["graph"]),
            timing("%s %s, local" % (name, tag), "s", run["local"]),
            timing("%s %s, all" % (name, tag), "s", [run["seconds"]]),
        ]
        if run["device"] <= sum(run["host"].values()) or not run["rows"]:
            lost.append(tag)
    detail = "; ".join(words)
    if lost:
        return failed(title, "most nodes stay on the host: " + detail, _fix("the optimiser")), times
    return passed(title, detail), times


def _fix(name):
    return (
        "take what is of the user's own out of THEANO_FLAGS and ~/.theanorc and verify again; if "
        "%s still fails, this driver and libgpuarray do not fit: take another driver" % name
    )


def table(device):
    """Return the lines of GraphToGPU's own table, one per part that did something."""
    result = (device or {}).get("optimiser")
    if not result:
        return []
    run = result["fast_run"]
    lines = [
        "GraphToGPU on a stack of %d bidirectional recurrent layers of %d units, %d steps, with "
        "its gradient: %d nodes"
        % (result["layers"], result["width"], result["steps"], run["nodes"][1]),
        "time - times applied - nodes created - name:",
    ]
    keys = ("seconds", "applied", "created", "name")
    lines += ["%.3fs - %d - %d - %s" % tuple(row[key] for key in keys) for row in run["rows"]]
    return lines + [""]
