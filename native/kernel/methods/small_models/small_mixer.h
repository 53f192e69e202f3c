// Poisson mixtures of the terms of small models in SIMD lanes, term by term.
// Each time has its own truncation window, beyond which its weights are set to
// zero.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MIXER_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MIXER_H_

#include <cstdint>

#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_scales.h"
#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// The largest exit, the total mass and one minus the total mass of each lane's
// model.
struct SmallBounds {
  PerModel max_exit;
  PerModel total;
  PerModel lack;
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
        open_(times.is_ordinary) {
    weights_ = Select(open_, times.first_weight, PerModel(0.0));
  }

  // Prepares for times that are long, with beta x of at most `largest`, and for
  // derivatives if `has_bars`.
  void StartScales(const SmallDecay& decay, double largest, bool has_bars) {
    scales_.Start(*times_, decay, has_bars);
    growth_ = scales_.Growth();
    Lose(scales_.is_long() & (PerModel(largest) < scales_.decayed_x()));
  }

  bool IsOpen() const { return Any(open_); }
  bool has_long() const { return times_->has_long(); }
  // Lanes whose states are to be scaled.
  ModelMask AreScaled(const PerModel& mass) const {
    return open_ & scales_.is_long() & ~times_->is_cdf &
           (PerModel(0x1p-1022) <= mass);
  }
  bool has_others() const { return times_->has_others(); }
  const PerModel& weights() const { return weights_; }
  // value() is F'. shifted() is sum_k w_k a'_k or, for densities, sum_k w_k
  // a'_{k+1}.
  const PerModel& value() const { return value_; }
  const PerModel& shifted() const { return shifted_; }
  const SmallScales& scales() const { return scales_; }
  const SmallBounds& bounds() const { return bounds_; }
  // Returns a bound on what derivatives of F' lack: sum_k k w_k over the
  // omitted steps, and what may have underflowed.
  PerModel Tail() const {
    if (!has_long()) return tail_;
    return tail_ +
           Select(times_->is_long, scales_.LossOfDerivatives(), PerModel(0.0));
  }

  // Adds the weighted term of step k, and computes the weights of step k + 1.
  template <bool kHasOthers>
  [[gnu::always_inline]] void Add(int64_t k, const SmallTerm& next) {
    PerModel term = next.absorbed;
    PerModel of_slope = previous_;
    PerModel absorbed = next.absorbed;
    if constexpr (kHasOthers) {
      term = Select(times_->is_survival, next.mass, term);
      term = Select(times_->is_cdf, next.cumulative, term);
      absorbed = Select(times_->is_cdf, next.plain, absorbed);
      of_slope = Select(times_->is_density, previous_, weights_);
    }
    value_.AddProduct(weights_, term);
    shifted_.AddProduct(of_slope, absorbed);
    previous_ = weights_;
    weights_ =
        weights_ * (PerModel(1.0 / (static_cast<double>(k) + 1.0)) * times_->x);
  }

  // Ends the windows of those times for which the steps from `step` on are
  // negligible; `mass` is the mass b_k before that step. With `has_bars` they
  // must also be negligible for derivatives.
  template <bool kHasLong>
  [[gnu::always_inline]] void Close(int64_t step, const PerModel& mass,
                                    bool has_bars) {
    const double k = static_cast<double>(step);
    const bool has_scales = kHasLong || has_bars;
    const PerModel gap = MultiplyAdd(
        PerModel(-1.0 / (k + 1.0)),
        has_scales ? scales_.decayed_x() : times_->x, PerModel(1.0));
    const PerModel absorbed = bounds_.max_exit * mass;
    PerModel most = Select(times_->is_survival, mass, absorbed);
    most = Select(times_->is_cdf, bounds_.total, most);
    const PerModel later = has_scales ? growth_ * weights_ : weights_;
    ModelMask stop = open_ & (PerModel(0.0) < gap) &
                     (later * most <= (0x1p-60 * gap) * value_);
    if (has_bars) {
      const PerModel of_bars = scales_.EarlierGrowth(k) * weights_;
      stop = stop & ~scales_.ends() &
             ((k + 1.0) * of_bars <= gap * NegligibleInDerivatives()) &
             Either(times_->is_density,
                    later * absorbed <= (0x1p-60 * gap) * shifted_);
      tail_ = Select(stop, Quotient((k + 1.0) * of_bars, gap), tail_);
    }
    // Once no mass is left, there are no terms.
    if (!has_bars || step >= 2 * kMostJumps) {
      const ModelMask has_all = has_bars ? scales_.ends() : ~times_->is_cdf;
      stop = Either(stop, open_ & has_all & (mass <= PerModel(0.0)));
    }
    End(stop);
  }

