"""The text of the pages of the reference, in reStructuredText."""

import functools
import inspect
import itertools
import sys
import textwrap
from typing import Any

from tools.site import docstrings
from tools.site import names

# Titles of rooms, where the folder's name does not say it.
_ROOMS = {
  "absorption": "Any chain",
  "base": "What all distributions share",
  "closures": "Sums, extremes, mixtures, order statistics",
  "config": "Settings",
  "core": "The graph",
  "data": "Data",
  "em": "Expectation maximization",
  "epochs": "Rates that change in time",
  "families": "Named families",
  "mle": "Maximum likelihood",
  "models": "Ready models",
  "parts": "Parts of a graph",
  "resampling": "The bootstrap",
  "results": "Results of fits",
  "rewards": "Rewards",
  "selection": "Choice between models",
  "starts": "Starting values",
  "wrapped": "Distributions made of another one",
}


def class_page(name: names.Name) -> str:
  """Returns the page of a class: its docstring, then all its members."""
  text = _head(name) + f".. autoclass:: {name.full}\n"
  by_base = itertools.groupby(
    names.members(name.value), lambda member: member[2]
  )
  described = docstrings.attributes(names.documentation(name.value))
  for base, group in by_base:
    if base is not name.value:
      text += f"\n   .. rubric:: From {_shown_base(base)}\n"
    for member, value, _ in group:
      if member in described:
        continue
      text += f"\n   .. {_directive(value)}:: {member}\n"
  return text


def function_page(name: names.Name) -> str:
  """Returns the page of a function."""
  return _head(name) + f".. autofunction:: {name.full}\n"


def data_page(name: names.Name) -> str:
  """Returns the page of a value."""
  text = names.documentation(name.value)
  return (
    _head(name)
    + f".. py:data:: {name.full}\n\n"
    + textwrap.indent(text.split("\n\n")[0], "   ")
    + "\n"
  )


def page(name: names.Name) -> str:
  """Returns the page of a public name."""
  pages = {"class": class_page, "function": function_page, "data": data_page}
  return pages[name.kind](name)


def module_page(module: str, listed: list[names.Name]) -> str:
  """Returns the page of a module: its names by room, with summaries."""
  text = _title(module.removeprefix("phasic.")) + f".. py:module:: {module}\n\n"
  summary = names.documentation(sys.modules[module]).split("\n\n")[0]
  text += f"{docstrings.plain(summary)}\n\n"
  rooms: dict[str, list[names.Name]] = {}
  for name in listed:
    rooms.setdefault(name.room, []).append(name)
  for room, inside in sorted(
    rooms.items(), key=lambda item: _room_title(item[0])
  ):
    if len(rooms) > 1:
      text += f"\n.. rubric:: {_room_title(room)}\n   :heading-level: 2\n"
    text += "\n.. list-table::\n   :widths: 30 70\n   :class: phasic-names\n\n"
    for name in inside:
      text += f"   * - :py:obj:`~{name.full}`\n     - {docstrings.plain(name.summary)}\n"
  text += "\n.. toctree::\n   :hidden:\n\n"
  return text + "".join(f"   {name.name} <{name.page}>\n" for name in listed)


def _head(name: names.Name) -> str:
  module = name.module
  text = f"{_title(name.name)}.. py:currentmodule:: {module}\n\n.. tab-set::\n"
  code = names.construction(name)
  for substrate in name.substrates:
    text += f"\n   .. tab-item:: {names.SUBSTRATES[substrate]}\n"
    text += (
      f"      :sync: {_SYNC[substrate]}\n\n      .. code-block:: python\n\n"
    )
    text += textwrap.indent(names.for_substrate(code, substrate), " " * 9)
  return text + "\n"


_SYNC = {"numpy": "numpy", "jax": "jax", "tf": "tensorflow"}


def _title(title: str) -> str:
  return f"{title}\n{'=' * len(title)}\n\n"


def _room_title(room: str) -> str:
  return _ROOMS.get(room, room.replace("_", " ").capitalize() or "General")


def _shown_base(base: type) -> str:
  public = _public_classes().get(base)
  return f":py:class:`{public}`" if public else f"``{base.__name__}``"


@functools.cache
def _public_classes() -> dict[type, str]:
  return {
    name.value: f"~{name.full}"
    for name in names.public_names()
    if name.kind == "class"
  }


def _directive(value: Any) -> str:
  if isinstance(value, (property, functools.cached_property)):
    return "autoproperty"
  if inspect.isroutine(value) or isinstance(value, (staticmethod, classmethod)):
    return "automethod"
  return "autoattribute"
