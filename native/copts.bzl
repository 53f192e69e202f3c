"""Compiler options of all native code."""

# No -ffast-math: NaN and infinities are valid results. Contraction to fused
# multiply-add is allowed; errno is not read.
COPTS = [
    "-O3",
    "-fvisibility=hidden",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
]

# No contraction: all compilers and machines give the same bits.
ELIMINATION_COPTS = COPTS + ["-ffp-contract=off"]
