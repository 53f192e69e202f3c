// Functions that return and set the maximum number of threads of an op. Python
// calls them by ctypes. TensorFlow's C API does not give access to TensorFlow's
// own threads, so that ops use the kernel's threads.

#include "native/kernel/runtime/thread_pool.h"

extern "C" __attribute__((visibility("default"))) int PhasicNumThreads() {
  return phasic::MaxThreads();
}

// Sets the maximum number of threads. Returns false without effect if `count`
// is out of range.
extern "C" __attribute__((visibility("default"))) bool PhasicSetNumThreads(
    int count) {
  return phasic::SetMaxThreads(count);
}
