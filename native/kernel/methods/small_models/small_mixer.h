// Poisson mixtures of the terms of small models in SIMD lanes, term by term.
// Each time has its own truncation window, beyond which its weights are set to
// zero.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MIXER_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MIXER_H_

#include <cstdint>

#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The largest exit and the total mass of each lane's model.
struct SmallBounds {
  PerModel max_exit;
  PerModel total;
};

// The largest truncation errors of derivatives, relative to the value: that of
// most times, and one for times at which some derivatives are far smaller.
constexpr double kUsualMargin = 0x1p-72;
constexpr double kSmallMargin = 0x1p-800;

// Accumulates sums of Poisson weights times terms, and bounds on their
// truncation errors.
class SmallMixer {
 public:
  // The truncation error of derivatives will be at most `margin`, relative to
  // the value.
  SmallMixer(const SmallTimes& times, const SmallBounds& bounds, double margin)
      : times_(&times),
        bounds_(bounds),
        margin_(margin),
        open_(times.is_ordinary) {}

  bool IsOpen() const { return Any(open_); }
  bool has_others() const { return times_->has_others(); }
  const PerModel& weights() const { return weights_; }
  // value() is F'. shifted() is sum_k w_k a'_k or, for densities, sum_k w_k
  // a'_{k+1}.
  const PerModel& value() const { return value_; }
  const PerModel& shifted() const { return shifted_; }
  const PerModel& total() const { return bounds_.total; }
  // Returns a bound on what derivatives of F' lack: sum_k k w_k over the
  // omitted steps, times the largest exit if that is above one.
  const PerModel& Tail() const { return tail_; }

  // Sets those weights of step k that do not follow from the step before.
  void Begin(int64_t k) {
    if (k == 0) weights_ = Select(open_, times_->first_weight, PerModel(0.0));
    if (k % kBlock != 0 || k / kBlock >= times_->num_late_blocks) return;
    const PerModel& late = times_->late_weights[k / kBlock];
    weights_ = Select(open_ & (PerModel(0.0) < late), late, weights_);
  }

  // Adds the weighted term of step k, and computes the weights of step k + 1.
  template <bool kHasOthers>
  [[gnu::always_inline]] void Add(int64_t k, const SmallTerm& next) {
    PerModel term = next.absorbed;
    PerModel of_slope = previous_;
    if constexpr (kHasOthers) {
      term = Select(times_->is_survival, next.mass, term);
      term = Select(times_->is_cdf, next.cumulative, term);
      of_slope = Select(times_->is_density, previous_, weights_);
    }
    value_.AddProduct(weights_, term);
    shifted_.AddProduct(of_slope, next.absorbed);
    previous_ = weights_;
    weights_ =
        weights_ * (PerModel(1.0 / (static_cast<double>(k) + 1.0)) * times_->x);
  }

  // Ends the windows of those times for which the steps from `step` on are
  // negligible; `mass` is the mass b_k before that step. With `has_bars` they
  // must also be negligible for derivatives.
  [[gnu::always_inline]] void Close(int64_t step, const PerModel& mass,
                                    bool has_bars) {
    const double k = static_cast<double>(step);
    const PerModel gap =
        MultiplyAdd(PerModel(-1.0 / (k + 1.0)), times_->x, PerModel(1.0));
    const PerModel absorbed = bounds_.max_exit * mass;
    PerModel most = Select(times_->is_survival, mass, absorbed);
    most = Select(times_->is_cdf, bounds_.total, most);
    ModelMask stop = open_ & (PerModel(0.0) < gap) &
                     (weights_ * most <= (0x1p-60 * gap) * value_);
    if (has_bars) {
      // Exits that are weights of phases may be larger than one.
      const PerModel later =
          (k + 1.0) * (Larger(PerModel(1.0), bounds_.max_exit) * weights_);
      stop = stop & (later <= gap * (margin_ * value_)) &
             Either(times_->is_density,
                    weights_ * absorbed <= (0x1p-60 * gap) * shifted_);
      tail_ = Select(stop, Quotient(later, gap), tail_);
    }
    // The mass that is left is too small to make the value ordinary.
    const ModelMask is_far = value_ + mass < PerModel(kLeastOrdinary);
    End(Either(stop, ~times_->is_cdf & is_far));
  }

  // Returns the lanes whose values are as accurate as values from the usual
  // sweeps.
  ModelMask AreValues() const {
    return times_->is_ordinary & ~open_ &
           IsWithin(value_, kLeastOrdinary, 4.0) &
           // A distribution function with shifted() of zero would be constant.
           Either(~times_->is_cdf, PerModel(0.0) < shifted_);
  }

 private:
  void End(const ModelMask& stop) {
    open_ = open_ & ~stop;
    weights_ = Select(open_, weights_, PerModel(0.0));
    previous_ = Select(open_, previous_, PerModel(0.0));
  }

  const SmallTimes* times_;
  SmallBounds bounds_;
  double margin_;
  ModelMask open_;
  PerModel weights_{0.0};
  PerModel previous_{0.0};  // the weights of the previous step
  PerModel value_{0.0};
  PerModel shifted_{0.0};
  PerModel tail_{0.0};
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MIXER_H_