  // Scales the weights of times whose states were divided by the power.
  void ScaleWeights(double power) {
    ScaleWeights(Select(times_->is_cdf, PerModel(1.0), PerModel(power)));
  }
  void ScaleWeights(const PerModel& power) {
    weights_ = power * weights_;
    previous_ = power * previous_;
  }

  // Scales weights and sums before step k, if the states were divided by the
  // power, in the lanes of the mask; returns the factor of the sums.
  PerModel Rescale(int64_t step, const ModelMask& mask, double power) {
    ScaleWeights(power);
    return RescaleSums(step, mask, PowerAbove(PerModel(power)).log2);
  }
  PerModel Rescale(int64_t step, const ModelMask& mask,
                   const PowerAbove& power) {
    ScaleWeights(power.power);
    return RescaleSums(step, mask, power.log2);
  }

  // Returns the lanes whose values are as accurate as values from the usual
  // sweeps.
  ModelMask AreValues() const {
    const ModelMask are_values =
        times_->is_ordinary & ~open_ & (PerModel(kLeastOrdinary) <= value_) &
        // A distribution function with shifted() of zero would be constant.
        Either(~times_->is_cdf, PerModel(0.0) < shifted_);
    if (!has_long()) return are_values & (value_ <= PerModel(4.0));
    const PerModel log2 =
        kPerLn2 * LogOf(Select(are_values, value_, PerModel(1.0)), 0);
    const ModelMask are_long = scales_.is_long() & ~lost_ &
                               (value_ <= PerModel(kLargestSmallSum)) &
                               (scales_.LossOfValue() + PerModel(60.0) <= log2);
    return are_values &
           Either(are_long, ~scales_.is_long() & (value_ <= PerModel(4.0)));
  }

  // Returns the lanes in which truncation errors are at most those of a margin
  // of kSmallMargin.
  ModelMask HaveSmallMargins() const {
    return NegligibleInDerivatives() <= kSmallMargin * value_;
  }

 private:
  // Returns how large truncation errors of derivatives may be.
  PerModel NegligibleInDerivatives() const {
    const PerModel usual = margin_ * value_;
    PerModel least = kUsualMargin * scales_.LeastStart(value_);
    // Complements need no small starts if there is an atom.
    if (times_->lanes[0].in->has_prob_zero) {
      least = Select(times_->is_complement, usual, least);
    }
    least = Larger(least, kSmallMargin * value_);
    return Select(least < usual, least, usual);
  }

  PerModel RescaleSums(int64_t step, const ModelMask& mask,
                       const PerModel& log2) {
    scales_.ScaleStates(static_cast<double>(step), mask, PerModel(0.0) - log2);
    // In a small distribution function the weights are far larger than the sum.
    const PerModel largest =
        Select(times_->is_cdf, Larger(value_, weights_), value_);
    const ModelMask are_large =
        scales_.is_long() & IsWithin(largest, 0x1p500, 0x1p1000);
    const PowerAbove size(Select(are_large, 0x1p-300 * largest, PerModel(1.0)));
    for (PerModel* number : {&weights_, &previous_, &value_, &shifted_}) {
      *number = size.inverse * *number;
    }
    scales_.ScaleSums(size.log2);
    Lose(open_ & scales_.is_long() & ~IsWithin(weights_, 0x1p-900, 0x1p900));
    return size.inverse;
  }

  // Leaves times to the usual sweeps.
  void Lose(const ModelMask& lost) {
    End(lost);
    lost_ = Either(lost_, lost);
  }

  void End(const ModelMask& stop) {
    open_ = open_ & ~stop;
    weights_ = Select(open_, weights_, PerModel(0.0));
    previous_ = Select(open_, previous_, PerModel(0.0));
  }

  const SmallTimes* times_;
  SmallBounds bounds_;
  double margin_;
  ModelMask open_;
  PerModel weights_;
  PerModel previous_{0.0};  // the weights of the previous step
  PerModel value_{0.0};
  PerModel shifted_{0.0};
  PerModel tail_{0.0};
  // Of long times.
  SmallScales scales_;
  PerModel growth_{1.0};
  ModelMask lost_ = NoModels();  // left to the usual sweeps
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_MIXER_H_
