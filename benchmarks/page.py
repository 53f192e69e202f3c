"""Writes pages of comparisons: a picture of ratios, tables, and the method."""

from collections.abc import Iterable, Mapping, Sequence
import pathlib

from matplotlib import rc_context
from matplotlib.figure import Figure

from benchmarks import results
from benchmarks import words

# Colors that differ for color-blind readers, too.
_SLOWER, _FASTER = "#C85200", "#006BA4"


def table(headings: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
  """Returns a table in Markdown."""
  headings = tuple(headings)
  rows = [headings, ("---",) * len(headings), *lines]
  return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def section(title: str, facts: Mapping[str, str]) -> str:
  """Returns a list under a title; nothing if the list is empty."""
  lines = "".join(f"- {name}: {fact}\n" for name, fact in facts.items())
  return f"## {title}\n\n{lines}" if lines else ""


def save(figure: Figure, path: pathlib.Path) -> pathlib.Path:
  """Writes a picture: the same figures give the same file."""
  # Text stays text.
  with rc_context({"svg.fonttype": "none", "svg.hashsalt": "phasic"}):
    figure.savefig(path, metadata={"Date": None})
  return path


def write(
  page: words.Page,
  groups: results.Groups,
  lists: Mapping[str, Mapping[str, str]],
  folder: pathlib.Path,
) -> list[pathlib.Path]:
  """Writes a page of comparisons and its picture.

  Args:
    page: the words of the page.
    groups: the tables.
    lists: what else was found, by titles: the machine, ...
    folder: where to.

  Returns:
    The paths of the two files.
  """
  text = folder / f"{page.name}.md"
  picture = save(_picture(groups), folder / f"{page.name}.svg")
  parts = [page.introduction, f"![{_alternative(groups)}]({picture.name})\n"]
  for title, rows in groups.items():
    cells = [row.cells() for row in rows]
    parts += [f"## {title}\n", table(results.HEADINGS, cells), _slower(rows)]
  parts += [section(title, facts) for title, facts in lists.items()]
  parts.append(page.method)
  text.write_text("\n".join(filter(None, parts)), encoding="utf-8")
  return [text, picture]


def _is_slower(row: results.Row) -> bool:
  """Returns whether the ratio is below one as the page shows it."""
  return float(results.number(row.ratio())) < 1.0


def _slower(rows: Sequence[results.Row]) -> str:
  """Returns the rows where phasic is slower, and why."""
  found: dict[str, list[str]] = {}
  for row in rows:
    if _is_slower(row):
      reason = row.reason or "No reason is known."
      found.setdefault(reason, []).append(row.what)
  lines = [
    f"- {'; '.join(what)}. *{reason}*\n" for reason, what in found.items()
  ]
  return "".join(
    ["Where phasic is slower, and why:\n\n", *lines] if lines else []
  )


def _alternative(groups: results.Groups) -> str:
  """Returns the picture in words."""
  ranges = []
  for title, rows in groups.items():
    ratios = [row.ratio() for row in rows]
    least, most = map(results.number, (min(ratios), max(ratios)))
    ranges.append(f"{title}: {least} to {most}")
  return "How many times faster phasic is. " + "; ".join(ranges)


def _picture(groups: results.Groups) -> Figure:
  """Draws a dot for each row, on a logarithmic axis."""
  count = sum(len(rows) + 2 for rows in groups.values())
  figure = Figure(figsize=(6.8, 0.8 + 0.055 * count), layout="constrained")
  axes = figure.subplots()
  centers, place = [], 0
  for rows in groups.values():
    ratios = [row.ratio() for row in rows]
    colors = [_SLOWER if _is_slower(row) else _FASTER for row in rows]
    axes.scatter(ratios, range(place, place + len(rows)), s=12, c=colors)
    centers.append(place + (len(rows) - 1) / 2)
    place += len(rows) + 2
    axes.axhline(place - 1.5, color="lightgray", linewidth=0.8)
  axes.axvline(1.0, color="gray")
  axes.set_xscale("log")
  axes.xaxis.set_major_formatter("{x:g}")
  axes.set_yticks(centers, list(groups))
  axes.set_ylim(place - 1.5, -1.5)
  axes.tick_params(axis="y", length=0)
  axes.set_xlabel("times faster than the other: its time over phasic's")
  return figure
