"""Imports a substrate of the wheel for any system: NAME; checks its line."""

import importlib
import os
import re
import sys
import warnings

_LINE = re.compile(
  r"phasic runs without its native kernel, on the portable path, which is about "
  r"\d+ times slower: .*; build it: pip install --no-binary phasic-substrates "
  r"phasic-substrates .*"
)


def main() -> None:
  os.environ.pop("PHASIC_REQUIRE_KERNEL", None)
  with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    ph = importlib.import_module(f"phasic.substrates.{sys.argv[1]}")
    dist = ph.distributions.Erlang(3, 2.0)
    # exp(-2) (1 + 2 + 2^2 / 2)
    value = float(dist.survival_function(1.0))
  lines = [str(x.message) for x in caught if "native kernel" in str(x.message)]
  (line,) = lines
  assert _LINE.fullmatch(line), line
  assert ph.config.path() == "portable"
  assert abs(value - 0.6766764161830634) < 1e-6, value
  reason = ph.config.unavailable_reason()
  assert reason in line, reason
  print(line)


if __name__ == "__main__":
  main()
