// Evaluates F (see point.h) at each time of one model: determines the case of
// the time and sums its series.

#ifndef PHASIC_NATIVE_KERNEL_VALUES_POINTS_H_
#define PHASIC_NATIVE_KERNEL_VALUES_POINTS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/choice/choice.h"
#include "native/kernel/model/model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/lane_mixture.h"
#include "native/kernel/uniformization/mixture.h"
#include "native/kernel/uniformization/point.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/uniformization/time_losses.h"
#include "native/kernel/values/point_cases.h"
#include "native/kernel/values/step_points.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns kOk if the kind of the time with this index is valid: it must be a
// known kind, and the lower end of an interval must be followed by an upper
// end.
inline StatusCode CheckKind(const SweepInput& in, int64_t index) {
  if (in.kinds == nullptr) return kOk;
  const Kind kind = in.KindOf(index);
  if (kind == Kind::kLogInterval) {
    const bool has_upper = (index + 1) % in.row_length != 0 &&
                           in.KindOf(index + 1) == Kind::kNothing;
    return has_upper ? kOk : kIntervalOpen;
  }
  const bool known = kind == Kind::kNothing || (HasSeries(kind) && IsLog(kind));
  return known ? kOk : kKindInvalid;
}

// Sets x = q t and the tangents of x, for a finite time t.
template <class T>
void PlacePoint(const SweepInput& in, int64_t index, double q,
                Point<T>* point) {
  T tangents = Element<T>(in.times, index);
  tangents -= T(in.times.value[index]);
  point->delta = tangents * q;
  point->x = in.times.value[index] * q + 0.0;  // never -0
}

// Sets the block in which the summation of a point's series starts, and the
// Poisson weight of the first index of that block. Returns false if the series
// would exceed the work limit.
template <class T>
bool StartSeries(const Sequence<T>& sequence, int64_t index, Point<T>* point) {
  if (!IsWithinWork(sequence, point)) return false;
  point->start_weight = sequence.StartOf(index, point->x, &point->start);
  return true;
}

// Sets the members of a point that do not depend on its series, and returns
// whether its value needs a series. For an interval, only sets and checks the
// kind; see interval.h.
template <class T>
bool PreparePoint(const SweepInput& in, int64_t index,
                  const Sequence<T>& sequence, Point<T>* point) {
  const Model<T>& model = sequence.model();
  const Kind kind = in.KindOf(index);
  *point = PointOfKind<T>(kind);
  point->status = CheckKind(in, index);
  if (point->status != kOk || !HasSeries(kind)) return false;
  if (model.discrete) return PrepareStep(in, index, sequence, point);
  const double time = in.times.value[index];
  if (time != time || IsSubnormal(time)) {
    point->status = time != time ? kTimeNaN : kUnderflow;
    return false;
  }
  point->time_case = Classify(model, point->base, time);
  if (point->time_case != TimeCase::kInfinite) {
    PlacePoint(in, index, model.q, point);
    if (time > 0.0 && point->x == 0.0) {
      point->status = kUnderflow;
      return false;
    }
  }
  if (!HasTerms(model, point)) return false;
  const bool regular = point->time_case == TimeCase::kRegular;
  const double limit = static_cast<double>(sequence.max_blocks()) * kBlock;
  const Method method = MethodOf(model, point->x, in.num_times, limit);
  point->by_squaring = method != Method::kSteps;
  point->is_early = method == Method::kSquaringEarly;
  if (point->by_squaring) return regular;
  return StartSeries(sequence, index, point) && regular;
}

template <class T>
void FinishPoint(const Mixture<T>& mixture, const TaylorCoefficients<T>& taylor,
                 int num_channels, Point<T>* point) {
  point->status = mixture.status;
  if (mixture.status != kOk) return;
  for (int r = 0; r < num_channels; ++r) {
    AddProduct(taylor.value[r], mixture.channels[r], &point->value.mantissa);
    AddProduct(taylor.slope[r], mixture.channels[r], &point->slope);
  }
  point->value.exponent = mixture.exponent;
  if (Depth<T>::kValue > 0) point->loss = mixture.loss;
}

// Sums the series of all points, one after the other.
template <class T>
void MixPoints(Channels<T>* channels, Point<T>* const* points, int64_t count,
               bool /*slope*/) {
  if (channels->model().discrete) return PickPoints(channels, points, count);
  for (int64_t i = 0; i < count; ++i) {
    const TaylorCoefficients<T> taylor(channels->base(), points[i]->delta);
    FinishPoint(Mixer<T>(channels, *points[i]).Run(), taylor, channels->size(),
                points[i]);
    RefuseLosses(points[i]);
  }
}

// Sums the series of all points of a model without tangents, eight points at a
// time, ordered by x. Computes slopes only if `slope` is true.
inline void MixPoints(Channels<double>* channels, Point<double>** points,
                      int64_t count, bool slope) {
  if (count == 0) return;
  if (channels->model().discrete) return PickPoints(channels, points, count);
  const TaylorCoefficients<double> taylor(channels->base(), 0.0);
  const auto is_less = [](const Point<double>* a, const Point<double>* b) {
    return a->x < b->x;
  };
  if (!std::is_sorted(points, points + count, is_less)) {
    std::sort(points, points + count, is_less);
  }
  for (int64_t first = 0; first < count; first += kLanes) {
    const int64_t size = std::min<int64_t>(kLanes, count - first);
    const double limit =
        static_cast<double>(channels->sequence().max_blocks()) * kBlock;
    LaneTimes times;
    for (int64_t l = 0; l < size; ++l) {
      const Point<double>& point = *points[first + l];
      if (point.x >= 0x1p-10 && point.x < limit) {
        times.Set(l, point.x, point.start_weight, point.start);
      }
    }
    LaneMixer lanes(channels, times, slope);
    lanes.Run();
    for (int l = 0; l < size; ++l) {
      Point<double>* point = points[first + l];
      Mixture<double> mixture;
      if (lanes.IsOrdinary(l) && point->x_exponent == 0) {
        mixture.status = kOk;
        mixture.exponent = lanes.Exponent(l);
        for (int r = 0; r < channels->size(); ++r) {
          mixture.channels[r] = lanes.Channel(r, l);
        }
      } else {
        mixture = Mixer<double>(channels, *point).Run();
      }
      FinishPoint(mixture, taylor, channels->size(), point);
    }
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_POINTS_H_
