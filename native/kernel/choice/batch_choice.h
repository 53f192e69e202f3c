// Decides which calls are swept as small models, and which models in lanes.

#ifndef PHASIC_NATIVE_KERNEL_CHOICE_BATCH_CHOICE_H_
#define PHASIC_NATIVE_KERNEL_CHOICE_BATCH_CHOICE_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/shapes.h"
#include "native/kernel/api/sweep.h"

namespace phasic {

// Returns whether the sweeps for small models can evaluate a call whose models
// have `num_times` times each: time is continuous, and there are few phases,
// edges and parameters. For values, a model must have fewer than kManyTimes
// times. For derivatives it must have one time. A call with kinds may have two,
// since the second one may be an upper end of kind kNothing.
inline bool AreSmall(const Call& call, const Layout& layout,
                     int64_t num_times) {
  const int64_t one = call.kinds != nullptr ? 2 : 1;
  return !call.discrete && layout.num_phases <= kSmallPhases &&
         num_times <= (call.order > 0 ? one : kManyTimes - 1) &&
         (call.edges == nullptr || (layout.num_edges <= kSmallEdges &&
                                    layout.num_parameters <= kSmallParameters));
}

// Returns whether models with the same edges are computed in lanes. Eight large
// models in lanes cost as much as three to four alone, but by one thread; fewer
// rather have a thread each. The answer must not depend on the number of
// threads, since results do not.
inline bool ArePacked(int64_t num_models, int64_t num_phases) {
  return num_models >= kMaxGroup || num_phases < 100;
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_CHOICE_BATCH_CHOICE_H_
