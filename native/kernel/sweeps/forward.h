// Computes the values at the times of one model. With dual numbers computes
// directional derivatives.

#ifndef PHASIC_NATIVE_KERNEL_SWEEPS_FORWARD_H_
#define PHASIC_NATIVE_KERNEL_SWEEPS_FORWARD_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "native/kernel/choice/work_of_times.h"
#include "native/kernel/model/model.h"
#include "native/kernel/model/rate_scales.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/evaluation.h"
#include "native/kernel/sweeps/kept_model.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/sequence.h"
#include "native/kernel/values/far_points.h"
#include "native/kernel/values/interval.h"
#include "native/kernel/values/methods.h"
#include "native/kernel/values/points.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns F, or log F if `log` is true. If T is a type of dual numbers, returns
// the derivative instead. The result is multiplied by 2^exponent.
template <class T>
double ResultOf(const Scaled<T>& result, bool log, int64_t exponent) {
  constexpr bool kPlain = Depth<T>::kValue == 0;
  if (!log) return Top(ScaleBy(result.mantissa, result.exponent + exponent));
  const Scaled<T> value =
      HasOwnExponent<T>::kValue ? Normalized(result) : result;
  const double logarithm = Top(ScaleBy(Log(value.mantissa), exponent));
  // A factor of 2^value.exponent does not change the tangents of a logarithm.
  return kPlain ? logarithm + static_cast<double>(value.exponent) * kLn2
                : logarithm;
}

// The number of points that are processed together. It is limited so that
// memory does not grow with the number of times.
constexpr int64_t kPointsAtOnce = 1024;

// Sums the series of all points that need one. Takes one function (density,
// survival or cdf) at a time. `scratch` has room for `count` pointers.
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

// Evaluates the points that are intervals, and leaves the others unchanged.
// places[i] is the index of the time of points[i] or, for an interval, of its
// lower end.
template <class T>
void EvaluateIntervals(const SweepInput& in, const int64_t* places,
                       int64_t count, Evaluation<T>* of, Point<T>* points) {
  if (in.kinds == nullptr) return;
  IntervalMixer<T> mixer(in, of->sets.Of(Base::kDensity), &of->interval_weights,
                         &of->squaring_path);
  for (int64_t i = 0; i < count; ++i) {
    Point<T>& point = points[i];
    if (!point.is_interval || point.status != kOk) continue;
    const Interval<T> interval = mixer.Evaluate(places[i]);
    point.status = interval.status;
    point.value = interval.mass;
    point.loss = interval.loss;
    point.base = Base::kCdf;  // a probability
    point.is_log = true;
  }
}

// Returns the result. If it is a probability that rounding raised above one,
// returns one instead (zero for its logarithm).
template <class T>
double Limited(double result, const Model<T>& model, const Point<T>& point) {
  if (Depth<T>::kValue > 0 || point.base == Base::kDensity) return result;
  const double total = Primal(model.prob_zero) + Primal(model.initial_size);
  const double limit = point.is_log ? 0.0 : 1.0;
  return total <= 1.0 + 1e-6 && result > limit ? limit : result;
}

// Returns whether the derivative at this point is certainly zero, because no
// operand on which the value depends has nonzero tangents.
template <class T>
bool IsStill(const Model<T>& model, const Point<T>& point) {
  bool is_still = IsZero(point.delta);
  for (const T* x : {&model.initial_size, &model.exit_size}) {
    is_still = is_still && IsZero(*x - T(Primal(*x)));
  }
  for (int order = 0; order < Depth<T>::kValue; ++order) {
    is_still = is_still && model.growth[order] == 0.0;
  }
  return is_still && point.base != Base::kCdf && !point.is_interval;
}

// Returns whether flushing to zero may have taken digits from a derivative.
// This is so if the derivative is tiny relative to the value and was computed
// in a direction divided by a large 2^exponent, or if the recorded loss is not
// negligible. Losses of less than 2^-900 are ordinary underflow.
template <class T>
bool IsTooSmall(const Model<T>& model, const Point<T>& point,
                int64_t exponent) {
  if constexpr (HasOwnExponent<T>::kValue || Depth<T>::kValue == 0) {
    return false;
  } else {
    constexpr int64_t kLargest = 64;
    constexpr double kLeast = 0x1p-860;
    const T relative =
        point.is_log ? Log(point.value.mantissa) : point.value.mantissa;
    const double size = std::fabs(Top(relative));
    const double unit = point.is_log ? 1.0 : MaxAbs(point.value.mantissa);
    if (exponent > kLargest && size < kLeast * unit) {
      return !IsStill(model, point);
    }
    if (point.loss.mantissa == 0.0) return false;
    // For a logarithm, `loss` is relative to the value, and `derivative` is the
    // derivative of the logarithm. Otherwise both are absolute.
    Scaled<double> loss = point.loss;
    Scaled<double> derivative = {size, point.value.exponent};
    if (point.is_log) {
      const Scaled<double> value = Normalized(
          Scaled<double>{Primal(point.value.mantissa), point.value.exponent});
      loss = {loss.mantissa / value.mantissa, loss.exponent - value.exponent};
      derivative.exponent = 0;
    }
    const int64_t negligible = -900 - std::max<int64_t>(exponent, 0);
    return !IsAtMost(loss, negligible, {1.0, 0}) &&
           !IsAtMost(loss, -45, derivative) && !IsStill(model, point);
  }
}

