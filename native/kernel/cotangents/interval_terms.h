// Adds the contributions of intervals to the cotangents of the terms a_k of the
// power sequence (see sequence.h). This is the transpose of interval.h.

#ifndef PHASIC_NATIVE_KERNEL_COTANGENTS_INTERVAL_TERMS_H_
#define PHASIC_NATIVE_KERNEL_COTANGENTS_INTERVAL_TERMS_H_

#include <cstdint>

#include "native/kernel/cotangents/term_sums.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/mixture.h"
#include "native/kernel/values/interval.h"
#include "native/kernel/values/interval_weights.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
class IntervalTerms {
 public:
  // `density` accumulates the cotangents of the terms a_k.
  IntervalTerms(IntervalWeights* weights, TermSums<T>* density,
                const Model<T>& model)
      : weights_(*weights),
        density_(*density),
        log2_q_(model.log2_q),
        discrete_(model.discrete) {}

  // Adds the contributions of one interval. The truncation error is below
  // 2^-margin times the size of the interval's cotangent times its mass.
  // TermSums::Start sets the margin.
  StatusCode Add(const Interval<T>& interval) {
    if (discrete_) return interval.by_squaring ? kOk : AddSteps(interval);
    const Scaled<T>& seed = interval.seed;
    const Scaled<double> size = SizeOf(seed.mantissa, seed.exponent);
    const Scaled<double> mass =
        SizeOf(interval.mass.mantissa, interval.mass.exponent);
    const Scaled<double> own = {size.mantissa * mass.mantissa,
                                size.exponent + mass.exponent};
    StatusCode status = kOk;
    if (!interval.by_squaring) status = AddMass(interval, own);
    if (status == kOk) status = AddEnd(interval.upper, 1.0, seed, own);
    if (status == kOk) status = AddEnd(interval.lower, -1.0, seed, own);
    return status;
  }

 private:
  StatusCode AddMass(const Interval<T>& interval, const Scaled<double>& own) {
    const Scaled<T>& seed = interval.seed;
    StatusCode status =
        weights_.Begin(EndOf(interval.lower), EndOf(interval.upper));
    if (status != kOk) return status;
    int64_t last = interval.upper.start;
    for (;; ++last) {
      if (!density_.blocks()->Reserve(last, &status)) return status;
      const Scaled<double> tail = weights_.TailBound(last + 1);
      if (tail.mantissa < 0.0) return kMemoryLimit;
      const auto k = static_cast<double>((last + 1) * kBlock);
      const Scaled<double> share = {tail.mantissa, tail.exponent - log2_q_};
      if (!density_.CanDrop(share, seed, k, own)) continue;
      break;
    }
    int64_t first = interval.lower.start;
    for (; first > 0; --first) {
      const Scaled<double> head = weights_.HeadBound(first);
      if (head.mantissa < 0.0) return kMemoryLimit;
      if (density_.CanDropHead({head.mantissa, head.exponent - log2_q_},
                               seed)) {
        break;
      }
    }
    return weights_.Run(
        first, last, [&](int64_t b, int j, const Scaled<double>& weight) {
          density_.blocks()->AddTo(b, j,
                                   {weight.mantissa * seed.mantissa,
                                    weight.exponent + seed.exponent - log2_q_});
        });
  }

  StatusCode AddSteps(const Interval<T>& interval) {
    StatusCode status = kOk;
    const auto end = static_cast<int64_t>(interval.upper.x);
    if (!density_.blocks()->Reserve((end - 1) / kBlock, &status)) return status;
    for (auto k = static_cast<int64_t>(interval.lower.x); k < end; ++k) {
      density_.blocks()->AddTo(k / kBlock, static_cast<int>(k % kBlock),
                               interval.seed);
    }
    return kOk;
  }

  // Adds the contributions of the tangents of one end of an interval. If the
  // end is computed by scaling and squaring, SquaringAdjoint adds them.
  StatusCode AddEnd(const Point<T>& end, double sign, const Scaled<T>& seed,
                    const Scaled<double>& own) {
    if (end.by_squaring || IsZero(end.delta)) return kOk;
    const TaylorCoefficients<T> taylor(Base::kCdf, end.delta);
    T coefficients[kMaxOrder];
    for (int r = 0; r <= Depth<T>::kValue; ++r) {
      coefficients[r] = sign * (seed.mantissa * taylor.value[1 + r]);
    }
    return density_.MixSeries(end, {seed.mantissa, seed.exponent - log2_q_},
                              coefficients, own);
  }

  IntervalWeights& weights_;
  TermSums<T>& density_;
  const int64_t log2_q_;
  const bool discrete_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_COTANGENTS_INTERVAL_TERMS_H_
