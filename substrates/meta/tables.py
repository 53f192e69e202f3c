"""What the rewriter knows: substrates, imports, methods, names."""

from __future__ import annotations

import sys

SUBSTRATES = ("numpy", "jax", "tf")

# The packages under `phasic/` that `phasic.substrates.<s>` imports.
PUBLIC_PACKAGES = (
  *("binding", "config", "distributions", "graphs", "inference", "math"),
)
# Those of them that are imported when they are first asked for: a program that
# evaluates distributions does not pay for fits.
LATE_PACKAGES = frozenset({"inference"})

# Other modules that only have public names of modules.
PUBLIC_MODULES = (
  "graphs/models/__init__.py",
  "interop/__init__.py",
  "math/discrete_phase_type.py",
  "math/phase_type.py",
)

# What a substrate has besides, by name: the module of its seam that has it.
SUBSTRATE_NAMES: dict[str, dict[str, str]] = {
  "numpy": {},
  "jax": {"export": "exporting", "shard_batches": "sharding"},
  "tf": {},
}

# Packages below tests/ that are written once.
WRITTEN_ONCE_TESTS = frozenset({"helpers", "shared"})

# Packages below tests/ that are host code: imported by all, not rewritten.
SHARED_TESTS = frozenset({"oracle"})

# First components of `phasic.<x>` that exist once, not per substrate.
SHARED = frozenset({"_native", "__version__", "include"})

# First components that name a module when they stand in a string.
PACKAGES = (
  *("distributions", "graphs", "math", "inference"),
  *("binding", "config", "interop", "internal"),
)

ARRAY_IMPORT = {
  "numpy": "import numpy as np",
  "jax": "import jax.numpy as np",
  "tf": "from phasic.substrates.tf.internal import array_functions as np",
}

# What a branch on MODE, or the hand-written seam, may import besides.
FRAMEWORKS = {
  "numpy": frozenset[str](),
  "jax": frozenset({"jax", "jaxlib"}),
  "tf": frozenset({"tensorflow"}),
}

# `importlib` hides imports from the rewriter; `random` has hidden state.
SOURCE_IMPORTS = frozenset(sys.stdlib_module_names) - {"importlib", "random"}
# Packages that users may have: imported where they are needed, in functions.
OPTIONAL_IMPORTS = frozenset(
  {"matplotlib", "networkx", "scipy", "statsmodels", "tqdm"}
)
# Adapters to other packages, the substrates for which they are there, and what
# they import besides.
ADAPTERS: dict[str, dict[str, frozenset[str]]] = {
  "phasic/binding/jaxbind_callbacks.py": {"jax": frozenset()},
  "phasic/binding/jaxbind_compat.py": {"jax": frozenset({"jax"})},
  "phasic/interop/scipy.py": {"numpy": frozenset({"scipy"})},
  "phasic/interop/scipy_expectations.py": {"numpy": frozenset({"scipy"})},
  "phasic/interop/numpyro.py": {"jax": frozenset({"jax", "numpyro"})},
  "phasic/interop/tfp_constants.py": {
    "jax": frozenset(),
    "tf": frozenset(),
  },
  "phasic/interop/tfp_parameters.py": {
    "jax": frozenset({"tensorflow_probability"}),
    "tf": frozenset({"tensorflow_probability"}),
  },
  "phasic/interop/tfp.py": {
    "jax": frozenset({"tensorflow_probability"}),
    "tf": frozenset({"tensorflow_probability"}),
  },
}
TEST_IMPORTS = frozenset(sys.stdlib_module_names) | {
  *("absl", "pytest", "hypothesis", "scipy", "mpmath", "flint"),
}

# NumPy functions that exist, but write into their arguments, keep state,
# or compute with Python code where the other substrates trace.
REFUSED_ARRAY_NAMES = {
  "copyto": "writes in place",
  "put": "writes in place",
  "put_along_axis": "writes in place",
  "place": "writes in place",
  "putmask": "writes in place",
  "fill_diagonal": "writes in place",
  "vectorize": "calls Python per element; use control_flow.vmap",
  "random": "keeps hidden state; use phasic.internal.random",
  "errstate": "is NumPy's alone; use onp.errstate",
  "seterr": "changes global state; use onp.errstate",
}

# Names of NumPy that its oldest release in pyproject.toml, 2.0, lacks.
LATER_NUMPY_NAMES = frozenset(
  {"cumulative_prod", "cumulative_sum", "matvec", "unstack", "vecmat"}
)

# Those that a release after it has taken away.
GONE_NUMPY_NAMES = frozenset({"row_stack"})

# Submodules of the array namespace whose members are looked up.
ARRAY_SUBMODULES = ("linalg",)

# Array methods and attributes for which the dialect has a function. Names
# that the Distribution contract has too (mean, mode, copy, dtype) are left
# out: `x.mean()` on an array fails in TensorFlow, loudly, at run time.
_STATIC = "use static.shape, static.rank or onp on host values"
ARRAY_METHODS = {
  **{
    name: f"use np.{name}(x, ...)"
    for name in [
      "all",
      "any",
      "argmax",
      "argmin",
      "argsort",
      "astype",
      "choose",
      "clip",
      "compress",
      "conj",
      "conjugate",
      "cumprod",
      "cumsum",
      "diagonal",
      "dot",
      "imag",
      "max",
      "min",
      "nonzero",
      "prod",
      "ptp",
      "ravel",
      "real",
      "repeat",
      "reshape",
      "round",
      "searchsorted",
      "sort",
      "squeeze",
      "std",
      "sum",
      "swapaxes",
      "take",
      "trace",
      "transpose",
      "var",
    ]
  },
  "T": "use np.transpose(x) or np.swapaxes(x, -1, -2)",
  "mT": "use np.swapaxes(x, -1, -2)",
  "astype": "use np.asarray(x, dtype) or np.astype(x, dtype)",
  "flatten": "use np.reshape(x, (-1,))",
  "partition": "use np.sort(x)",
  **{name: _STATIC for name in ("shape", "ndim", "size", "itemsize", "nbytes")},
  **{
    name: "use static.concrete(x), then onp"
    for name in ("item", "tolist", "tobytes", "numpy")
  },
  **{
    name: "the dialect has no in-place stores"
    for name in ("at", "fill", "itemset", "put", "resize", "setflags")
  },
  "view": "the dialect has no views",
  "flat": "use np.reshape(x, (-1,))",
  "strides": "the dialect has no views",
}

# Array functions whose results are host values, with attributes of their own.
HOST_RESULTS = frozenset({"finfo", "iinfo", "dtype", "shape", "ndim", "size"})

# Builtins whose results are host values.
HOST_BUILTINS = frozenset(
  [
    "abs",
    "bool",
    "bytes",
    "dict",
    "enumerate",
    "float",
    "frozenset",
    "hash",
    "id",
    "int",
    "len",
    "list",
    "max",
    "min",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
  ]
)

# Functions of phasic.internal.random; their first argument is the seed.
RANDOM_FUNCTIONS = frozenset(
  [
    "sanitize_seed",
    "split_seed",
    "fold_in",
    "uniform",
    "exponential",
    "gamma",
    "categorical",
  ]
)
