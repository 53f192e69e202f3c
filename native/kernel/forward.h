// Values (and, on dual numbers, directional derivatives) at the times of one
// model.

#ifndef PHASIC_NATIVE_KERNEL_FORWARD_H_
#define PHASIC_NATIVE_KERNEL_FORWARD_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/isa.h"
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

template <class T>
void ForwardSweep(const SweepInput& in, const SweepOutput& out,
                  Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  const Base base = BaseOf(in.kind);
  Model<T> model;
  StatusCode status = ModelBuilder<T>(in, workspace, &model).Build();
  const int num_channels = Depth<T>::kValue + 1;
  Sequence<T> sequence(model, base, num_channels, false, workspace);
  if (status == kOk) status = sequence.Start();
  const int64_t at_once = std::min(in.num_times, kPointsAtOnce);
  Point<T>* points = static_cast<Point<T>*>(
      workspace->Allocate(static_cast<size_t>(at_once), sizeof(Point<T>)));
  Point<T>** series = static_cast<Point<T>**>(
      workspace->Allocate(static_cast<size_t>(at_once), sizeof(Point<T>*)));
  if (points == nullptr || series == nullptr) status = kMemoryLimit;
  const double total = Primal(model.prob_zero) + Primal(model.initial_size);
  // A probability that rounding has pushed above one is one.
  const bool is_probability =
      Depth<T>::kValue == 0 && base != Base::kDensity && total <= 1.0 + 1e-6;
  const double limit = IsLog(in.kind) ? 0.0 : 1.0;
  for (int64_t first = 0; first < in.num_times; first += kPointsAtOnce) {
    const int64_t count = std::min(in.num_times - first, kPointsAtOnce);
    if (status == kOk) {
      int64_t num_series = 0;
      for (int64_t i = 0; i < count; ++i) {
        if (PreparePoint(in, first + i, sequence, &points[i])) {
          series[num_series++] = &points[i];
        }
      }
      MixPoints(&sequence, series, num_series);
    }
    for (int64_t i = 0; i < count; ++i) {
      const StatusCode code = status == kOk ? points[i].status : status;
      if (out.status != nullptr) out.status[first + i] = code;
      double result = kNaN;
      if (code == kOk) result = ResultOf(points[i].value, IsLog(in.kind));
      out.values[first + i] = is_probability && result > limit ? limit : result;
    }
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FORWARD_H_
