// Mean and variance of the time until absorption, and their gradients.
//
// With weights w, initial masses alpha, y = U^T alpha, x = U 1 and the
// differences d of x along edges (elimination.h):
//
//   E X = sum_i y_i,
//   Var X = sum_e w_e y_i d_e^2 + sum_i alpha_i (x_i - E X)^2 + left (E X)^2,
//
// where i is the source of e, and `left` is 1 - sum_i alpha_i. In discrete time
// (1 - d_e)^2 replaces d_e^2, and each phase i adds y_i times its probability
// of staying for a step. Results in range are accurate, even if intermediate
// numbers overflow or underflow.
//
// A phase from which absorption cannot be reached is a trap. If a trap can be
// reached from alpha, moments are infinite and gradients are NaN. Other traps
// count as absorption.

#ifndef PHASIC_NATIVE_ELIMINATION_API_MOMENTS_H_
#define PHASIC_NATIVE_ELIMINATION_API_MOMENTS_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"

namespace phasic {

// The operands of a batch of models, as row-major arrays. All arrays have the
// same number of batch dimensions, each of size 1 (broadcast) or of the full
// batch size. All arrays except `indices` have the same floating-point type.
//
// A model is given by its edges or by a matrix. With edges, `exits` has no
// entries; with a matrix, `indices` and `stay` have none, and `weights` has one
// more dimension than `initial`.
struct MomentsCall {
  Input indices;  // [batch..., 2, m], int32: sources, then targets
  // The edges' weights, [batch..., m], finite and >= 0. Or the matrix
  // [batch..., p, p]: a subgenerator, or the probabilities of a step.
  Input weights;
  // Exit rates or probabilities, [batch..., p], beside a matrix. With
  // [batch..., 0] they are derived from the row sums.
  Input exits;
  Input initial;  // alpha, [batch..., p], finite and >= 0
  Input atom;     // P(X = 0), [batch..., 1]; or [batch..., 0]: derived
  // In discrete time: the probabilities of staying in a phase for a step,
  // [batch..., p]. With [batch..., 0] they are derived as one minus the sum of
  // the phase's weights. This difference must not be negative.
  Input stay;
  Precision precision = Precision::kFloat64;
  bool is_discrete = false;
  bool wants_variance = false;
  bool wants_root = false;  // standard deviation instead of variance
  bool wants_gradients = false;
  // A difference such as 1 - sum(alpha) counts as zero if its size is at most 4
  // p epsilon, where epsilon is the machine epsilon of the caller's data.
  double epsilon = 0.0;
};

// A moment and, with wants_gradients, its gradients with respect to the
// weights, the exits and the initial masses. In discrete time an edge's weight
// also changes the probability of staying. Gradients with respect to a matrix
// include the change of derived exits; beside given exits its diagonal has the
// gradient zero.
struct MomentResults {
  Output value;       // [full batch...]
  Output of_weights;  // [full batch..., m] or [full batch..., p, p]
  Output of_exits;    // [full batch..., p] or [full batch..., 0]
  Output of_initial;  // [full batch..., p]
};

// Computes the mean and, if wants_variance is true, the variance or the
// standard deviation, with their gradients if requested. Invalid values make
// all results of a model NaN.
//
// Returns nullptr or an error message, as Eliminate does.
const char* ComputeMoments(const MomentsCall& call, const MomentResults& mean,
                           const MomentResults& variance,
                           Executor* executor = OwnThreads());

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_API_MOMENTS_H_
