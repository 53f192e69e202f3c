// How many threads an op may use, for Python by ctypes: TensorFlow's C API does
// not hand out its own threads, so the kernel's help.

#include "native/kernel/runtime/thread_pool.h"

extern "C" __attribute__((visibility("default"))) int PhasicNumThreads() {
  return phasic::MaxThreads();
}

// False, and nothing done, if out of range.
extern "C" __attribute__((visibility("default"))) bool PhasicSetNumThreads(
    int count) {
  return phasic::SetMaxThreads(count);
}
