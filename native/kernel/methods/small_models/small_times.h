// Times of small models, one per SIMD lane, and the range of numbers that the
// sweeps for small models handle.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TIMES_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_TIMES_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

using ModelMask = PerModel::Mask;

// Numbers of at least this size are multiplied without tests for underflow.
constexpr double kLeastOrdinary = 0x1p-500;
constexpr double kLeastSmallScale = 0x1p-150;  // for q, and for cotangents
constexpr double kLargestSmallScale = 0x1p150;
constexpr double kLeastSmallX = 0x1p-60;
// The largest x = q t, and the largest with weights that start at exp(-x); see
// small_scales.h for larger ones.
constexpr double kLargestSmallX = 0x1p20;
constexpr double kLargestShortX = 256.0;

// Windows end, and states are scaled, after runs of this number of steps.
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
  PerModel first_weight;  // exp(-x), or one if x is large
  ModelMask is_ordinary;
  ModelMask is_long;  // and x is large
  ModelMask is_density;
  ModelMask is_survival;
  ModelMask is_cdf;
  // Distribution functions that are computed as the total mass less the
  // survival function, with is_survival in place of is_cdf. No results from any
  // phase are below one half, so that no digits cancel.
  ModelMask is_complement = NoModels();
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
    is_long = PerModel(kLargestShortX) < x;
    first_weight = Select(is_long, PerModel(1.0),
                          ExpOfMinus(Select(is_long, PerModel(1.0), x)));
  }
  bool has_others() const { return Any(~is_density); }
  bool has_long() const { return Any(is_long); }

  // Computes distribution functions as complements where the mask is set.
  void TakeComplements(const ModelMask& mask) {
    is_complement = is_long & is_cdf & mask;
    is_cdf = is_cdf & ~is_complement;
    is_survival = Either(is_survival, is_complement);
  }

  PerModel Cotangent() const {
    return SideBySide([&](int l) {
      return lanes[l].has_time() ? lanes[l].in->cotangent[lanes[l].place] : 0.0;
    });
  }

 private:
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
