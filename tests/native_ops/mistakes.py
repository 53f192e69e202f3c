"""Mistakes that native ops are bound with, the same for all frameworks."""

import numpy as onp

# Functions that fail, and with what.
FAILURES = (
  ("test_throws", "no such luck"),
  ("test_throws_number", "threw what is no std::exception"),
  ("test_forgets", r"output 1 \(z\) was not written.*x\(\) -> y\(\), z\(\)"),
)

# Reverse rules of test_scale, of the inputs and the cotangent, and what is said
# of them for a factor () and x (2, 3).
WRONG_COTANGENTS = (
  (lambda i, c: (c * i[1], i[0] * c), r"shape \(2, 3\) for factor.*\(2,\)"),
  (lambda i, c: (c[:, 0], c[:, 0]), r"shape \(2,\) for x: it must be \(2, 3"),
  (lambda i, c: (c[:1, 0], c[None]), r"shape \(1, 2, 3\) for x"),
  (lambda i, c: (c[:, 0], c[:, :2]), r"shape \(2, 2\) for x"),
  (
    lambda i, c: (c[:, 0], onp.full((2, 3), 1j)),
    "complex128 for x: it must be float64",
  ),
)

# Forward rules of test_scale, of the inputs and tangents, and what is said of
# them for a factor (2,) and x (2, 3), float64.
WRONG_TANGENTS = (
  (lambda i, t: t[1], "must be a tuple with an entry for each of y"),
  (lambda i, t: (None,), "must have an array for y"),
  (lambda i, t: (onp.ones(7),), r"shape \(7,\) for y: it must be \(2, 3"),
  (lambda i, t: (t[0],), r"shape \(2,\) for y: it must be \(2, 3"),
  (lambda i, t: (t[1][None],), r"shape \(1, 2, 3\) for y"),
  (lambda i, t: (t[1][:, :2],), r"shape \(2, 2\) for y"),
  (lambda i, t: (t[1][:, :1],), r"shape \(2, 1\) for y"),
  (lambda i, t: (onp.ones((2, 3), "f4"),), "float32 for y: .* be float64"),
  (lambda i, t: (onp.ones((2, 3), int),), "int64 for y: it must be float"),
  (lambda i, t: (onp.full((2, 3), 1j),), "complex128 for y: it must be f"),
  (lambda i, t: (1j,), "complex128 for y: it must be float64"),
)

# Sizes k of test_gather that there cannot be, for two indices of three.
WRONG_SIZES = (
  (lambda m, n: m - 4, ValueError, "returned -2 for .*at least 0"),
  (lambda m, n: m * 2**62, ValueError, "returned .*below 2.63"),
  (lambda m, n: m / 2, TypeError, "must be an integer"),
  (lambda m, n: None, TypeError, "k returned None for .*must be an integer"),
  (lambda m, n: "2", TypeError, "k returned 2 for .*must be an integer"),
  (lambda m, n: [][m], ValueError, "raised IndexError: list index"),
  (
    lambda m, n: m - m % 2 + 2**62,
    ValueError,
    r"y\)? cannot have shape .46116",
  ),
)
