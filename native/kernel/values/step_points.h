// Evaluates F (see point.h) at numbers of steps of a discrete chain, where each
// value is a single coefficient. After k steps, the density is a_{k-1}, the
// survival function is b_k, and the cdf is prob_zero plus the sum of all a_j
// with j < k.

#ifndef PHASIC_NATIVE_KERNEL_VALUES_STEP_POINTS_H_
#define PHASIC_NATIVE_KERNEL_VALUES_STEP_POINTS_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/choice/choice.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/point_cases.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns the time as a number of steps. Replaces a subnormal number, which
// comparisons would treat as the integer zero, by a non-integer of the same
// sign.
inline double CountOf(double time) {
  return IsSubnormal(time) ? std::copysign(0.5, time) : time;
}

// Sets the members of a discrete chain's point that do not depend on its term.
// The kind of the point must have been set. Returns whether the value of the
// point needs a term.
template <class T>
bool PrepareStep(const SweepInput& in, int64_t index,
                 const Sequence<T>& sequence, Point<T>* point) {
  const Model<T>& model = sequence.model();
  const double count = CountOf(in.times.value[index]);
  const double whole = std::floor(count);
  if (count != count) {
    point->status = kTimeNaN;
    return false;
  }
  point->time_case = Classify(model, point->base, count);
  if (whole != count && point->base == Base::kDensity) {
    point->time_case = TimeCase::kBefore;
  }
  const bool regular = point->time_case == TimeCase::kRegular;
  if (whole == count && std::fabs(count) < HUGE_VAL) {
    point->delta = Element<T>(in.times, index);
    point->delta -= T(count);
  }
  point->x = point->base == Base::kDensity ? whole - 1.0 : whole;
  if (!HasTerms(model, point)) return false;
  // The survival function and the cdf jump at integers, and have no derivative
  // there. If nothing is absorbed, or no phase has initial mass, they jump only
  // at zero.
  if (whole == count && (regular || count == 0.0)) RefuseSlope(point);
  const double limit = static_cast<double>(sequence.max_blocks()) * kBlock;
  if (UsesSquaring(model, point->x, limit)) {
    point->by_squaring = true;
    return regular;
  }
  if (!IsWithinWork(sequence, point)) return false;
  point->start = static_cast<int64_t>(point->x) / kBlock;
  return regular;
}

template <class T>
void PickPoints(Channels<T>* channels, Point<T>* const* points, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    Point<T>& point = *points[i];
    const ChannelBlock<T>* block = channels->Get(point.start, &point.status);
    if (block == nullptr) continue;
    const T term = block->channels[0][StepInBlock(point)];
    point.value =
        Normalized(Scaled<T>{point.value.mantissa + term, block->exponent});
    if (Depth<T>::kValue > 0) point.loss = channels->Loss(point.start);
    // After underflow, a computed zero may stand for a positive number.
    if (channels->LostToUnderflow(point.start, {Primal(term), block->exponent},
                                  point.start)) {
      point.status = kUnderflow;
    }
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_STEP_POINTS_H_
