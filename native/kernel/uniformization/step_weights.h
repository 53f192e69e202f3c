// Poisson weights w_k(r) = exp(-r) r^k / k! of a step, an interval of length r
// in x = q t. For the subgenerator S, the exit rates s and P = I + S / q, the
// transition matrix of the step is exp(S r / q) = sum_k w_k(r) P^k. The
// probabilities of absorption within the step are sum_k W_k(r) P^k s / q, where
// W_k = w_{k+1} + w_{k+2} + ...

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_STEP_WEIGHTS_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_STEP_WEIGHTS_H_

#include <cmath>

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The length of the longest step, and the number of terms of its series.
//
// Paths with more than fifteen jumps in one step are neglected. Given that
// there are K jumps in N steps, the times of the jumps are uniform and
// independent of the path. So the probability that one of the steps has more
// than fifteen jumps is at most N (K/N)^16 / 16!. At most this fraction of the
// terms with K jumps is neglected. For K = 2 x, and steps of the longest
// length, it is below 2^-58 even for N = 2^66. Terms with many more than x
// jumps do not matter if x is far above the number of phases.
constexpr int kLog2LongestStep = -6;
constexpr double kLongestStep = 0x1p-6;
constexpr int kStepTerms = 16;

struct StepWeights {
  double at[kStepTerms];
  double above[kStepTerms];
  double above_low[kStepTerms];  // the rounding errors of these sums

  // Computes the weights of a step of length r, 0 <= r <= kLongestStep.
  explicit StepWeights(double r) {
    double weight = std::exp(-r);
    for (int k = 0; k < kStepTerms; ++k) {
      at[k] = weight;
      weight *= r / (k + 1);
    }
    double sum = weight;  // the first omitted weight
    double low = 0.0;
    for (int k = kStepTerms - 1; k >= 0; --k) {
      above[k] = sum;
      above_low[k] = low;
      // Each weight is larger than the sum of all later ones.
      const double next = at[k] + sum;
      low += sum - (next - at[k]);
      sum = next;
    }
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_STEP_WEIGHTS_H_
