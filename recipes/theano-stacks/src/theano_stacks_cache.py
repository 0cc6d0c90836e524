"""Keep optimised graphs, so that the next start of a program need not optimise them again.

theano_stacks_quick imports it; `import theano_stacks_cache` does the same without the rest.

theano_stacks_keys names a graph. The values of shared variables are not part of the name: the
optimiser does not use them. Where something cannot be hashed, or a file is damaged, Theano
optimises the graph.

The graphs lie in the compile folder, beside the compiled modules. Like those, they are code that a
program executes: only the user's own files are used.
"""

import logging
import os

import theano
from theano.compile import function_module
from theano.gof import DestroyHandler

import theano_stacks_modules
from theano_stacks_keys import is_optimised, key_of
from theano_stacks_links import Links
from theano_stacks_packs import packed, pickle, unpacked

FOLDER = "theano_stacks_graphs"
# Total size of the files, bytes.
LIMIT = 200 * 10**6
LOGGER = logging.getLogger("theano.stacks_cache")
OPTIMISER = logging.getLogger("theano.gof.opt")
# Numbers of graphs taken from the folder, kept there, and optimised without being kept.
found = {"hits": 0, "kept": 0, "not kept": 0}
_stores = {}


class _Errors(logging.Filter):
    """Counts the optimisations that fail, for want of memory or of recursion.

    Theano logs them and goes on; the next start may have more. Its limit of an optimiser's work is
    logged as well, and is the same in each start.
    """

    count = 0

    def filter(self, record):
        is_limit = str(record.msg).startswith("EquilibriumOptimizer max'ed out")
        self.count += record.levelno >= logging.ERROR and not is_limit
        return True

    def is_none(self):
        """Return whether none failed; not where Theano does not say so."""
        is_told = theano.config.on_opt_error != "ignore" and OPTIMISER.isEnabledFor(logging.ERROR)
        return is_told and not self.count


def _store():
    """Return the store in the compile folder, None where it is not safe or cannot be written."""
    folder = os.path.join(str(theano.config.compiledir), FOLDER)
    if folder not in _stores:
        _stores[folder] = theano_stacks_modules.opened(folder, "graphs are not kept", LIMIT)
    return _stores[folder]


def optimize_graph_with_cache(self, optimizer, inputs, outputs):
    """Take a kept graph, or optimise; replaces FunctionMaker's own method, which is unfinished."""
    if not is_optimised(self):
        return optimizer(self.fgraph)
    store = _store()
    try:
        key = key_of(self) if store else None
    except Exception as error:
        LOGGER.info("not kept: %s", error)
        key = None
    if key is None:
        found["not kept"] += 1
        return optimizer(self.fgraph)
    if _take(self.fgraph, store, key):
        found["hits"] += 1
        return None
    errors = _Errors()
    OPTIMISER.addFilter(errors)
    try:
        profile = optimizer(self.fgraph)
    finally:
        OPTIMISER.removeFilter(errors)
    is_kept = errors.is_none() and _keep(self.fgraph, store, key)
    found["kept" if is_kept else "not kept"] += 1
    return profile


def _take(fgraph, store, key):
    """Replace a graph by the kept one; return whether that worked."""
    content = store.take(key)
    if content is None:
        return False
    try:
        destroys, graph = pickle.loads(content)
        outputs, nodes = unpacked(fgraph.inputs, graph)
    except Exception as error:
        store.drop(key, "it cannot be used: %r" % error)
        return False
    before = list(fgraph.outputs)
    try:
        _set_outputs(fgraph, outputs)
        if destroys and not hasattr(fgraph, "destroyers"):
            fgraph.attach_feature(DestroyHandler())
        fgraph.execute_callbacks("validate")
    except Exception as error:
        store.drop(key, "it does not fit: %r" % error)
        _set_outputs(fgraph, before)
        return False
    fgraph.theano_stacks_links = Links(store, key, nodes)
    return True


def _set_outputs(fgraph, outputs):
    for place, output in enumerate(outputs):
        fgraph.change_input("output", place, output, reason="theano_stacks_cache")


def _keep(fgraph, store, key):
    """Write an optimised graph in one step; return whether that worked."""
    destroys = hasattr(fgraph, "destroyers")
    try:
        graph, nodes = packed(fgraph.inputs, fgraph.outputs)
        content = pickle.dumps((destroys, graph), 2)
    except Exception as error:
        LOGGER.info("not kept: %r", error)
        return False
    if not store.keep(key, content):
        return False
    fgraph.theano_stacks_links = Links(store, key, nodes)
    return True


def _with_requested_mode(make):
    def __init__(self, inputs, outputs, mode=None, *positional, **named):
        self.requested_mode = mode
        make(self, inputs, outputs, mode, *positional, **named)

    return __init__


def _with_links(create):
    def wrapper(self, *positional, **named):
        function = create(self, *positional, **named)
        links = vars(self.fgraph).pop("theano_stacks_links", None)
        if links is not None:
            links.keep()
        return function

    return wrapper


def _fix():
    maker = function_module.FunctionMaker
    maker.__init__ = _with_requested_mode(maker.__init__)
    maker.create = _with_links(maker.create)
    maker.optimize_graph_with_cache = optimize_graph_with_cache
    theano.config.cache_optimizations = True


_fix()
