// Truncates the series about an expansion point to polynomials, as short as
// accuracy allows.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_POLYNOMIAL_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_POLYNOMIAL_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/methods/many_times/node_terms.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr double kNodeSpacing = 4.0;
constexpr int kNodeChannels = 2;  // F, and its slope

struct NodeSeries {
  double start;      // x_0
  int64_t exponent;  // common exponent of all terms
  int num_terms;
  double terms[kNodeChannels][kNodeTerms];  // c_j / j!, channel by channel
  double first;                             // c_0
  double last;                              // sum_j 4^j / j! c_j
  // Of dual numbers, the series of the tangents, and of their absolute values.
  double tangents[kNodeTerms];
  double sizes[kNodeTerms];
};

// The numbers 4^j / j! (`at_end`) and 1 / j!.
struct NodePowers {
  double at_end[kNodeTerms + 1];
  double inverse_factorials[kNodeTerms];

  constexpr NodePowers() : at_end(), inverse_factorials() {
    double power = 1.0;
    double inverse = 1.0;
    for (int j = 0; j < kNodeTerms; ++j) {
      at_end[j] = power;
      inverse_factorials[j] = inverse;
      power *= kNodeSpacing / (j + 1);
      inverse /= j + 1;
    }
    at_end[kNodeTerms] = power;
  }
};
inline constexpr NodePowers kNodePowers;

// Chooses the number of terms and divides the sums c_j by factorials, for F
// and, with two channels, for the function that gives its slope. Returns
// whether the truncation error is negligible. rests[r] is a bound on every c_j
// with j >= 48 of channel r. A density's slope uses c_{j+1}, so that one term
// less is known.
inline bool MakePolynomials(const double (*c)[kNodeTerms], const double* rests,
                            int num_channels, bool is_density, bool absorbs,
                            NodeSeries* node) {
  using Lanes = Pack<8>;
  constexpr double kRest = 0x1p-55;  // relative to F
  constexpr double kTail = 1.0 / (1.0 - kNodeSpacing / (kNodeTerms - 1));
  constexpr double kLargest = 0x1p464;
  int needed = 0;
  double sum[kNodeChannels] = {};
  for (int r = 0; r < num_channels; ++r) {
    double terms[kNodeTerms];
    Lanes total(0.0);
    for (int j = 0; j < kNodeTerms; j += 8) {
      const Lanes some = Lanes::Load(c[r] + j);
      const Lanes at_end = some * Lanes::Load(kNodePowers.at_end + j);
      total = total + at_end;
      at_end.Store(terms + j);
      (some * Lanes::Load(kNodePowers.inverse_factorials + j))
          .Store(node->terms[r] + j);
    }
    sum[r] = total.Total();
    if (r == 1 && !absorbs) continue;
    // A density's slope is a difference of two terms, and its error is relative
    // to both.
    const bool is_next = r == 1 && is_density;
    const double size = sum[r] + (is_next ? sum[0] : 0.0);
    const double limit = kRest * 0.5 * size;
    double rest =
        kNodePowers.at_end[kNodeTerms - (is_next ? 1 : 0)] * kTail * rests[r];
    if (!(rest <= limit && size < kLargest)) return false;
    int count = kNodeTerms;
    while (count > 0 && rest + terms[count - 1] <= limit) {
      rest += terms[--count];
    }
    needed = std::max(needed, count);
  }
  node->num_terms = needed < 4 ? 4 : (needed + 3) / 4 * 4;
  node->first = c[0][0];
  node->last = sum[0];
  return true;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_NODE_POLYNOMIAL_H_
