// Whether, and after which time, the chains of a call are absorbed.

#ifndef PHASIC_NATIVE_QUANTILES_ABSORPTION_H_
#define PHASIC_NATIVE_QUANTILES_ABSORPTION_H_

#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/batch/batch_plan.h"

namespace phasic {

struct Absorption {
  bool is_valid;   // whether rates or probabilities are valid; else all is NaN
  double passing;  // P(0 < X < inf)
  double caught;   // P(X = inf)
  double time;     // the mean time to absorption or a trap
  double rate;     // the largest rate out of a phase, one in discrete time
};

// Computes these for each model of a plan by elimination. Returns nullptr or an
// error message.
const char* FindAbsorption(const BatchPlan& plan, Executor* executor,
                           std::vector<Absorption>* found);

}  // namespace phasic

#endif  // PHASIC_NATIVE_QUANTILES_ABSORPTION_H_
