// Computes max_i (P^k 1)_i for the first index k of each block. This is the
// largest probability, over all initial phases, that absorption takes more than
// k steps. So k steps multiply the sum of the absolute errors in a state by at
// most this number.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_DECAY_BOUNDS_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_DECAY_BOUNDS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/operator.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/block_list.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/power_walk.h"

namespace phasic {
namespace PHASIC_ISA {

class DecayBounds {
 public:
  DecayBounds(const Model<double>& model, Workspace* workspace)
      : model_(model), walk_(workspace), bounds_(workspace) {}

  // Computes the bounds after 0 to `num_blocks` blocks. Returns false if memory
  // does not suffice.
  bool Reach(int64_t num_blocks) {
    if (!walk_.is_allocated()) {
      if (!walk_.Allocate(model_.size, model_.stride)) return false;
      std::fill(walk_.state(), walk_.state() + model_.size, 1.0);
    }
    while (bounds_.size() <= num_blocks) {
      Scaled<double>* bound = bounds_.Append();
      if (bound == nullptr) return false;
      *bound = {LargestSize(walk_.state(), model_.stride), walk_.exponent()};
      walk_.StepBlock(model_.backward, bounds_.size() - 1, nullptr,
                      [](int, const double*) {});
      walk_.Rescale();
    }
    return true;
  }

  const Scaled<double>& after(int64_t num_blocks) const {
    return bounds_[num_blocks];
  }

 private:
  const Model<double>& model_;
  PowerWalk<double> walk_;
  BlockList<Scaled<double>> bounds_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_DECAY_BOUNDS_H_
