// Evaluates F in values at times that PreparePoint refuses: times x = q t below
// the range of doubles, and times beyond the limits of work at which F is zero
// or one.

#ifndef PHASIC_NATIVE_KERNEL_VALUES_FAR_POINTS_H_
#define PHASIC_NATIVE_KERNEL_VALUES_FAR_POINTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "native/kernel/choice/choice.h"
#include "native/kernel/model/model.h"
#include "native/kernel/model/value_checks.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/point_cases.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

// Smaller x have an exponent of their own. Products of x and rates, weights or
// counts are then in range.
constexpr int64_t kLeastLog2X = -900;
constexpr double kLeastX = 0x1p-900;

// Returns q t for a positive time, which may be subnormal.
inline Scaled<double> ScaledX(double time, int64_t log2_q) {
  if (!IsSubnormal(time)) return Normalized(Scaled<double>{time, log2_q});
  return Normalized(Scaled<double>{SubnormalUnits(time), log2_q - 1074});
}

// Returns whether x = q t is positive and too small for PreparePoint.
inline bool IsTooEarly(double time, const Point<double>& point) {
  if (!HasBits(time) || std::signbit(time) || point.is_interval) return false;
  return point.status == kUnderflow ||
         (point.status == kOk && point.x < kLeastX &&
          point.time_case == TimeCase::kRegular);
}

// Prepares a point that is too early for PreparePoint. Returns whether its
// value needs a series.
inline bool PlaceEarly(double time, const Model<double>& model,
                       Point<double>* point) {
  point->status = kOk;
  point->time_case = Classify(model, point->base, 1.0);
  if (!HasTerms(model, point)) return false;
  const Scaled<double> x = ScaledX(time, model.log2_q);
  point->x_exponent = std::min<int64_t>(x.exponent - kLeastLog2X, 0);
  point->x = ScaleBy(x.mantissa, x.exponent - point->x_exponent);
  point->start_weight = StartWeight(point->x, &point->start);
  return point->time_case == TimeCase::kRegular;
}

// If a point is beyond the limits of work, moves it to an earlier time, at
// which F bounds it: survival functions fall, distribution functions rise to
// one, and a density is at most the survival function times the largest exit
// rate. Returns whether the point now needs a series.
inline bool PlaceBound(const Sequence<double>& sequence, Point<double>* point) {
  const Model<double>& model = sequence.model();
  const bool may_be_known =
      point->base == Base::kCdf ? !model.defective : !point->is_log;
  if (point->status != kWorkLimit || !may_be_known) return false;
  const double latest = TimeOfBound(sequence, point->x, &point->by_squaring);
  const bool is_density = point->base == Base::kDensity;
  // By steps, survival functions are not computed for densities.
  if (is_density && !point->by_squaring) return false;
  if (is_density) point->base = Base::kSurvival;
  point->status = kOk;
  point->is_bound = true;
  point->x = latest;
  if (point->by_squaring) return true;
  if (model.discrete) {
    point->start = static_cast<int64_t>(latest) / kBlock;
  } else {
    point->start_weight = StartWeight(latest, &point->start);
  }
  return true;
}

// Sets the value of a point, given that at the earlier time. Returns kWorkLimit
// if it does not follow.
template <class T>
StatusCode SettleBound(const Model<T>& model, StatusCode status,
                       Point<T>* point) {
  if (!point->is_bound) return status;
  if constexpr (std::is_same<T, double>::value) {
    Scaled<double> value = point->value;
    if (model.max_exit > 1.0) value.mantissa *= model.max_exit;
    const bool is_zero = ToPlain(value) == 0.0;
    const double bound = ToPlain(point->value);
    const bool is_cdf = point->base == Base::kCdf;
    const double total = model.prob_zero + model.initial_size;
    const bool follows = is_cdf ? bound >= (1.0 - 0x1p-44) * total : is_zero;
    point->value = {is_cdf ? 1.0 : 0.0, 0};
    if (status == kOk && follows) return kOk;
  }
  return kWorkLimit;
}

// Does what PreparePoint does, and prepares further points whose values can be
// computed, but not their derivatives.
template <class T>
bool PrepareValue(const SweepInput& in, int64_t index,
                  const Sequence<T>& sequence, Point<T>* point) {
  const bool needs_series = PreparePoint(in, index, sequence, point);
  if constexpr (std::is_same<T, double>::value) {
    const double time = in.times.value[index];
    const Model<double>& model = sequence.model();
    if (!model.discrete && IsTooEarly(time, *point)) {
      return PlaceEarly(time, model, point);
    }
    if (point->status == kWorkLimit) return PlaceBound(sequence, point);
  }
  return needs_series;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_FAR_POINTS_H_
