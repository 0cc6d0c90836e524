"""C code for operations that Theano runs in Python.

- Split, in Theano 0.8.2: later versions have C code for it.
- AdvancedSubtensor and AdvancedIncSubtensor: reading and adding by arrays of integers.

The C code calls the functions of NumPy that Theano's Python code calls, so that values and errors
are the same. What it does not cover stays in Python.
"""

from theano import __version__
from theano.gof.type import Generic
from theano.gof.utils import MethodNotDefined
from theano.tensor.basic import Split
from theano.tensor.subtensor import AdvancedIncSubtensor, AdvancedSubtensor
from theano.tensor.type import TensorType
from theano.tensor.type_other import NoneTypeT, SliceType

SPLIT = """{
    PyArrayObject **parts[] = {%(parts)s};
    npy_intp sizes[%(count)d], shape[NPY_MAXDIMS], end = 0;
    npy_intp axis = *(%(axis_type)s *)PyArray_DATA(%(axis)s);
    axis += axis < 0 ? PyArray_NDIM(%(x)s) : 0;
    bool fits = PyArray_DIM(%(sizes)s, 0) == %(count)d && 0 <= axis && axis < PyArray_NDIM(%(x)s);
    for (int i = 0; fits && i < %(count)d; i++) {
        sizes[i] = *(%(size_type)s *)PyArray_GETPTR1(%(sizes)s, i);
        fits = 0 <= sizes[i] && sizes[i] <= PyArray_DIM(%(x)s, axis) - end;
        end += sizes[i];
    }
    if (!fits || end != PyArray_DIM(%(x)s, axis)) {
        PyObject *module = PyImport_ImportModule("theano_stacks_ops");
        if (module != NULL) {
            Py_XDECREF(PyObject_CallMethod(module, (char *)"split", (char *)"iOOO", %(count)d,
                                           %(x)s, %(axis)s, %(sizes)s));
            Py_DECREF(module);
        }
        %(fail)s
    }
    memcpy(shape, PyArray_DIMS(%(x)s), PyArray_NDIM(%(x)s) * sizeof(npy_intp));
    char *begin = PyArray_BYTES(%(x)s);
    for (int i = 0; i < %(count)d; i++) {
        shape[axis] = sizes[i];
        PyObject *part = PyArray_New(&PyArray_Type, PyArray_NDIM(%(x)s), shape,
                                     PyArray_TYPE(%(x)s), PyArray_STRIDES(%(x)s), begin, 0,
                                     PyArray_FLAGS(%(x)s), NULL);
        Py_XDECREF(*parts[i]);
        *parts[i] = NULL;
        if (part != NULL) {
            *parts[i] = (PyArrayObject *)PyArray_NewCopy((PyArrayObject *)part, NPY_CORDER);
            Py_DECREF(part);
        }
        if (*parts[i] == NULL) {
            %(fail)s
        }
        begin += sizes[i] * PyArray_STRIDE(%(x)s, axis);
    }
}"""

READ = """{
    PyObject *index = PyTuple_Pack(%(count)d, %(index)s);
    Py_XDECREF(%(out)s);
    %(out)s = NULL;
    if (index != NULL) {
        %(out)s = (PyArrayObject *)PyObject_GetItem((PyObject *)%(x)s, index);
        Py_DECREF(index);
    }
    if (%(out)s == NULL) {
        %(fail)s
    }
}"""

WRITE = """{
    PyObject *index = PyTuple_Pack(%(count)d, %(index)s);
    Py_XDECREF(%(out)s);
    %(out)s = (PyArrayObject *)PyArray_NewCopy(%(x)s, NPY_CORDER);
    bool done = false;
    if (index != NULL && %(out)s != NULL) {
        %(write)s
    }
    Py_XDECREF(index);
    if (!done) {
        %(fail)s
    }
}"""

SET = "done = PyObject_SetItem((PyObject *)%(out)s, index, (PyObject *)%(y)s) == 0;"

