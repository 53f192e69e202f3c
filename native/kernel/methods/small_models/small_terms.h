// The terms of the power sequences of small models in SIMD lanes, step by step.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TERMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TERMS_H_

#include <cstdint>

#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns the dot product sum_i x[i] y[i] for a constant number of entries.
template <int kPhases>
[[gnu::always_inline]] inline PerModel SmallDot(const PerModel* x,
                                                const PerModel* y) {
  PerModel even = x[0] * y[0];
  PerModel odd = x[1] * y[1];
  Unrolled<kPhases / 2 - 1>([&](auto i) {
    even.AddProduct(x[2 * i + 2], y[2 * i + 2]);
    odd.AddProduct(x[2 * i + 3], y[2 * i + 3]);
  });
  return even + odd;
}

template <int kPhases>
[[gnu::always_inline]] inline PerModel SmallSum(const PerModel* x) {
  PerModel even = x[0];
  PerModel odd = x[1];
  Unrolled<kPhases / 2 - 1>([&](auto i) {
    even = even + x[2 * i + 2];
    odd = odd + x[2 * i + 3];
  });
  return even + odd;
}

// The terms a'_k, b_k and A_k of one step; see channels.h. All but the first
// are computed only if some time needs more than a density.
struct SmallTerm {
  PerModel absorbed;
  PerModel mass;
  PerModel cumulative;
};

// Computes the terms of one step after the other.
template <int kPhases>
class SmallTerms {
 public:
  explicit SmallTerms(const SmallModels<kPhases>& models) : models_(&models) {
    cumulative_ = models.prob_zero;
    for (int i = 0; i < kPhases; ++i) state_[i] = models.initial[i];
    // Stores the matrices by columns, in the order in which steps read them.
    for (int i = 0; i < kPhases; ++i) {
      for (int j = 0; j < kPhases; ++j) columns_[j][i] = models.steps[i][j];
    }
  }

  const PerModel* state() const { return state_; }
  PerModel Mass() const { return SmallSum<kPhases>(state_); }

  template <bool kHasOthers>
  [[gnu::always_inline]] SmallTerm Next() {
    SmallTerm term;
    term.absorbed = SmallDot<kPhases>(state_, models_->exits);
    if constexpr (kHasOthers) {
      term.mass = Mass();
      term.cumulative = cumulative_;
      cumulative_ = cumulative_ + term.absorbed;
    }
    PerModel next[kPhases];
    Unrolled<kPhases>([&](auto j) {  //
      next[j] = SmallDot<kPhases>(state_, columns_[j]);
    });
    Unrolled<kPhases>([&](auto j) { state_[j] = next[j]; });
    return term;
  }

 private:
  const SmallModels<kPhases>* models_;
  PerModel state_[kPhases];
  PerModel columns_[kPhases][kPhases];
  PerModel cumulative_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TERMS_H_
