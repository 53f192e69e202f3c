// Computes the cotangents of alpha at times of scaling and squaring with an
// exponent for each phase, where SquaringAdjoint loses some of them.
//
// For a single time, the cotangent of alpha_i is proportional to the value for
// a chain that starts in phase i. If the chain passes a slow phase, that value
// is far smaller for the phases after it, at late times by more than the range
// of doubles.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_STARTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_STARTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/choice/choice.h"
#include "native/kernel/methods/squaring/scaled_powers.h"
#include "native/kernel/methods/squaring/squaring_path.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// Does nothing for types other than double: extended doubles do not use
// squaring, and for dual numbers there are no such powers.
template <class T>
class SquaringStarts {
 public:
  SquaringStarts(SquaringPath<T>*, Workspace*) {}
  const Scaled<T>* Run(Point<T>* const*, int64_t) { return nullptr; }
};

template <>
class SquaringStarts<double> {
 public:
  SquaringStarts(SquaringPath<double>* path, Workspace* workspace)
      : path_(*path),
        model_(path->squared_powers()->model()),
        workspace_(workspace),
        powers_(*path->squared_powers(), workspace) {}

  // Returns the sums over points of the derivatives of their values, times the
  // cotangents of the values; or nullptr if flushing errors may not be
  // negligible, if steps cost less, or if memory does not suffice. Later calls
  // return the same.
  const Scaled<double>* Run(Point<double>* const* points, int64_t count) {
    if (has_run_) return starts_;
    has_run_ = true;
    double last = 0.0;
    for (int64_t n = 0; n < count; ++n) last = std::max(last, points[n]->x);
    if (count == 0 || !MayReplaceSweep(model_, last, count) ||
        !y_.Allocate(model_.stride, workspace_)) {
      return nullptr;
    }
    starts_ = static_cast<Scaled<double>*>(workspace_->Allocate(
        static_cast<size_t>(model_.stride), sizeof(Scaled<double>)));
    if (starts_ == nullptr) return nullptr;
    std::fill(starts_, starts_ + model_.stride, Scaled<double>{});
    bool is_known = true;
    for (int64_t n = 0; n < count && is_known; ++n) {
      is_known = IsZero(points[n]->seed.mantissa) || AddPoint(*points[n]);
    }
    FloatEnvironment::ClearUnderflow();
    if (!is_known) starts_ = nullptr;
    return starts_;
  }

 private:
  bool AddPoint(const Point<double>& point) {
    if (point.base == Base::kCdf) return false;
    const SquaringLeg leg = path_.LegOf(point.x);
    if (!powers_.Reach(leg.num_squared)) return false;
    for (int64_t i = 0; i < model_.size; ++i) {
      y_.Set(i, point.base == Base::kDensity ? model_.exits[i] : 1.0, 0);
    }
    for (int64_t j = 0; j < leg.num_squared; ++j) {
      if (leg.Takes(j) && !powers_.Apply(j, &y_)) return false;
    }
    if (!model_.discrete) powers_.ApplyStep(leg.step, &y_);
    for (int64_t i = 0; i < model_.size; ++i) {
      if (y_.mantissas[i] == 0.0 && !IsZeroIndeed(point.base, i)) return false;
      Add(&starts_[i], Scaled<double>{y_.mantissas[i] * point.seed.mantissa,
                                      y_.exponents[i] + point.seed.exponent});
    }
    return true;
  }

  // Returns whether the value is zero for a chain that starts in phase i.
  bool IsZeroIndeed(Base base, int64_t i) const {
    if (base != Base::kDensity) return false;
    for (int64_t k = 0; k < model_.size; ++k) {
      if (model_.exits[k] > 0.0 && powers_.Leads(i, k)) return false;
    }
    return true;
  }

  SquaringPath<double>& path_;
  const Model<double>& model_;
  Workspace* workspace_;
  ScaledPowers powers_;
  ScaledVector y_;
  Scaled<double>* starts_ = nullptr;
  bool has_run_ = false;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_STARTS_H_
