"""Makes your own functions differentiable ops of the backend."""

from phasic.binding.array_rules import ArrayCode
from phasic.binding.array_rules import array_code
from phasic.binding.functions import BoundFunction
from phasic.binding.functions import bind
from phasic.binding.linear import MultilinearFunction
from phasic.binding.linear import bind_linear
from phasic.binding.linear import bind_multilinear
from phasic.binding.native import NativeOp
from phasic.binding.native import bind_native
from phasic.binding.native import include_dir
from phasic.internal.native.host_functions import last_error
from phasic.internal.native.host_results import ArraySpec

__all__ = [
  "ArrayCode",
  "ArraySpec",
  "BoundFunction",
  "MultilinearFunction",
  "NativeOp",
  "array_code",
  "bind",
  "bind_linear",
  "bind_multilinear",
  "bind_native",
  "include_dir",
  "last_error",
]
