// The adjoint sweep of small models, one per SIMD lane; see adjoint_sweeper.h:
//   y_k = abar_k s + bbar_k 1 + P y_{k+1},   G = sum_k v_k^T y_{k+1},
// where the cotangent of F' is one, so that all results are positive.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_ADJOINT_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_ADJOINT_H_

#include <cstdint>

#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/methods/small_models/small_walk.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

template <int kPhases>
struct SmallSums {
  PerModel starts[kPhases];             // y_0
  PerModel exits[kPhases];              // sum_k abar_k v_k
  PerModel products[kPhases][kPhases];  // G
  PerModel tail;                        // bounds what was left out of each
  ModelMask starts_are_accurate;
  ModelMask rows_are_accurate;
  ModelMask weights_are_accurate;
};

// The number of steps whose adjoints are kept, so that they and the states stay
// in the fastest cache while the sums over both are computed.
constexpr int64_t kAdjointSteps = 2 * kStepsPerTest;

template <int kPhases>
class SmallAdjoint {
 public:
  // `kept` has one row for each of `num_steps` steps, see MixAsMade; the
  // weights in these rows are overwritten with abar.
  SmallAdjoint(const SmallModels<kPhases>& models, const SmallTimes& times,
               const PerModel& tail, int64_t num_steps, PerModel* kept)
      : models_(models),
        times_(times),
        num_steps_(num_steps),
        tail_(tail),
        kept_(kept) {}

  [[gnu::noinline]] void Run(bool has_given_exits, SmallSums<kPhases>* sums) {
    if (times_.has_others()) {
      Descend<true>(sums);
    } else {
      Descend<false>(sums);
    }
    Check(has_given_exits, sums);
  }

 private:
  // The number of columns of G that are computed at once, so that their sums
  // stay in registers.
  static constexpr int kColumns = PerModel::kParts > 1 && kPhases > 2 ? 1
                                  : kPhases <= 4                      ? kPhases
                                                                      : 2;
  static constexpr int kRow = kPhases + 1;

  // The adjoint before a step.
  struct Front {
    PerModel y[kPhases];
    PerModel later{0.0};  // sum of the weights of later steps

    Front() {
      for (PerModel& number : y) number = PerModel(0.0);
    }
  };

  // Computes the adjoints from the last step to the first, some steps at a
  // time, and the sums over them. Sums do not depend on how many steps follow
  // with weights of zero.
  template <bool kHasOthers>
  void Descend(SmallSums<kPhases>* sums) {
    for (int i = 0; i < kPhases; ++i) {
      sums->exits[i] = PerModel(0.0);
      for (PerModel& sum : sums->products[i]) sum = PerModel(0.0);
    }
    Front front;
    int64_t end = num_steps_;
    while (end > 0) {
      const int64_t begin = (end - 1) / kAdjointSteps * kAdjointSteps;
      Descend<kHasOthers>(begin, end, &front);
      for (int j = 0; j < kPhases; j += kColumns) {
        AddColumns(begin, end, j, sums);
      }
      AddExits(begin, end, sums);
      end = begin;
    }
    for (int i = 0; i < kPhases; ++i) sums->starts[i] = front.y[i];
  }

  // Does so for the steps from `end` - 1 down to `begin`, and stores y_{k+1}.
  template <bool kHasOthers>
  [[gnu::always_inline]] void Descend(int64_t begin, int64_t end, Front* to) {
    Front front = *to;
    for (int64_t k = end - 1; k >= begin; --k) {
      PerModel& weight = kept_[k * kRow + kPhases];
      PerModel a_bar = weight;
      PerModel b_bar(0.0);
      if constexpr (kHasOthers) {
        b_bar = Select(times_.is_survival, weight, b_bar);
        a_bar = Select(times_.is_survival, PerModel(0.0), a_bar);
        a_bar = Select(times_.is_cdf, front.later, a_bar);
        front.later = front.later + weight;
        weight = a_bar;
      }
      PerModel next[kPhases];
      Unrolled<kPhases>([&](auto i) {
        adjoints_[k - begin][i] = front.y[i];
        next[i] = SmallDot<kPhases>(models_.steps[i], front.y);
        next[i].AddProduct(a_bar, models_.exits[i]);
        if constexpr (kHasOthers) next[i] = next[i] + b_bar;
      });
      Unrolled<kPhases>([&](auto i) { front.y[i] = next[i]; });
    }
    *to = front;
  }

  void AddColumns(int64_t begin, int64_t end, int first,
                  SmallSums<kPhases>* sums) const {
    PerModel products[kPhases][kColumns];
    Unrolled<kPhases>([&](auto i) {
      Unrolled<kColumns>(
          [&](auto j) { products[i][j] = sums->products[i][first + j]; });
    });
    for (int64_t k = begin; k < end; ++k) {
      const PerModel* state = kept_ + k * kRow;
      const PerModel* y = adjoints_[k - begin] + first;
      Unrolled<kPhases>([&](auto i) {
        Unrolled<kColumns>([&](auto j) {  //
          products[i][j].AddProduct(state[i], y[j]);
        });
      });
    }
    Unrolled<kPhases>([&](auto i) {
      Unrolled<kColumns>(
          [&](auto j) { sums->products[i][first + j] = products[i][j]; });
    });
  }