// Returns whether an intermediate result of this derivative may have left the
// range of T.
template <class T>
bool NeedsMoreRange(double result) {
  return Depth<T>::kValue > 0 && !HasOwnExponent<T>::kValue &&
         !IsFinite(result);
}

// Writes a result. If a sweep over extended doubles fails, keeps the status
// from the first sweep.
template <class T>
void WriteResult(const SweepOutput& out, int64_t place, StatusCode code,
                 double value) {
  if (HasOwnExponent<T>::kValue && code != kOk) return;
  out.status[place] = code;
  out.values[place] = code == kOk ? value : kNaN;
}

// The indices of the times that remain to be evaluated one by one.
struct TimeList {
  const int64_t* times;  // nullptr if all times remain
  int64_t count;

  int64_t operator[](int64_t n) const {
    return times != nullptr ? times[n] : n;
  }
};

// Evaluates as many times as possible in groups that share an expansion point,
// and sets `rest` to the other times. Without such a method for T, all times
// remain.
template <class T>
StatusCode TakeGroups(const SweepInput& in, const SweepOutput& out,
                      ChannelSets<T>* sets, Workspace* workspace,
                      TimeList* rest) {
  constexpr bool kPlain = std::is_same<T, double>::value;
  if constexpr (kPlain || std::is_same<T, Dual<double>>::value) {
    // If directions were scaled down, losses must be checked at each point.
    // This is not possible in groups.
    if (!TakesGroups(in) || (!kPlain && in.ResultExponent() > 0)) return kOk;
    NodeValues<T> nodes(in, out, sets, workspace);
    const StatusCode status = nodes.Run();
    if (status == kOk) *rest = {nodes.rest(), nodes.num_rest()};
    return status;
  }
  return kOk;
}

// The status of the times that EvaluateTimes must evaluate. In sweeps over
// extended doubles, these are the times that underflowed in an earlier sweep.
template <class T>
constexpr StatusCode kPending =
    HasOwnExponent<T>::kValue ? kUnderflow : kNotEvaluated;

struct Evaluated {
  bool underflowed;  // whether some times underflowed
  bool is_doubtful;  // underflow in any lane may matter
  bool are_left;     // some times must be computed by steps
};

// Evaluates the times whose status is kPending, using the evaluation `of` of
// the model. Arrays that only this call needs are in `memory`; the memory of
// `of` may live longer.
template <class T>
Evaluated EvaluateTimes(const SweepInput& in, const SweepOutput& out,
                        Evaluation<T>* of, Workspace* memory) {
  StatusCode status = of->status;
  Sequence<T>& sequence = of->sequence;
  const auto at_once =
      static_cast<size_t>(std::min(in.num_times, kPointsAtOnce));
  Point<T>* points =
      static_cast<Point<T>*>(memory->Allocate(at_once, sizeof(Point<T>)));
  Point<T>** scratch =
      static_cast<Point<T>**>(memory->Allocate(at_once, sizeof(Point<T>*)));
  int64_t* places =
      static_cast<int64_t*>(memory->Allocate(at_once, sizeof(int64_t)));
  bool* needs_series =
      static_cast<bool*>(memory->Allocate(at_once, sizeof(bool)));
  if (!points || !scratch || !places || !needs_series) status = kMemoryLimit;
  TimeList times = {nullptr, in.num_times};
  const int64_t exponent = in.ResultExponent();
  bool underflowed = status == kUnderflow;
  bool are_left = false;
  if (status == kOk && !AreTimesWithinWork(in, sequence)) status = kWorkLimit;
  if (status == kOk) status = TakeGroups(in, out, &of->sets, memory, &times);
  for (int64_t n = 0; n < times.count;) {
    if (n > 0 && IsStopped()) status = kWorkLimit;
    int64_t count = 0;
    int64_t num_by_squaring = 0;
    for (; n < times.count && count < kPointsAtOnce; ++n) {
      const int64_t i = times[n];
      if (out.status[i] != kPending<T>) continue;
      const bool is_nothing = in.KindOf(i) == Kind::kNothing;
      if (status != kOk || is_nothing) {
        WriteResult<T>(out, i, is_nothing ? kOk : status, 0.0);
        continue;
      }
      Point<T>* point = &points[count];
      needs_series[count] = PrepareValue(in, i, sequence, point);
      if (needs_series[count] && point->by_squaring &&
          (point->is_bound ||
           !LeavesSquaring(i, in.num_times, &sequence, point))) {
        needs_series[count] = false;
        scratch[num_by_squaring++] = point;
      }
      places[count++] = i;
    }
    MixBySquaring(&of->squaring_path, &of->squaring_paths, scratch,
                  num_by_squaring);
    MixAllPoints(&of->sets, points, count, needs_series, scratch);
    for (int64_t k = 0; k < count; ++k) {
      if (!needs_series[k]) continue;
      RetryBySquaring(in, places[k], sequence, &of->squaring_path, false,
                      &points[k]);
    }
    EvaluateIntervals(in, places, count, of, points);
    for (int64_t k = 0; k < count; ++k) {
      Point<T>& point = points[k];
      StatusCode code = SettleBound(of->model, point.status, &point);
      double result = kNaN;
      if (code == kOk) {
        result = Limited(ResultOf(point.value, point.is_log, exponent),
                         of->model, point);
        if (NeedsMoreRange<T>(result) ||
            IsTooSmall(of->model, point, exponent)) {
          code = kUnderflow;
        }
      }
      if ((code == kUnderflow || code == kMemoryLimit) && point.by_squaring &&
          point.is_early) {
        are_left = true;
        continue;
      }
      underflowed = underflowed || code == kUnderflow;
      WriteResult<T>(out, places[k], code, result);
    }
  }
  return {underflowed, sequence.has_losses(), are_left};
}

