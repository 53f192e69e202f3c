// Converts the moments and gradients of a model to the output type and writes
// them.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_WRITER_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_WRITER_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "native/elimination/api/moments.h"
#include "native/elimination/moments/moment_numbers.h"
#include "native/elimination/moments/moment_sums.h"
#include "native/elimination/moments/moments_layout.h"

namespace phasic {

template <class F>
class MomentWriter {
 public:
  MomentWriter(const MomentsCall& call, const MomentsLayout& layout,
               const MomentResults& mean, const MomentResults& variance)
      : call_(call), layout_(layout), mean_(mean), variance_(variance) {}

  // Sets the moments of a model without finite moments to `value`, and its
  // gradients to NaN.
  void Fill(int64_t model, F value) const {
    const auto fill = [&](const MomentResults& results) {
      *Part(results.value, model, 1) = value;
      if (!call_.wants_gradients) return;
      const F nan = std::numeric_limits<F>::quiet_NaN();
      const auto fill_part = [&](const Output& output, int64_t count) {
        std::fill_n(Part(output, model, count), count, nan);
      };
      fill_part(results.of_weights, num_weights());
      if (layout_.has_exits()) {
        const int64_t p = layout_.num_phases();
        F* entries = Part(results.of_weights, model, num_weights());
        for (int64_t i = 0; i < p; ++i) entries[i * p + i] = 0.0;
      }
      fill_part(results.of_exits, num_exits());
      fill_part(results.of_initial, layout_.num_phases());
    };
    fill(mean_);
    if (call_.wants_variance) fill(variance_);
  }

  template <class T>
  void Write(int64_t model, const MomentSums<T>& sums) const {
    const int n = -sums.exponent;
    *Part(mean_.value, model, 1) = Rounded<F>(ToDouble(ValueOf(sums.Mean())));
    if (call_.wants_gradients) {
      WriteSlopes(
          model, sums, mean_, ScaledNumber<T>{1.0, n},
          [&](int64_t e) { return sums.MeanSlope(e); },
          [&](int64_t i, int64_t j) { return sums.MeanSlopeOfEntry(i, j); },
          [&](int64_t i) { return sums.arrays.expected[i]; });
    }
    if (!call_.wants_variance) return;
    ScaledNumber<T> variance = sums.Variance();
    ScaledNumber<T> unit = {1.0, 2 * n};
    if (call_.wants_root) {
      variance = SquareRoot(variance);
      unit = {T(0.5) / TimesPower(variance.value, variance.exponent - n), n};
    }
    *Part(variance_.value, model, 1) = Rounded<F>(ToDouble(ValueOf(variance)));
    if (!call_.wants_gradients) return;
    WriteSlopes(
        model, sums, variance_, unit,
        [&](int64_t e) { return sums.VarianceSlope(e); },
        [&](int64_t i, int64_t j) { return sums.VarianceSlopeOfEntry(i, j); },
        [&](int64_t i) { return sums.VarianceSlopeOfMass(i); });
  }

 private:
  // Returns a pointer to the entries of a model in an output that has `size`
  // entries for each model.
  static F* Part(const Output& output, int64_t model, int64_t size) {
    return static_cast<F*>(output.data) + model * size;
  }

  int64_t num_weights() const {
    const int64_t p = layout_.num_phases();
    return layout_.has_matrix() ? p * p : layout_.num_edges();
  }
  int64_t num_exits() const {
    return layout_.has_exits() ? layout_.num_phases() : 0;
  }

  // Writes the gradient of a moment: derivatives times `unit`, where
  // derivatives with respect to weights and exits are also multiplied by
  // 2^-exponent. `of_entry` gives those of a matrix with derived exits.
  template <class T, class OfEdge, class OfEntry, class OfPhase>
  void WriteSlopes(int64_t model, const MomentSums<T>& sums,
                   const MomentResults& results, ScaledNumber<T> unit,
                   const OfEdge& of_edge, const OfEntry& of_entry,
                   const OfPhase& of_phase) const {
    const int64_t p = layout_.num_phases();
    const auto of_weight = [&](int64_t k) -> T {
      if (!layout_.has_matrix()) return of_edge(k);
      if (!layout_.has_exits()) return of_entry(k / p, k % p);
      return k / p == k % p ? T(0.0) : of_edge(k);
    };
    const auto of_exit = [&](int64_t i) { return of_edge(p * p + i); };
    WriteScaled(p, unit, Part(results.of_initial, model, p), of_phase);
    unit.exponent -= sums.exponent;
    WriteScaled(num_weights(), unit,
                Part(results.of_weights, model, num_weights()), of_weight);
    WriteScaled(num_exits(), unit, Part(results.of_exits, model, num_exits()),
                of_exit);
  }

  template <class T, class Slope>
  static void WriteScaled(int64_t count, const ScaledNumber<T>& unit, F* to,
                          const Slope& slope) {
    // The power of two may be out of range. So it is split into two factors.
    const int exponent = std::clamp(unit.exponent, -2000, 2000);
    const T first = TimesPower(unit.value, exponent / 2);
    const T last = TimesPower(T(1.0), exponent - exponent / 2);
    for (int64_t i = 0; i < count; ++i) {
      to[i] = Rounded<F>(ToDouble(slope(i) * first * last));
    }
  }

  const MomentsCall& call_;
  const MomentsLayout& layout_;
  const MomentResults& mean_;
  const MomentResults& variance_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENT_WRITER_H_