# As numpy.add.at does it.
ADD = """
        PyArrayMapIterObject *places =
            (PyArrayMapIterObject *)PyArray_MapIterArray(%(out)s, index);
        PyArrayObject *y = %(y)s;
        Py_INCREF(y);
        if (places != NULL && places->subspace != NULL && places->consec) {
            PyArray_MapIterSwapAxes(places, &y, 0);
        }
        PyArrayIterObject *values = places == NULL || y == NULL ? NULL :
            (PyArrayIterObject *)PyArray_BroadcastToShape((PyObject *)y, places->dimensions,
                                                          places->nd);
        if (values != NULL) {
            for (npy_intp left = places->size; left > 0; left--) {
                *(%(type)s *)places->dataptr += *(%(type)s *)values->dataptr;
                PyArray_MapIterNext(places);
                PyArray_ITER_NEXT(values);
            }
            done = true;
        }
        Py_XDECREF(values);
        Py_XDECREF(y);
        Py_XDECREF(places);
"""


def split(count, x, axis, sizes):
    """Split by Theano's own Python code, for its errors."""
    Split(count).perform(None, (x, axis, sizes), [[None] for _ in range(count)])


def _split_code(self, node, name, inputs, outputs, sub):
    types = [each.type for each in node.inputs]
    if not isinstance(types[0], TensorType) or not _computes_as(self, Split):
        raise MethodNotDefined("c_code")
    return SPLIT % {
        "count": self.len_splits,
        "parts": ", ".join("&" + each for each in outputs),
        "x": inputs[0],
        "axis": inputs[1],
        "axis_type": types[1].dtype_specs()[1],
        "sizes": inputs[2],
        "size_type": types[2].dtype_specs()[1],
        "fail": sub["fail"],
    }


def _computes_as(op, operation):
    """Return whether an operation has the `perform` of a class, not one of a subclass of it."""
    functions = [getattr(each.perform, "__func__", each.perform) for each in (type(op), operation)]
    return functions[0] is functions[1]


def _read_code(self, node, name, inputs, outputs, sub):
    if not _computes_as(self, AdvancedSubtensor):
        raise MethodNotDefined("c_code")
    return READ % _words(node, 1, inputs, outputs, sub)


def _write_code(self, node, name, inputs, outputs, sub):
    if not _computes_as(self, AdvancedIncSubtensor):
        raise MethodNotDefined("c_code")
    words = dict(_words(node, 2, inputs, outputs, sub), y=inputs[1])
    if self.set_instead_of_inc:
        return WRITE % dict(words, write=SET % words)
    x, y = (each.type.dtype for each in node.inputs[:2])
    if x != y or x not in ("float32", "float64"):
        raise MethodNotDefined("c_code")
    words["type"] = node.inputs[0].type.dtype_specs()[1]
    return WRITE % dict(words, write=ADD % words)


def _words(node, first, inputs, outputs, sub):
    """Return what the C code of an operation names, whose index begins at input `first`.

    Raises MethodNotDefined where an input is not an array of this machine's memory, or where no
    index is an array.
    """
    types = [each.type for each in node.inputs]
    if not all(isinstance(each, (TensorType, SliceType, NoneTypeT)) for each in types):
        raise MethodNotDefined("c_code")
    if not any(isinstance(each, TensorType) and each.ndim > 0 for each in types[first:]):
        raise MethodNotDefined("c_code")
    return {
        "x": inputs[0],
        "index": ", ".join("(PyObject *)" + each for each in inputs[first:]),
        "count": len(types) - first,
        "out": outputs[0],
        "fail": sub["fail"],
    }


def _version(self):
    return (1,)


def _fix():
    operations = [(AdvancedSubtensor, _read_code), (AdvancedIncSubtensor, _write_code)]
    if __version__.startswith("0.8."):
        operations.append((Split, _split_code))
    for operation, code in operations:
        operation.c_code, operation.c_code_cache_version = code, _version
        # NumPy's functions know float16.
        operation._f16_ok = True
    for name in ("declare", "init", "extract", "cleanup", "sync", "code_cache_version"):
        setattr(SliceType, "c_" + name, vars(Generic)["c_" + name])


_fix()
