// Values (and, on dual numbers, directional derivatives) at the times of one
// model.

#ifndef PHASIC_NATIVE_KERNEL_FORWARD_H_
#define PHASIC_NATIVE_KERNEL_FORWARD_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/channels.h"
#include "native/kernel/isa.h"
#include "native/kernel/ladder_points.h"
#include "native/kernel/model.h"
#include "native/kernel/points.h"
#include "native/kernel/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
double ResultOf(const Scaled<T>& value, bool log) {
  constexpr bool kPlain = Depth<T>::kValue == 0;
  if (!log) return Top(ToPlain(value));
  const double logarithm = Top(Log(value.mantissa));
  // Tangents of a logarithm do not depend on the exponent.
  return kPlain ? logarithm + static_cast<double>(value.exponent) * kLn2
                : logarithm;
}

// Points are taken so many at a time: memory does not grow with their number.
constexpr int64_t kPointsAtOnce = 1024;

// Mixes those of the points that need a series, kind by kind.
template <class T>
void MixAllPoints(ChannelSets<T>* sets, Point<T>* points, int64_t count,
                  const bool* needs_series, Point<T>** scratch) {
  for (int base = 0; base < kNumBases; ++base) {
    int64_t size = 0;
    for (int64_t i = 0; i < count; ++i) {
      if (needs_series[i] && static_cast<int>(points[i].base) == base) {
        scratch[size++] = &points[i];
      }
    }
    MixPoints(sets->Of(static_cast<Base>(base)), scratch, size, false);
  }
}

// A probability that rounding has pushed above one is one.
template <class T>
double Limited(double result, const Model<T>& model, const Point<T>& point) {
  if (Depth<T>::kValue > 0 || point.base == Base::kDensity) return result;
  const double total = Primal(model.prob_zero) + Primal(model.initial_size);
  const double limit = point.is_log ? 0.0 : 1.0;
  return total <= 1.0 + 1e-6 && result > limit ? limit : result;
}

template <class T>
void ForwardSweep(const SweepInput& in, const SweepOutput& out,
                  Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  Model<T> model;
  StatusCode status = ModelBuilder<T>(in, workspace, &model).Build();
  Sequence<T> sequence(model, HasBase(in, Base::kSurvival), false, workspace);
  ChannelSets<T> sets(&sequence, Depth<T>::kValue + 1, workspace);
  if (status == kOk) status = sequence.Start();
  Ladder<T> ladder(model, workspace);
  LadderPath<T> ladder_path(&ladder, Depth<T>::kValue + 1, workspace);
  const auto at_once =
      static_cast<size_t>(std::min(in.num_times, kPointsAtOnce));
  Point<T>* points =
      static_cast<Point<T>*>(workspace->Allocate(at_once, sizeof(Point<T>)));
  Point<T>** scratch =
      static_cast<Point<T>**>(workspace->Allocate(at_once, sizeof(Point<T>*)));
  bool* needs_series =
      static_cast<bool*>(workspace->Allocate(at_once, sizeof(bool)));
  if (!points || !scratch || !needs_series) status = kMemoryLimit;
  for (int64_t first = 0; first < in.num_times; first += kPointsAtOnce) {
    const int64_t count = std::min(in.num_times - first, kPointsAtOnce);
    if (status == kOk) {
      for (int64_t i = 0; i < count; ++i) {
        needs_series[i] = PreparePoint(in, first + i, sequence, &points[i]) &&
                          !MixOnLadder(&ladder_path, &points[i]);
      }
      MixAllPoints(&sets, points, count, needs_series, scratch);
    }
    for (int64_t i = 0; i < count; ++i) {
      const StatusCode code = status == kOk ? points[i].status : status;
      if (out.status != nullptr) out.status[first + i] = code;
      out.values[first + i] =
          code == kOk ? Limited(ResultOf(points[i].value, points[i].is_log),
                                model, points[i])
                      : kNaN;
    }
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FORWARD_H_
