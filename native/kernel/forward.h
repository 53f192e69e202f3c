// Values (and, on dual numbers, directional derivatives) at the times of one
// model.

#ifndef PHASIC_NATIVE_KERNEL_FORWARD_H_
#define PHASIC_NATIVE_KERNEL_FORWARD_H_

#include <cmath>
#include <cstdint>
#include <limits>

#include "native/kernel/isa.h"
#include "native/kernel/mixture.h"
#include "native/kernel/model.h"
#include "native/kernel/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

enum class TimeCase {
  kRegular,   // the series
  kZero,      // no phase that matters is ever entered
  kBefore,    // t < 0
  kAtom,      // density at 0, where there is an atom
  kInfinite,  // t = inf
};

// F at one time; F and its slope in x = q t share the exponent.
template <class T>
struct Point {
  StatusCode status = kOk;
  TimeCase time_case = TimeCase::kRegular;
  double x = 0.0;
  T delta = T(0.0);  // tangents of x
  Scaled<T> value;
  T slope = T(0.0);
};

template <class T>
TimeCase Classify(const Model<T>& model, Base base, double time) {
  if (time < 0.0) return TimeCase::kBefore;
  if (time == HUGE_VAL) return TimeCase::kInfinite;
  if (time == 0.0 && base == Base::kDensity && Primal(model.prob_zero) > 0.0) {
    return TimeCase::kAtom;
  }
  const bool matters = base == Base::kSurvival ? model.starts : model.absorbs;
  return matters ? TimeCase::kRegular : TimeCase::kZero;
}

template <class T>
Point<T> EvaluatePoint(const SweepInput& in, int64_t index,
                       Sequence<T>* sequence) {
  const Model<T>& model = sequence->model();
  const Base base = sequence->base();
  const double time = in.times.value[index];
  Point<T> point;
  if (time != time) {
    point.status = kTimeNaN;
    return point;
  }
  if (IsSubnormal(time)) {
    point.status = kUnderflow;
    return point;
  }
  point.time_case = Classify(model, base, time);
  T tangents = Element<T>(in.times, index);
  tangents -= T(time);
  if (point.time_case == TimeCase::kInfinite) tangents = T(0.0);
  point.x = time * model.q;
  point.delta = tangents * model.q;
  switch (point.time_case) {
    case TimeCase::kBefore:
      if (base == Base::kSurvival) point.value.mantissa = T(1.0);
      return point;
    case TimeCase::kAtom:
      point.value.mantissa = model.prob_zero;
      // The density has an isolated value here: no derivative in time.
      point.slope = T(kNaN);
      if (!IsZero(point.delta)) point.value.mantissa += kNaN * point.delta;
      return point;
    case TimeCase::kZero:
      if (base == Base::kCdf) point.value.mantissa = model.prob_zero;
      return point;
    case TimeCase::kInfinite:
      if (model.defective && base != Base::kDensity) {
        point.status = kNeverAbsorbed;
      } else if (base == Base::kCdf) {
        T total = model.prob_zero;
        for (int64_t i = 0; i < model.size; ++i) total += model.initial[i];
        point.value.mantissa = total + T(1.0 - Primal(total));
      }
      return point;
    case TimeCase::kRegular:
      break;
  }
  if (!(point.x < static_cast<double>(sequence->max_blocks()) * kBlock)) {
    point.status = kWorkLimit;
    return point;
  }
  Mixture<T> mixture = Mixer<T>(sequence, point.x).Run();
  point.status = mixture.status;
  if (mixture.status != kOk) return point;
  const TaylorCoefficients<T> taylor(base, point.delta);
  for (int r = 0; r < sequence->num_channels(); ++r) {
    point.value.mantissa += taylor.value[r] * mixture.channels[r];
    point.slope += taylor.slope[r] * mixture.channels[r];
  }
  point.value.exponent = mixture.exponent;
  return point;
}

template <class T>
double ResultOf(const Scaled<T>& value, bool log) {
  constexpr bool kPlain = Depth<T>::kValue == 0;
  if (!log) return Top(ToPlain(value));
  const double logarithm = Top(Log(value.mantissa));
  // Tangents of a logarithm do not depend on the exponent.
  return kPlain ? logarithm + static_cast<double>(value.exponent) * kLn2
                : logarithm;
}

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
  for (int64_t i = 0; i < in.num_times; ++i) {
    Point<T> point;
    point.status = status;
    if (status == kOk) point = EvaluatePoint(in, i, &sequence);
    if (out.status != nullptr) out.status[i] = point.status;
    if (point.status != kOk) {
      out.values[i] = kNaN;
      continue;
    }
    const double result = ResultOf(point.value, IsLog(in.kind));
    const double total = Primal(model.prob_zero) + Primal(model.initial_size);
    const double limit = IsLog(in.kind) ? 0.0 : 1.0;
    const bool above = Depth<T>::kValue == 0 && base != Base::kDensity &&
                       total <= 1.0 + 1e-6 && result > limit;
    // A probability that rounding has pushed above one is one.
    out.values[i] = above ? limit : result;
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FORWARD_H_
