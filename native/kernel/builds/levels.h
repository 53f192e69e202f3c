// The x86-64 levels (x86-64-v3 and v4) for which sweeps and solvers are
// compiled in addition to "generic". Development builds have fewer
// (native/instruction_sets.bzl).

#ifndef PHASIC_NATIVE_KERNEL_BUILDS_LEVELS_H_
#define PHASIC_NATIVE_KERNEL_BUILDS_LEVELS_H_

// Expands DO(level) for each compiled level, in ascending order from level 3.
#if !defined(__x86_64__) || defined(PHASIC_NO_LEVELS)
#define PHASIC_FOR_EACH_LEVEL(DO)
#elif defined(PHASIC_ONLY_LEVEL)
#define PHASIC_APPLY(DO, level) DO(level)  // expands the level's number first
#define PHASIC_FOR_EACH_LEVEL(DO) PHASIC_APPLY(DO, PHASIC_ONLY_LEVEL)
#else
#define PHASIC_FOR_EACH_LEVEL(DO) DO(3) DO(4)
#endif

#endif  // PHASIC_NATIVE_KERNEL_BUILDS_LEVELS_H_