// Sets all values to NaN and the status of all times to kNotEvaluated.
inline void StartTimes(const SweepInput& in, const SweepOutput& out) {
  for (int64_t i = 0; i < in.num_times; ++i) {
    out.values[i] = kNaN;
    if (out.status != nullptr) out.status[i] = kNotEvaluated;
  }
}
// Allocates the array of status codes if the caller has none, and then does the
// same as the other StartTimes. Returns false if memory does not suffice.
inline bool StartTimes(const SweepInput& in, SweepOutput* out,
                       Workspace* workspace) {
  if (out->status == nullptr) {
    out->status = static_cast<int32_t*>(workspace->Allocate(
        static_cast<size_t>(in.num_times), sizeof(int32_t)));
  }
  StartTimes(in, *out);
  return out->status != nullptr;
}
inline bool HasTimesLeft(const SweepInput& in, const SweepOutput& out) {
  return std::find(out.status, out.status + in.num_times, kNotEvaluated) !=
         out.status + in.num_times;
}

// Builds the model, or borrows a kept one, and evaluates the times whose status
// is kPending. Returns whether any of them underflowed.
template <class T>
bool EvaluateTimes(const SweepInput& in, const SweepOutput& out,
                   Workspace* workspace) {
  if constexpr (std::is_same<T, double>::value) {
    if (MayBeKept(in)) {
      auto* const kept = KeptModel<T>::Borrow(in, workspace);
      if (kept != nullptr) {
        const Evaluated all = EvaluateTimes(in, out, kept->get(), workspace);
        kept->GiveBack(in);
        return all.underflowed;
      }
    }
  }
  Evaluation<T> evaluation(in, workspace);
  const auto evaluate = [&](const SweepInput& used, Evaluation<T>* of) {
    Evaluated all = EvaluateTimes(used, out, of, workspace);
    const bool underflowed = all.underflowed;
    if (all.are_left) {
      of->TakeSteps();
      all = EvaluateTimes(used, out, of, workspace);
    }
    return underflowed || all.underflowed;
  };
  if constexpr (Depth<T>::kValue > 0) {
    if (NeedsScaledRates(in, evaluation.status, evaluation.model.log2_q)) {
      SweepInput scaled;
      if (RateScales(in, workspace).Apply(evaluation.model.log2_q, &scaled)) {
        Evaluation<T> again(scaled, workspace);
        return evaluate(scaled, &again);
      }
      evaluation.status = kMemoryLimit;
    }
  }
  return evaluate(in, &evaluation);
}

// Evaluates the times of a model. Then evaluates the times that underflowed
// with extended doubles.
template <class T>
void SweepTimes(const SweepInput& in, const SweepOutput& out,
                Workspace* workspace) {
  if (!EvaluateTimes<T>(in, out, workspace)) return;
  ExtendedSweeps().forward[Depth<T>::kValue](in, out, workspace);
}

template <class T>
void ForwardSweep(const SweepInput& in, const SweepOutput& out,
                  Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  SweepOutput all = out;
  if (StartTimes(in, &all, workspace)) SweepTimes<T>(in, all, workspace);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_SWEEPS_FORWARD_H_
