"""Drops imports of dependencies that a substrate omits."""

from __future__ import annotations

import ast
import re

from substrates.meta import context


def module_of(dependency: str) -> str:
  """Converts a dependency, e.g. a Bazel label, to a dotted module name.

  Args:
    dependency: a dotted module, or a Bazel label such as `//phasic/math:gth`
      or `//phasic/math` (with or without the slashes in front).
  """
  path, _, name = dependency.removeprefix("//").partition(":")
  if "/" not in path and not name:
    return path
  parts = path.split("/")
  if name and name != parts[-1]:
    parts.append(name)
  return ".".join(parts)


def drop(ctx: context.Context) -> None:
  """Drops imports of omitted modules, and their names in `__all__`."""
  dropped: set[str] = set()
  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.Import | ast.ImportFrom):
      dropped |= _drop_import(ctx, node)
  if not dropped:
    return
  for node in ast.walk(ctx.source.tree):
    if isinstance(node, ast.Name) and node.id in dropped:
      ctx.refuse(node, f"{node.id} is used, but its import is omitted")
    elif (
      isinstance(node, ast.Assign)
      and ast.unparse(node.targets[0]) == "__all__"
      and isinstance(node.value, ast.List | ast.Tuple)
    ):
      gone = [
        item
        for item in node.value.elts
        if isinstance(item, ast.Constant) and item.value in dropped
      ]
      _drop_items(ctx, node.value.elts, gone)


def _omitted(ctx: context.Context, module: str) -> bool:
  for dependency in ctx.omit_deps:
    if f"{module}.".startswith(f"{module_of(dependency)}."):
      ctx.matched_omit_deps.add(dependency)
      return True
  return False


def _drop_import(
  ctx: context.Context, node: ast.Import | ast.ImportFrom
) -> set[str]:
  if isinstance(node, ast.Import):
    gone = [alias for alias in node.names if _omitted(ctx, alias.name)]
  else:
    gone = [
      alias
      for alias in node.names
      if _omitted(ctx, f"{node.module}.{alias.name}")
    ]
  if not gone:
    return set()
  if len(gone) < len(node.names):
    if "\\\n" in ctx.source.segment(node):
      ctx.refuse(node, "an import with an omitted name uses a backslash")
    _drop_items(ctx, node.names, gone)
    node.names = [alias for alias in node.names if alias not in gone]
  else:
    if context.parent(node) is not ctx.source.tree:
      ctx.refuse(node, "an omitted import must stand at module level")
      return set()
    _blank(ctx, ctx.source.start(node), ctx.source.end(node))
    ctx.source.tree.body.remove(node)
  return {alias.asname or alias.name.partition(".")[0] for alias in gone}


def _drop_items(ctx: context.Context, items: list, gone: list) -> None:
  """Drops elements of a comma-separated list without moving lines."""
  text = ctx.source.text
  comma = re.compile(r"\s*,[ \t]*")
  kept = [item for item in items if item not in gone]
  if (
    kept
    and items[-1] in gone
    and not comma.match(text, ctx.source.end(items[-1]))
  ):
    # If the list has no comma at its end, also drop the comma after the last
    # kept element.
    tail = items[items.index(kept[-1]) + 1 :]
    gone = [item for item in gone if item not in tail]
    _blank(ctx, ctx.source.end(kept[-1]), ctx.source.end(items[-1]))
  for item in gone:
    start, end = ctx.source.start(item), ctx.source.end(item)
    match = comma.match(text, end)
    end = match.end() if match else end
    first = text.rfind("\n", 0, start) + 1
    rest = re.compile(r"(#.*)?$", re.MULTILINE).match(text, end)
    if rest and not text[first:start].strip():
      start, end = first, rest.end()  # Also drop a comment on the line.
    _blank(ctx, start, end)


def _blank(ctx: context.Context, start: int, end: int) -> None:
  newlines = ctx.source.text.count("\n", start, end)
  ctx.replace_span(start, end, "\n" * newlines)
