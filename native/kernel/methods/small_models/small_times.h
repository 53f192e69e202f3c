// Times of small models, one per SIMD lane, and the range of numbers that the
// sweeps for small models handle.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TIMES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TIMES_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/matrix/power_block.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/poisson_starts.h"

namespace phasic {
namespace PHASIC_ISA {

using ModelMask = PerModel::Mask;

// Numbers of at least this size are multiplied without tests for underflow.
constexpr double kLeastOrdinary = 0x1p-500;
constexpr double kLeastSmallScale = 0x1p-150;  // for q, and for cotangents
constexpr double kLargestSmallScale = 0x1p150;
// The largest exit relative to q, as exits may be weights of phases.
constexpr double kLargestExit = 0x1p100;
constexpr double kLeastSmallX = 0x1p-60;
// The largest x = q t, beyond which squaring soon costs less, and the largest
// one of which all weights follow from w_0 = exp(-x). Windows of larger ones
// begin where weights are at most 2^kLog2OfLeftOut, so that what comes before
// is negligible.
constexpr double kLargestSmallX = 2048.0;
constexpr double kLargestEarlyX = 256.0;
constexpr int64_t kLog2OfLeftOut = -700;
constexpr int64_t kMostLateBlocks =
    static_cast<int64_t>(kLargestSmallX) / kBlock + 1;

// Windows begin and end after runs of this number of steps.
constexpr int kStepsPerTest = 8;

inline ModelMask NoModels() { return PerModel(1.0) < PerModel(0.0); }
inline ModelMask Either(const ModelMask& a, const ModelMask& b) {
  return ~(~a & ~b);
}
inline PerModel Larger(const PerModel& a, const PerModel& b) {
  return Select(a < b, b, a);
}
inline PerModel Size(const PerModel& x) { return Larger(x, PerModel(0.0) - x); }
// Returns the lanes where x is zero, or positive and far from underflow; false
// for NaN.
[[gnu::always_inline]] inline ModelMask IsPlain(const PerModel& x) {
  return (PerModel(0.0) <= x) &
         ~((PerModel(0.0) < x) & (x < PerModel(kLeastOrdinary)));
}
inline ModelMask IsWithin(const PerModel& x, double least, double largest) {
  return (PerModel(least) <= x) & (x <= PerModel(largest));
}

// Returns whether the function of this time's kind is a single series.
inline bool IsOfSeries(const SweepInput& in, int64_t time) {
  const Kind kind = in.KindOf(time);
  return HasSeries(kind) && (in.kinds == nullptr || IsLog(kind));
}
inline bool IsNothing(const SweepInput& in, int64_t time) {
  return in.kinds != nullptr && in.KindOf(time) == Kind::kNothing;
}

// Returns the index of a model's only time, or -1 if it has several or none. A
// time of kind kNothing, the other end of an observation, does not count.
inline int64_t OnlyTime(const SweepInput& in) {
  int64_t place = -1;
  for (int64_t i = 0; i < in.num_times; ++i) {
    if (IsNothing(in, i)) continue;
    if (place >= 0 || !IsOfSeries(in, i)) return -1;
    place = i;
  }
  return place;
}

// A model and the index of one of its times.
struct SmallLane {
  const SweepInput* in;
  int64_t place;  // index of the time; -1: none

  bool has_time() const { return place >= 0; }
  Kind kind() const { return in->KindOf(place); }
};

// The times of eight lanes; lanes from `count` on repeat the first one.
struct SmallTimes {
  SmallLane lanes[kModels];
  int count;
  PerModel x;             // q t
  PerModel first_weight;  // w_0, or zero for late windows
  // For late windows, weights of every sixteenth step up to the mode, before
  // which rounding errors of steps would add up; zero for other steps.
  PerModel late_weights[kMostLateBlocks];
  int64_t num_late_blocks = 0;
  ModelMask is_ordinary;
  ModelMask is_density;
  ModelMask is_survival;
  ModelMask is_cdf;
  ModelMask is_log;

  // Computes x = q t and Poisson weights; `q` has the q of each lane's model.
  // Denormals must not be flushed meanwhile.
  [[gnu::noinline]] SmallTimes(const SmallLane* times, int num_times,
                               const PerModel& q,
                               const ModelMask& are_ordinary_models)
      : count(num_times) {
    for (int l = 0; l < kModels; ++l) lanes[l] = times[l < count ? l : 0];
    const PerModel time = SideBySide([&](int l) {
      return lanes[l].has_time() ? lanes[l].in->times.value[lanes[l].place]
                                 : -1.0;
    });
    is_density = AreOf(Base::kDensity);
    is_survival = AreOf(Base::kSurvival);
    is_cdf = AreOf(Base::kCdf);
    is_log = Are(IsLog);
    x = time * q;
    is_ordinary =
        are_ordinary_models & IsWithin(x, kLeastSmallX, kLargestSmallX);
    // In flagged lanes x is replaced by one, so that they need no more steps
    // than others.
    x = Select(is_ordinary, x, PerModel(1.0));
    const ModelMask is_late = PerModel(kLargestEarlyX) < x;
    first_weight = Select(is_late, PerModel(0.0),
                          ExpOfMinus(Select(is_late, PerModel(1.0), x)));
    if (Any(is_late)) StartLate(is_late);
  }
  bool has_others() const { return Any(~is_density); }

  // Returns the number of steps after which any window has ended.
  int64_t MostSteps() const {
    double most = 0.0;
    for (int l = 0; l < kModels; ++l) most = std::max(most, x[l]);
    return MostStepsOf(most);
  }
  static constexpr int64_t MostStepsOf(double x) {
    return (1152 + static_cast<int64_t>(1.5 * x)) / kStepsPerTest *
           kStepsPerTest;
  }

  // Returns the cotangents of the values, which are one if none are given.
  PerModel Cotangent() const {
    return SideBySide([&](int l) {
      const SmallLane& lane = lanes[l];
      if (!lane.has_time()) return 0.0;
      return lane.in->cotangent != nullptr ? lane.in->cotangent[lane.place]
                                           : 1.0;
    });
  }

 private:
  [[gnu::noinline]] void StartLate(const ModelMask& is_late) {
    double weights[kMostLateBlocks][kModels] = {};
    for (int l = 0; l < kModels; ++l) {
      if (!is_late[l]) continue;
      VisitDown(x[l], {1.0, kLog2OfLeftOut},
                [&](int64_t block, const Scaled<double>& weight) {
                  weights[block][l] = ScaleBy(weight.mantissa, weight.exponent);
                  num_late_blocks = std::max(num_late_blocks, block + 1);
                });
    }
    for (int64_t b = 0; b < num_late_blocks; ++b) {
      late_weights[b] = PerModel::Load(weights[b]);
    }
  }

  template <class Predicate>
  ModelMask Are(const Predicate& predicate) const {
    const SweepInput& first = *lanes[0].in;
    if (first.kinds == nullptr) {  // one kind for all
      return predicate(first.kind) ? ~NoModels() : NoModels();
    }
    return PerModel(0.0) < SideBySide([&](int l) {
             return lanes[l].has_time() && predicate(lanes[l].kind()) ? 1.0
                                                                      : 0.0;
           });
  }
  ModelMask AreOf(Base base) const {
    return Are([base](Kind kind) { return BaseOf(kind) == base; });
  }
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TIMES_H_
