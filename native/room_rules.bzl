"""A library for each room of native code, and its tests."""

load("@rules_cc//cc:defs.bzl", "cc_library", "cc_test")
load("//native:copts.bzl", "COPTS", "ELIMINATION_COPTS")
load("//native:rooms.bzl", "ROOMS", "TESTS")

# Rooms that have more than one library, or binaries; `native/BUILD` has them.
_OWN_RULES = [
    "kernel/builds",
    "kernel/fuzz",
    "elimination/solver",
    "elimination/fuzz",
    "python",
    "tf",
    "xla",
]

# What links with the interfaces for callers, which are headers.
_CALLEES = {
    "kernel/api": ":kernel/phase_type",
    "elimination/api": ":elimination/elimination",
}

def _copts(room):
    """Compiler options of a room."""
    return COPTS if room.startswith("kernel/") else ELIMINATION_COPTS

def included(rooms):
    """Labels of rooms, and of what their interfaces link with."""
    return [":" + room for room in rooms] + [
        _CALLEES[room]
        for room in rooms
        if room in _CALLEES
    ]

def native_libraries(linked, linkopts):
    """A library for each room without rules of its own.

    Args:
      linked: {room: labels} of what it links besides the rooms it includes.
      linkopts: {room: options}.
    """
    for room in ROOMS:
        if room not in _OWN_RULES:
            cc_library(
                name = room,
                srcs = native.glob(
                    [room + "/*.cc"],
                    exclude = [room + "/*_test.cc"],
                ),
                hdrs = native.glob(
                    [room + "/*.h"],
                    exclude = [room + "/test_*.h"],
                ),
                copts = _copts(room),
                linkopts = linkopts.get(room, []),
                deps = [":" + other for other in ROOMS[room]] + linked.get(room, []),
            )

def native_tests(options):
    """A test for each *_test.cc, with the headers test_*.h of its room.

    Args:
      options: {test: options} where it is not small or has more `deps`.
    """
    for name in TESTS:
        room = name.rpartition("/")[0]
        own = dict(options.get(name, {}))
        deps = own.pop("deps", []) + included([room] + TESTS[name])
        cc_test(
            name = name,
            size = own.pop("size", "small"),
            srcs = [name + ".cc"] + native.glob([room + "/test_*.h"]),
            copts = _copts(room),
            deps = {label: None for label in deps + ["@python_environment//:gtest"]}.keys(),
            **own
        )
