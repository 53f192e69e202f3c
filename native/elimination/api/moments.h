// Mean and variance of the time until absorption, and their gradients.
//
// With w the weights, alpha the initial masses, y = U^T alpha, x = U 1 and d
// its differences along edges (elimination.h):
//
//   E X = sum_i y_i,
//   Var X = sum_e w_e y_i d_e^2 + sum_i alpha_i (x_i - E X)^2 + left (E X)^2,
//
// where e leads from i and `left` is 1 - sum_i alpha_i. In discrete time a step
// changes what is expected by 1 - d_e, a step in the same phase by 1. Sums are
// right wherever they can be represented.
//
// Phases from which absorption cannot be reached (traps) make moments infinite,
// and gradients NaN, where alpha can reach them; where it cannot they count as
// absorption.

#ifndef PHASIC_NATIVE_ELIMINATION_API_MOMENTS_H_
#define PHASIC_NATIVE_ELIMINATION_API_MOMENTS_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"

namespace phasic {

// Row-major arrays with the same number of batch dimensions, each of size 1
// (broadcast) or of the common size; all but the indices of one floating type.
struct MomentsCall {
  Input indices;  // [batch..., 2, m], int32: sources, then targets
  Input weights;  // [batch..., m], finite and >= 0
  Input initial;  // alpha, [batch..., p], finite and >= 0
  Input atom;     // mass at zero, [batch..., 1], or [batch..., 0]: what is left
  // Of discrete time, probabilities of staying for a step, [batch..., p], or
  // [batch..., 0]: what the weights leave, which is not below zero then.
  Input stay;
  Precision precision = Precision::kFloat64;
  bool is_discrete = false;
  bool wants_variance = false;
  bool wants_root = false;  // of the variance
  bool wants_gradients = false;
  // Sums within 4 p epsilon of zero are zero.
  double epsilon = 0.0;
};

// A moment, its gradient in the weights and that in the initial masses; in
// discrete time what leaves a phase changes the probability of staying.
struct MomentResults {
  Output value;       // [full batch...]
  Output of_weights;  // [full batch..., m], only with wants_gradients
  Output of_initial;  // [full batch..., p], the same
};

// Writes the mean and, only with wants_variance, the variance or its root.
// Values that break a rule make all results of a model NaN.
//
// Returns nullptr or a message, as Eliminate does.
const char* ComputeMoments(const MomentsCall& call, const MomentResults& mean,
                           const MomentResults& variance,
                           Executor* executor = OwnThreads());

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_API_MOMENTS_H_
