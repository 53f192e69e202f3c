// Evaluates F (see point.h) at times for which scaling and squaring is used.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_LADDER_POINTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_LADDER_POINTS_H_

#include <cstdint>

#include "native/kernel/choice/choice.h"
#include "native/kernel/methods/squaring/ladder_mixer.h"
#include "native/kernel/methods/squaring/ladder_path.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/time_losses.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

// Evaluates a point by scaling and squaring, with its slope if `slope` is true.
// If the point is not assigned to that method, does nothing and returns false.
template <class T>
bool MixOnLadder(LadderPath<T>* path, bool slope, Point<T>* point) {
  if (!point->on_ladder) return false;
  const bool is_step = path->ladder()->model().discrete;
  const bool moves = !is_step && (slope || !IsZero(point->delta));
  const Mixture<T> mixture =
      LadderMixer<T>(path).Run(point->base, point->x, moves);
  point->status = mixture.status;
  if (mixture.status != kOk) return true;
  point->value.exponent = mixture.exponent;
  if (!moves) {
    point->value.mantissa += mixture.channels[0];
    return true;
  }
  T power(1.0);  // delta^r / r!
  for (int r = 0; r < path->num_channels(); ++r) {
    point->value.mantissa += SafeProduct(power, mixture.channels[r]);
    if (r + 1 < path->num_channels()) {
      point->slope += SafeProduct(power, mixture.channels[r + 1]);
    }
    power = (1.0 / (r + 1)) * (power * point->delta);
  }
  return true;
}

// Evaluates points, all of which are assigned to scaling and squaring.
template <class T>
void MixOnLadder(LadderPath<T>* path, Point<T>* const* points, int64_t count) {
  for (int64_t n = 0; n < count && !IsStopped(); ++n) {
    MixOnLadder(path, false, points[n]);
  }
}

// If the power sequence failed for a point, evaluates the point by scaling and
// squaring, where PreparePoint assigns it to that method or where it may
// replace steps.
template <class T>
void RetryOnLadder(const SweepInput& in, int64_t index,
                   const Sequence<T>& sequence, LadderPath<T>* path, bool slope,
                   Point<T>* point) {
  if (point->status == kOk) return;
  Point<T> again;
  if (!PreparePoint(in, index, sequence, &again)) return;
  const bool replaces =
      !again.on_ladder && MayReplaceSteps(sequence.model(), *point);
  if (replaces) again.on_ladder = true;
  if (!MixOnLadder(path, slope, &again)) return;
  // Extended doubles compute the points that squaring cannot compute either.
  const bool is_known = again.status == kOk && IsFinite(again.slope) &&
                        IsFinite(again.value.mantissa);
  if (!replaces || is_known) *point = again;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_LADDER_POINTS_H_
