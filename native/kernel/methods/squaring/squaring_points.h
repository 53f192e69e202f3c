// Evaluates F (see point.h) at times for which scaling and squaring is used.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_POINTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_POINTS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/choice/choice.h"
#include "native/kernel/methods/squaring/squaring_mixer.h"
#include "native/kernel/methods/squaring/squaring_path.h"
#include "native/kernel/methods/squaring/squaring_paths.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/time_losses.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

// Evaluates a point by scaling and squaring, with its slope if `slope` is true.
// If the point is not assigned to that method, does nothing and returns false.
template <class T>
bool MixBySquaring(SquaringPath<T>* path, bool slope, Point<T>* point) {
  if (!point->by_squaring) return false;
  const bool is_step = path->squared_powers()->model().discrete;
  const bool moves = !is_step && (slope || !IsZero(point->delta));
  const Mixture<T> mixture =
      SquaringMixer<T>(path).Run(point->base, point->x, moves);
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
void MixBySquaring(SquaringPath<T>* path, SquaringPaths<T>*,
                   Point<T>* const* points, int64_t count) {
  for (int64_t n = 0; n < count && !IsStopped(); ++n) {
    MixBySquaring(path, false, points[n]);
  }
}
inline void MixBySquaring(SquaringPath<double>* path,
                          SquaringPaths<double>* paths,
                          Point<double>* const* points, int64_t count) {
  // With fewer phases the squared powers fit into the processor's caches, and
  // evaluating several points together saves nothing.
  constexpr int64_t kLeastPhases = 64;
  constexpr int kMost = SquaringPaths<double>::kMost;
  const bool are_few = path->squared_powers()->model().size < kLeastPhases;
  for (int64_t first = 0; first < count; first += kMost) {
    if (first > 0 && IsStopped()) return;
    const int size = static_cast<int>(std::min<int64_t>(kMost, count - first));
    Base bases[kMost];
    double xs[kMost];
    for (int n = 0; n < size; ++n) {
      bases[n] = points[first + n]->base;
      xs[n] = points[first + n]->x;
    }
    const bool are_together =
        !are_few && size > 1 && paths->Follow(bases, xs, size) == kOk;
    for (int n = 0; n < size; ++n) {
      Point<double>* point = points[first + n];
      if (!are_together) {
        MixBySquaring(path, false, point);
        continue;
      }
      const Mixture<double> mixture = paths->End(n, bases[n], xs[n]);
      point->status = mixture.status;
      if (mixture.status != kOk) continue;
      point->value.exponent = mixture.exponent;
      point->value.mantissa += mixture.channels[0];
    }
  }
}

// If the power sequence failed for a point, evaluates the point by scaling and
// squaring, where PreparePoint assigns it to that method or where it may
// replace steps.
template <class T>
void RetryBySquaring(const SweepInput& in, int64_t index,
                     const Sequence<T>& sequence, SquaringPath<T>* path,
                     bool slope, Point<T>* point) {
  if (point->status == kOk) return;
  Point<T> again;
  if (!PreparePoint(in, index, sequence, &again)) return;
  const bool replaces =
      !again.by_squaring && MayReplaceSteps(sequence.model(), *point);
  if (replaces) again.by_squaring = true;
  if (!MixBySquaring(path, slope, &again)) return;
  // Extended doubles compute the points that squaring cannot compute either.
  const bool is_known = again.status == kOk && IsFinite(again.slope) &&
                        IsFinite(again.value.mantissa);
  if (!replaces || is_known) *point = again;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_POINTS_H_
