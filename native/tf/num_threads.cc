// Functions that return and set the maximum number of threads of an op, and the
// limit on the work of one model. Python calls them by ctypes. TensorFlow's C
// API does not give access to TensorFlow's own threads, so that ops use the
// kernel's threads.

#include "native/kernel/runtime/thread_pool.h"
#include "native/kernel/runtime/work_limit.h"

extern "C" __attribute__((visibility("default"))) int PhasicNumThreads() {
  return phasic::MaxThreads();
}

// Sets the maximum number of threads. Returns false without effect if `count`
// is out of range.
extern "C" __attribute__((visibility("default"))) bool PhasicSetNumThreads(
    int count) {
  return phasic::SetMaxThreads(count);
}

// Sets the most multiply-adds that the power sequence of one model may take.
// Returns false without effect unless it is positive.
extern "C" __attribute__((visibility("default"))) bool PhasicSetMaxWork(
    double multiply_adds) {
  return phasic::SetMaxWork(multiply_adds);
}
