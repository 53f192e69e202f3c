// Chooses the number J of sums c_j that the transposed mixture of a group needs
// (node_sums.h).
//
// With J of them each weight w_k(x) = sum_j w_j(d) w_{k-j}(x_0) is truncated to
// the terms with j < J, where x = x_0 + d with d < h = 4. By the binomial
// theorem the truncation error is w_k(x) P(Bin(k, d / x) >= J), which is at
// most
//   w_k(x) (k h / (x_0 + h))^J / J!   and   h^J / J! w_{k-J}(x).
// For k up to some m the first bound is a relative error below 2^-53. For k
// above m the second is summed, with (k + 1) w_{k-J}(x) as a bound on the
// contribution to a derivative, and must be below 2^-margin of F like all
// truncation errors.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_RESTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_RESTS_H_

#include <cmath>

#include "native/kernel/methods/many_times/node_series.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kMaxNodeSums = 128;  // J
constexpr double kLog2E = 1.442695040888963407;

struct NodeRests {
  double log2_end[kMaxNodeSums + 1];  // of h^J / J!
  double reach[kMaxNodeSums + 1];     // m / (x_0 + h)
  double inverse_factorials[kMaxNodeSums];

  static const NodeRests& Get() {
    static const NodeRests rests;
    return rests;
  }

  // Returns log2 of a bound on the sum of truncated terms for k > m. With end =
  // x_0 + h the bound is h^J / J! P(N >= m - J), where N has the Poisson
  // distribution with mean `end`.
  double Log2(int size, double end) const {
    return log2_end[size] + Log2Tail(reach[size] * end - size - 1.0, end);
  }

 private:
  NodeRests() {
    double log2_factorial = 0.0;
    double inverse = 1.0;
    for (int j = 0; j <= kMaxNodeSums; ++j) {
      if (j > 0) {
        log2_factorial += std::log2(j);
        inverse /= j;
      }
      log2_end[j] = j * std::log2(kNodeSpacing) - log2_factorial;
      reach[j] =
          j > 0 ? std::exp2((log2_factorial - 53.0) / j) / kNodeSpacing : 0.0;
      if (j < kMaxNodeSums) inverse_factorials[j] = inverse;
    }
  }

  // Returns a Chernoff bound on log2 P(N >= k) for N with a Poisson
  // distribution.
  static double Log2Tail(double k, double mean) {
    if (!(k > mean)) return 0.0;
    return (k - mean - k * std::log(k / mean)) * kLog2E;
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_RESTS_H_
