"""The public names that the reference has pages for, and their examples."""

import dataclasses
import doctest
import importlib
import inspect
import re
import types
from typing import Any, Literal

SUBSTRATES = {"numpy": "NumPy", "jax": "JAX", "tf": "TensorFlow"}
_SHORT = "phasic."
# Names with plain values, which the reference does not document.
_LEFT_OUT = ("__version__",)
_SEED = re.compile(r"\bseed=(\d+)")
_SUM = "np.sum("

Kind = Literal["class", "function", "data"]


@dataclasses.dataclass(frozen=True)
class Name:
  """A public class, function or value.

  Attributes:
    module: the short name of its module, "phasic.distributions".
    name: what it is called there.
    value: the object, of the first substrate that has it.
    substrates: those that have it.
  """

  module: str
  name: str
  value: Any
  substrates: tuple[str, ...]

  @property
  def full(self) -> str:
    """The name that pages link to."""
    return f"{self.module}.{self.name}"

  @property
  def kind(self) -> Kind:
    """What it is."""
    if inspect.isclass(self.value):
      return "class"
    return "function" if inspect.isroutine(self.value) else "data"

  @property
  def page(self) -> str:
    """The name of its page; not all file systems tell ABSORBED from Absorbed."""
    return f"{self.full}.data" if self.kind == "data" else self.full

  @property
  def room(self) -> str:
    """The folder that it is defined in, "families"; "" for the package's own."""
    package = self.module.removeprefix(_SHORT).split(".")
    defined = str(getattr(self.value, "__module__", None) or "").split(".")
    # phasic.substrates.numpy.distributions.families.coxian
    folders = defined[3 + len(package[:1]) : -1]
    return folders[0] if folders else ""

  @property
  def summary(self) -> str:
    """The first sentence or line of its docstring."""
    text = documentation(self.value)
    return " ".join(text.split("\n\n")[0].split())

  @property
  def examples(self) -> list[doctest.Example]:
    """The examples of its docstring."""
    return doctest.DocTestParser().get_examples(documentation(self.value))


def documentation(value: Any) -> str:
  """Returns the docstring of a class, function or member, or ""."""
  return inspect.getdoc(value) or ""


def short_modules() -> dict[str, dict[str, types.ModuleType]]:
  """Returns the public modules by short name and substrate."""
  listing = importlib.import_module("tests.cross.public_names")
  found: dict[str, dict[str, types.ModuleType]] = {}
  for substrate in SUBSTRATES:
    for name, module in listing.modules(substrate).items():
      if name:
        found.setdefault(_SHORT + name, {})[substrate] = module
  return found


def public_names() -> list[Name]:
  """Returns all public names except for modules, sorted by module and name."""
  return [
    Name(module, name, value, tuple(having))
    for module, of_substrate in sorted(short_modules().items())
    for name, having in sorted(_by_name(of_substrate).items())
    if not inspect.ismodule(value := next(iter(having.values())))
  ]


def _by_name(
  modules: dict[str, types.ModuleType],
) -> dict[str, dict[str, Any]]:
  found: dict[str, dict[str, Any]] = {}
  for substrate, module in modules.items():
    for name in module.__all__:
      if name not in _LEFT_OUT:
        found.setdefault(name, {})[substrate] = getattr(module, name)
  return found


def members(cls: type) -> list[tuple[str, Any, type]]:
  """Returns the public members of a class with the classes that define them.

  Members of the class itself come first, then those of its bases in phasic, the
  nearest base first, each in the order of the source.
  """
  found: dict[str, tuple[str, Any, type]] = {}
  for base in cls.__mro__:
    if not base.__module__.startswith(_SHORT):
      continue
    for name, value in vars(base).items():
      if not name.startswith("_"):
        found.setdefault(name, (name, value, base))
  return list(found.values())


def construction(name: Name) -> str:
  """Returns the statements of the first example that lead to its first use.

  These are the imports, what the arguments need, and the statement that uses
  the name; only the import where there is no example.
  """
  statements = [example.source for example in name.examples]
  for count, source in enumerate(statements):
    if f"{name.name}(" in source or f"{name.name}." in source:
      return "".join(statements[: count + 1])
  module = name.module.removeprefix(_SHORT)
  first = name.substrates[0]
  return f"from phasic.substrates.{first}.{module} import {name.name}\n"


def for_substrate(code: str, substrate: str) -> str:
  """Returns an example's code with the imports and the ways of a substrate.

  Random numbers of JAX take keys, and sums of TensorFlow's symbolic tensors are
  not NumPy's.
  """
  for other in SUBSTRATES:
    code = code.replace(
      f"phasic.substrates.{other}", f"phasic.substrates.{substrate}"
    )
    code = code.replace(
      f"from phasic.substrates import {other}",
      f"from phasic.substrates import {substrate}",
    )
  if substrate == "jax" and _SEED.search(code):
    code = "import jax\n" + _SEED.sub(r"seed=jax.random.key(\1)", code)
  if substrate == "tf" and _SUM in code:
    code = "import tensorflow as tf\n" + code.replace(_SUM, "tf.reduce_sum(")
  return code
