"""Compiler options of all native code."""

# No -ffast-math: NaN and infinities are results here. Contraction to fused
# multiply-add is allowed; errno is not read.
COPTS = [
    "-O3",
    "-fvisibility=hidden",
    "-ffp-contract=fast",
    "-fno-math-errno",
    "-Wall",
    "-Wextra",
]

# Rounded as written: all compilers and machines give the same bits.
ELIMINATION_COPTS = COPTS + ["-ffp-contract=off"]
