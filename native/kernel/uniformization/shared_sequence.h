// The power sequence of several models (see Sequence) from which the sequence
// of one of them takes its terms.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_SHARED_SEQUENCE_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_SHARED_SEQUENCE_H_

#include <cstdint>

#include "native/kernel/numbers/per_model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class Sequence;

// A cache of the results of StartWeight for each time. Models with the same q
// and the same times share it.
class SharedStarts {
 public:
  // Allocates memory for `num_times` times. Returns false if memory does not
  // suffice.
  bool Allocate(int64_t num_times, Workspace* workspace) {
    starts_ = static_cast<Start*>(
        workspace->Allocate(static_cast<size_t>(num_times), sizeof(Start)));
    for (int64_t i = 0; starts_ != nullptr && i < num_times; ++i) {
      starts_[i].x = -1.0;
    }
    return starts_ != nullptr;
  }

  // Returns StartWeight(x, block) for the time with this index. Computes it
  // only if x differs from the x of the previous model at this time.
  const Scaled<double>& Weight(int64_t index, double x, int64_t* block) {
    Start& start = starts_[index];
    if (start.x != x) {
      start.x = x;
      start.weight = StartWeight(x, &start.block);
    }
    *block = start.block;
    return start.weight;
  }

 private:
  struct Start {
    double x;
    int64_t block;
    Scaled<double> weight;
  };
  Start* starts_ = nullptr;
};

struct SharedSequence {
  Sequence<PerModel>* sequence = nullptr;  // nullptr if there is none
  int model = 0;
  int64_t end = 0;  // no block from this one on may be taken
  SharedStarts* starts = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_SHARED_SEQUENCE_H_
