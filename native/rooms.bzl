"""The rooms of native code, lowest first, and what each may include.

A room is a folder of sources, named by its path below `native`;
kernel/README.md and elimination/README.md say what each is for. A room may
include itself and the rooms listed, which come before it. Tests may include
everything. `make lint` checks all of this with tools/rooms/native_rooms.py.
"""

ROOMS = {
    "kernel/runtime": [],
    "kernel/api": ["kernel/runtime"],
    "kernel/simd": ["kernel/runtime"],
    "kernel/numbers": ["kernel/simd"],
    "kernel/matrix": [
        "kernel/runtime",
        "kernel/simd",
        "kernel/numbers",
    ],
    "kernel/model": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
    ],
    "kernel/uniformization": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
    ],
    "kernel/methods/squaring": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
    ],
    "kernel/values": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/model",
        "kernel/uniformization",
        "kernel/methods/squaring",
    ],
    "kernel/cotangents": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/methods/squaring",
        "kernel/values",
    ],
    "kernel/methods/many_times": [
        "kernel/simd",
        "kernel/numbers",
        "kernel/uniformization",
        "kernel/methods/squaring",
        "kernel/values",
        "kernel/cotangents",
    ],
    "kernel/sweeps": [
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/values",
        "kernel/cotangents",
        "kernel/methods/many_times",
    ],
    "kernel/methods/many_models": [
        "kernel/api",
        "kernel/simd",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/cotangents",
        "kernel/methods/many_times",
        "kernel/sweeps",
    ],
    "kernel/methods/small_models": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/matrix",
        "kernel/model",
        "kernel/uniformization",
        "kernel/sweeps",
    ],
    "kernel/methods/many_directions": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/model",
        "kernel/uniformization",
        "kernel/methods/squaring",
        "kernel/values",
        "kernel/methods/many_times",
        "kernel/sweeps",
    ],
    "kernel/builds": [
        "kernel/api",
        "kernel/simd",
        "kernel/numbers",
        "kernel/sweeps",
        "kernel/methods/many_models",
        "kernel/methods/small_models",
        "kernel/methods/many_directions",
    ],
    "kernel/batch": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
    ],
    "elimination/api": ["kernel/api"],
    "elimination/ordering": [],
    "elimination/symbolic": [
        "kernel/api",
        "elimination/api",
        "elimination/ordering",
    ],
    "elimination/solver": [
        "kernel/simd",
        "kernel/numbers",
        "kernel/builds",
        "elimination/symbolic",
    ],
    "elimination/factors": [
        "kernel/simd",
        "elimination/symbolic",
        "elimination/solver",
    ],
    "elimination/batch": [
        "kernel/runtime",
        "kernel/api",
        "kernel/simd",
        "elimination/api",
        "elimination/symbolic",
        "elimination/solver",
        "elimination/factors",
    ],
    "elimination/moments": [
        "kernel/simd",
        "elimination/api",
        "elimination/symbolic",
        "elimination/solver",
        "elimination/factors",
        "elimination/batch",
    ],
    "xla": [
        "kernel/runtime",
        "kernel/api",
        "elimination/api",
    ],
    "tf": [
        "kernel/runtime",
        "kernel/api",
        "elimination/api",
        "xla",
    ],
    "python": [
        "kernel/runtime",
        "kernel/api",
        "kernel/builds",
        "elimination/api",
        "xla",
    ],
    "kernel/fuzz": ["kernel/api"],
    "elimination/fuzz": [
        "elimination/api",
        "kernel/fuzz",
    ],
}

# Exceptions: headers of higher rooms that a file includes. New ones are not
# allowed.
UPWARD = {}
