"""Tables of the rewriter: substrates, imports, methods and names."""

from __future__ import annotations

import sys

SUBSTRATES = ("numpy", "jax", "tf")

# Public packages of applications, lowest first. They use the other packages by
# their public names alone (tools/rooms/wings.py).
WINGS = ("covariates", "regression", "multistate")
# The public packages: `phasic.substrates.<s>` has them as attributes.
PUBLIC_PACKAGES = (
  *("binding", "config", "distributions", "graphs", "inference", "math"),
  *WINGS,
)
# Public packages that are imported on first use, so that a program that only
# evaluates distributions does not import the code that fits them.
LATE_PACKAGES = frozenset({"inference", *WINGS})

# Other modules that only import public names.
PUBLIC_MODULES = (
  "graphs/models/__init__.py",
  "inference/datasets/__init__.py",
  "interop/__init__.py",
  "math/discrete_phase_type.py",
  "math/phase_type.py",
)

# Names that only some substrates have, with the backend module of each.
SUBSTRATE_NAMES: dict[str, dict[str, str]] = {
  "numpy": {},
  "jax": {"export": "exporting", "shard_batches": "sharding"},
  "tf": {},
}

# Folders of tests/ that are written once and rewritten.
WRITTEN_ONCE_TESTS = frozenset({"helpers", "shared"})

# Folders of tests/ with host code: all tests import them, without rewriting.
SHARED_TESTS = frozenset({"oracle"})

# Names after `phasic.` that exist once for all substrates.
SHARED = frozenset({"_native", "__version__", "include"})

# Packages of phasic. The rewriter refuses strings that name a module of one of
# these packages, such as "phasic.math.model".
PACKAGES = (
  *("distributions", "graphs", "math", "inference", *WINGS),
  *("binding", "config", "interop", "internal", "saving"),
)

ARRAY_IMPORT = {
  "numpy": "import numpy as np",
  "jax": "import jax.numpy as np",
  "tf": "from phasic.substrates.tf.internal import array_functions as np",
}

# Additional imports allowed in branches on MODE and in backend-specific files.
FRAMEWORKS = {
  "numpy": frozenset[str](),
  "jax": frozenset({"jax", "jaxlib"}),
  "tf": frozenset({"tensorflow"}),
}

# `importlib` hides imports from the rewriter, and `random` has hidden state, so
# neither may be imported.
SOURCE_IMPORTS = frozenset(sys.stdlib_module_names) - {"importlib", "random"}
# Optional packages: they may be imported in functions only.
OPTIONAL_IMPORTS = frozenset(
  {
    *("formulaic", "matplotlib", "networkx", "pandas", "scipy"),
    *("statsmodels", "tqdm"),
  }
)
# Adapters to other packages: by the start of a file's path, the substrates that
# get the file, and the imports that are allowed in each of them.
ADAPTERS: dict[str, dict[str, frozenset[str]]] = {
  "phasic/binding/jaxbind": {"jax": frozenset({"jax"})},
  "phasic/interop/numpyro": {"jax": frozenset({"jax", "numpyro"})},
  "phasic/interop/scipy": {"numpy": frozenset({"scipy"})},
  "phasic/interop/tfp": {
    "jax": frozenset({"tensorflow_probability"}),
    "tf": frozenset({"tensorflow_probability"}),
  },
}


def adapter_imports(path: str) -> dict[str, frozenset[str]] | None:
  """Returns the imports of an adapter by substrate, None for other files."""
  return next(
    (found for start, found in ADAPTERS.items() if path.startswith(start)), None
  )


TEST_IMPORTS = frozenset(sys.stdlib_module_names) | {
  *("absl", "pytest", "hypothesis", "scipy", "mpmath", "flint"),
  *("formulaic", "pandas", "statsmodels"),
}

# NumPy functions that write into arguments, keep state, or run Python code in
# place of traced operations.
REFUSED_ARRAY_NAMES = {
  "copyto": "writes in place",
  "put": "writes in place",
  "put_along_axis": "writes in place",
  "place": "writes in place",
  "putmask": "writes in place",
  "fill_diagonal": "writes in place",
  "vectorize": "calls Python per element; write it for all of them",
  "random": "keeps hidden state; use phasic.internal.random",
  "errstate": "is NumPy's alone; use onp.errstate",
  "seterr": "changes global state; use onp.errstate",
}

# Products of arrays, which JAX is asked to compute in full precision.
PRODUCTS = frozenset(
  {"dot", "einsum", "inner", "matmul", "tensordot", "vdot", "vecdot"}
)

# Names that NumPy 2.0, the oldest version in pyproject.toml, does not have.
LATER_NUMPY_NAMES = frozenset(
  {"cumulative_prod", "cumulative_sum", "matvec", "unstack", "vecmat"}
)

# Names of NumPy 2.0 that a later version has removed.
GONE_NUMPY_NAMES = frozenset({"row_stack"})

# Submodules of the array namespace whose members are checked too.
ARRAY_SUBMODULES = ("linalg",)

# Array methods and attributes that source must replace by functions. Names that
# distributions also have (mean, mode, copy, dtype) are not listed, as the
# rewriter cannot distinguish a distribution from an array. For an array,
# `x.mean()` then fails in TensorFlow at run time.
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

# Array functions whose results are host values with their own attributes.
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

# Functions of phasic.internal.random whose first argument is the seed.
RANDOM_FUNCTIONS = frozenset(
  [
    "sanitize_seed",
    "split_seed",
    "fold_in",
    "uniform",
    "exponential",
  ]
)
