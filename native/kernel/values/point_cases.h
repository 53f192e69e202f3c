// Distinguishes the cases of a time (negative, zero, infinite, ...), and sets
// the values that need no series.

#ifndef PHASIC_NATIVE_KERNEL_VALUES_POINT_CASES_H_
#define PHASIC_NATIVE_KERNEL_VALUES_POINT_CASES_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/model/model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
Point<T> PointOfKind(Kind kind) {
  Point<T> point;
  point.base = BaseOf(kind);
  point.is_log = IsLog(kind);
  point.is_interval = kind == Kind::kLogInterval;
  return point;
}

template <class T>
TimeCase Classify(const Model<T>& model, Base base, double time) {
  if (time < 0.0) return TimeCase::kBefore;
  if (time == HUGE_VAL) return TimeCase::kInfinite;
  if (time == 0.0 && base == Base::kDensity &&
      (model.discrete || !PrimalIsZero(model.prob_zero))) {
    return TimeCase::kAtom;
  }
  const bool matters = base == Base::kSurvival ? model.starts : model.absorbs;
  return matters ? TimeCase::kRegular : TimeCase::kZero;
}

// Sets the derivatives with respect to time at this point to NaN, because F has
// no derivatives there.
template <class T>
void RefuseSlope(Point<T>* point) {
  point->slope = T(kNaN);
  if (!IsZero(point->delta)) point->value.mantissa += kNaN * point->delta;
}

// Sets the limit of F. It is not known here if absorption is possible but not
// certain.
template <class T>
void SetLimit(const Model<T>& model, Point<T>* point) {
  if (point->base == Base::kDensity) return;
  if (model.defective && model.absorbs) {
    point->status = kNeverAbsorbed;
    return;
  }
  T passing(0.0);
  for (int64_t i = 0; i < model.size; ++i) passing += model.initial[i];
  if (model.defective) {
    point->value.mantissa =
        point->base == Base::kCdf ? model.prob_zero : passing;
  } else if (point->base == Base::kCdf) {
    const T total = model.prob_zero + passing;
    point->value.mantissa = total + T(1.0 - Primal(total));
  }
}

// Sets the part of the point's value that needs no series. Returns whether the
// value or a derivative needs terms of the power sequence. If not, the point is
// complete.
template <class T>
bool HasTerms(const Model<T>& model, Point<T>* point) {
  switch (point->time_case) {
    case TimeCase::kBefore:
      if (point->base == Base::kSurvival) point->value.mantissa = T(1.0);
      return false;
    case TimeCase::kAtom:
      point->value.mantissa = model.prob_zero;
      RefuseSlope(point);  // here the density is not continuous
      return false;
    case TimeCase::kInfinite:
      SetLimit(model, point);
      return false;
    case TimeCase::kZero:
      if (point->base == Base::kCdf) point->value.mantissa = model.prob_zero;
      return true;
    case TimeCase::kRegular:
      return true;
  }
  return true;
}

// Returns whether the work limit allows the steps that the point needs. If it
// does not, and the value of the point is a series, sets the status of the
// point to kWorkLimit.
template <class T>
bool IsWithinWork(const Sequence<T>& sequence, Point<T>* point) {
  const double limit = static_cast<double>(sequence.max_blocks()) * kBlock;
  if (point->x < limit) return true;
  if (point->time_case == TimeCase::kRegular) point->status = kWorkLimit;
  return false;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_POINT_CASES_H_
