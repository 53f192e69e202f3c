// The number of threads for ops, set from Python by ctypes: TensorFlow's C API
// does not give access to its own threads, so the kernel's are used.

#include "native/kernel/runtime/thread_pool.h"

extern "C" __attribute__((visibility("default"))) int PhasicNumThreads() {
  return phasic::MaxThreads();
}

// Returns false without effect if the count is out of range.
extern "C" __attribute__((visibility("default"))) bool PhasicSetNumThreads(
    int count) {
  return phasic::SetMaxThreads(count);
}
