// The terms of the power sequences of small models in SIMD lanes, and their
// Poisson mixture, term by term. Each time has its own truncation window,
// beyond which its weights are set to zero.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_

#include <cstdint>

#include "native/kernel/matrix/lane_operator.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int64_t kStepsPerTest = 8;
constexpr int64_t kMostSmallSteps = 768;

// Returns the dot product sum_i x[i] y[i] for a constant number of entries.
template <int kPhases>
[[gnu::always_inline]] inline PerModel SmallDot(const PerModel* x,
                                                const PerModel* y) {
  PerModel even = x[0] * y[0];
  PerModel odd = x[1] * y[1];
  Unrolled<kPhases / 2 - 1>([&](auto i) {
    even.AddProduct(x[2 * i + 2], y[2 * i + 2]);
    odd.AddProduct(x[2 * i + 3], y[2 * i + 3]);
  });
  return even + odd;
}

template <int kPhases>
[[gnu::always_inline]] inline PerModel SmallSum(const PerModel* x) {
  PerModel even = x[0];
  PerModel odd = x[1];
  Unrolled<kPhases / 2 - 1>([&](auto i) {
    even = even + x[2 * i + 2];
    odd = odd + x[2 * i + 3];
  });
  return even + odd;
}

// The terms of one step: a'_k, b_k and A_k; see channels.h. The last two are
// computed only if some time needs more than a density.
struct SmallTerm {
  PerModel absorbed;
  PerModel mass;
  PerModel cumulative;
};

// Computes the terms of one step after the other.
template <int kPhases>
class SmallTerms {
 public:
  explicit SmallTerms(const SmallModels<kPhases>& models) : models_(&models) {
    cumulative_ = models.prob_zero;
    for (int i = 0; i < kPhases; ++i) state_[i] = models.initial[i];
    // Stores the matrices by columns, in the order in which steps read them.
    for (int i = 0; i < kPhases; ++i) {
      for (int j = 0; j < kPhases; ++j) columns_[j][i] = models.steps[i][j];
    }
  }

  const PerModel* state() const { return state_; }
  PerModel Mass() const { return SmallSum<kPhases>(state_); }
  const PerModel& cumulative() const { return cumulative_; }

  template <bool kHasOthers>
  [[gnu::always_inline]] SmallTerm Next() {
    SmallTerm term;
    term.absorbed = SmallDot<kPhases>(state_, models_->exits);
    if constexpr (kHasOthers) {
      term.mass = Mass();
      term.cumulative = cumulative_;
      cumulative_ = cumulative_ + term.absorbed;
    }
    PerModel next[kPhases];
    Unrolled<kPhases>([&](auto j) {  //
      next[j] = SmallDot<kPhases>(state_, columns_[j]);
    });
    Unrolled<kPhases>([&](auto j) { state_[j] = next[j]; });
    return term;
  }

 private:
  const SmallModels<kPhases>* models_;
  PerModel state_[kPhases];
  PerModel columns_[kPhases][kPhases];
  PerModel cumulative_;
};

// The largest exit and the total mass of each lane's model, for truncation
// bounds.
struct SmallBounds {
  PerModel max_exit;
  PerModel total;
};

// Accumulates sums of Poisson weights times terms, and bounds on their
// truncation errors.
class SmallMixer {
 public:
  SmallMixer(const SmallTimes& times, const SmallBounds& bounds)
      : times_(&times), bounds_(bounds), open_(times.is_ordinary) {
    weights_ = Select(open_, times.first_weight, PerModel(0.0));
  }

  bool IsOpen() const { return Any(open_); }
  bool has_others() const { return times_->has_others(); }
  const PerModel& weights() const { return weights_; }
  // value() is F'. shifted() is sum_k w_k a'_k or, for densities, sum_k w_k
  // a'_{k+1}.
  const PerModel& value() const { return value_; }
  const PerModel& shifted() const { return shifted_; }
  // Returns a bound on sum_k k w_k over the omitted steps.
  const PerModel& tail() const { return tail_; }

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
      stop = stop & ((k + 1.0) * weights_ <= (kMargin * gap) * value_) &
             Either(times_->is_density,
                    weights_ * absorbed <= (0x1p-60 * gap) * shifted_);
      tail_ = Select(stop, Quotient((k + 1.0) * weights_, gap), tail_);
    }
    open_ = open_ & ~stop;
    weights_ = Select(open_, weights_, PerModel(0.0));
    previous_ = Select(open_, previous_, PerModel(0.0));
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
  // The largest truncation error of derivatives, relative to the value.
  static constexpr double kMargin = 0x1p-72;

  const SmallTimes* times_;
  SmallBounds bounds_;
  ModelMask open_;
  PerModel weights_;
  PerModel previous_{0.0};  // the weights of the previous step
  PerModel value_{0.0};
  PerModel shifted_{0.0};
  PerModel tail_{0.0};
};

// Mixes one time of each model while its terms are computed; returns the number
// of steps. If `kept` is not null, stores a row of kPhases + 1 numbers for each
// step, the state and the weight, and makes derivatives accurate, too.
//
// Whether a window has ended does not depend on other lanes, but the number of
// steps does: beyond its window a time's weights are all zero.
template <bool kHasOthers, int kPhases>
[[gnu::always_inline]] inline int64_t MixAsMade(SmallTerms<kPhases>* terms,
                                                SmallMixer* to,
                                                PerModel* kept) {
  SmallMixer mixer = *to;  // sums that stay in registers
  int64_t k = 0;
  while (mixer.IsOpen() && k < kMostSmallSteps) {
    for (int64_t j = 0; j < kStepsPerTest; ++j, ++k) {
      if (kept != nullptr) {
        PerModel* row = kept + k * (kPhases + 1);
        Unrolled<kPhases>([&](auto i) { row[i] = terms->state()[i]; });
        row[kPhases] = mixer.weights();
      }
      mixer.Add<kHasOthers>(k, terms->template Next<kHasOthers>());
    }
    mixer.Close(k, terms->Mass(), kept != nullptr);
  }
  *to = mixer;
  return k;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_WALK_H_