  void AddExits(int64_t begin, int64_t end, SmallSums<kPhases>* sums) const {
    PerModel exits[kPhases];
    Unrolled<kPhases>([&](auto i) { exits[i] = sums->exits[i]; });
    for (int64_t k = begin; k < end; ++k) {
      const PerModel* state = kept_ + k * kRow;
      Unrolled<kPhases>([&](auto i) {  //
        exits[i].AddProduct(state[kPhases], state[i]);
      });
    }
    Unrolled<kPhases>([&](auto i) { sums->exits[i] = exits[i]; });
  }

  // Returns the lanes where a number of this size is far above its truncation
  // error. A zero may have underflowed, so that it does not count as accurate.
  ModelMask IsAccurate(const PerModel& size) const {
    return (PerModel(kLeastOrdinary) <= size) & (tail_ <= 0x1p-44 * size);
  }

  // Sets for each lane whether the cotangents of alpha, and whether those of
  // the rates, are accurate. As in CotangentWriter, the cotangents of a row of
  // P are judged by a lower bound on the terms of all of them.
  void Check(bool has_given_exits, SmallSums<kPhases>* sums) const {
    sums->tail = tail_;
    Judge(has_given_exits, nullptr, sums);
    const ModelMask is_done = sums->starts_are_accurate &
                              sums->rows_are_accurate &
                              sums->weights_are_accurate;
    if (!Any(models_.is_ordinary & ~is_done)) return;
    const Zeros zeros(models_, times_);
    Judge(has_given_exits, &zeros, sums);
  }

  // Phases at which all terms are zero: those that no path from the start
  // reaches, and those from which no path leads to an exit.
  struct Zeros {
    ModelMask unreached[kPhases];
    ModelMask dead[kPhases];

    Zeros(const SmallModels<kPhases>& models, const SmallTimes& times) {
      const PerModel zero(0.0);
      const int64_t p = models.size;
      for (int64_t i = 0; i < p; ++i) {
        unreached[i] = models.initial[i] <= zero;
        dead[i] = (models.exits[i] <= zero) & ~times.is_survival;
      }
      // A path has fewer steps than there are phases.
      for (int64_t step = 1; step < p; ++step) {
        for (int64_t i = 0; i < p; ++i) {
          for (int64_t j = 0; j < p; ++j) {
            const ModelMask is_closed = models.steps[i][j] <= zero;
            dead[i] = dead[i] & Either(is_closed, dead[j]);
            unreached[j] = unreached[j] & Either(is_closed, unreached[i]);
          }
        }
      }
    }
  };

  // Does what `Check` does; zeros that are known to be exact are accurate.
  void Judge(bool has_given_exits, const Zeros* zeros,
             SmallSums<kPhases>* sums) const {
    sums->starts_are_accurate = sums->rows_are_accurate =
        sums->weights_are_accurate = models_.is_ordinary;
    for (int64_t i = 0; i < models_.size; ++i) {
      const PerModel& stays = sums->products[i][i];
      ModelMask start = IsAccurate(sums->starts[i]);
      ModelMask row =
          IsAccurate(has_given_exits ? stays : stays + sums->exits[i]);
      ModelMask weight = IsAccurate(sums->exits[i]);
      if (zeros != nullptr) {
        row = Either(row, Either(zeros->unreached[i],
                                 zeros->dead[i] & IsDeadRow(i, *zeros, *sums)));
        start = Either(start, zeros->dead[i]);
        weight = Either(weight, zeros->unreached[i]);
      }
      sums->starts_are_accurate = sums->starts_are_accurate & start;
      sums->rows_are_accurate = sums->rows_are_accurate & row;
      sums->weights_are_accurate = sums->weights_are_accurate & weight;
    }
  }

  // Returns the lanes where each term of the row of a dead phase is zero or
  // accurate. Steps of rate zero, whose cotangents are asked for, may leave the
  // dead phases.
  ModelMask IsDeadRow(int64_t i, const Zeros& zeros,
                      const SmallSums<kPhases>& sums) const {
    ModelMask result = models_.is_ordinary;
    if (!times_.lanes[0].in->has_weights()) {
      result = result & IsAccurate(sums.exits[i]);
    }
    for (int64_t j = 0; j < models_.size; ++j) {
      result = result & Either(IsAccurate(sums.products[i][j]), zeros.dead[j]);
    }
    return result;
  }

  const SmallModels<kPhases>& models_;
  const SmallTimes& times_;
  const int64_t num_steps_;
  const PerModel tail_;
  PerModel* kept_;
  PerModel adjoints_[kAdjointSteps][kPhases];  // y_{k+1}
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_ADJOINT_H_
