// The adjoint sweep of small models, one per SIMD lane; see adjoint_sweeper.h:
//   y_k = abar_k s + bbar_k 1 + P y_{k+1},   G = sum_k v_k^T y_{k+1},
// where the cotangent of F' is one, so that all results are positive.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_ADJOINT_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_ADJOINT_H_

#include <cstdint>

#include "native/kernel/matrix/lane_operator.h"
#include "native/kernel/methods/small_models/small_models.h"
#include "native/kernel/methods/small_models/small_terms.h"
#include "native/kernel/methods/small_models/small_times.h"
#include "native/kernel/methods/small_models/small_walk.h"
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
};

template <int kPhases>
class SmallAdjoint {
 public:
  // `kept` has one row for each of `num_steps` steps, see MixAsMade; the
  // weights in these rows are overwritten with abar. `adjoints` has room for as
  // many rows of kPhases.
  SmallAdjoint(const SmallModels<kPhases>& models, const SmallTimes& times,
               const PerModel& tail, int64_t num_steps,
               const SmallKept<kPhases>& kept, PerModel* adjoints)
      : models_(models),
        times_(times),
        num_steps_(num_steps),
        tail_(tail),
        scales_(kept),
        kept_(kept.rows),
        adjoints_(adjoints) {}

  [[gnu::noinline]] void Run(bool has_given_exits, SmallSums<kPhases>* sums) {
    if (times_.has_long()) {
      Descend<true, true>(sums->starts);
    } else if (times_.has_others()) {
      Descend<true, false>(sums->starts);
    } else {
      Descend<false, false>(sums->starts);
    }
    for (int j = 0; j < kPhases; j += kColumns) AddColumns(j, sums);
    AddExits(sums);
    Check(has_given_exits, sums);
  }

 private:
  // The number of columns of G that are computed at once, so that their sums
  // stay in registers.
  static constexpr int kColumns = PerModel::kParts > 1 && kPhases > 2 ? 1
                                  : kPhases <= 4                      ? kPhases
                                                                      : 2;
  static constexpr int kRow = kPhases + 1;

  // Computes the adjoints from the last step to the first, and stores y_{k+1}
  // in row k. Writes y_0 to `starts`.
  template <bool kHasOthers, bool kHasLong>
  void Descend(PerModel* starts) {
    PerModel y[kPhases];
    for (PerModel& number : y) number = PerModel(0.0);
    PerModel later(0.0);  // sum of the weights of later steps
    PerModel scale(1.0);  // of the sums, after the step
    for (int64_t k = num_steps_ - 1; k >= 0; --k) {
      PerModel& weight = kept_[k * kRow + kPhases];
      if (kHasLong && k % kStepsPerTest == kStepsPerTest - 1) {
        // States and adjoints have inverse scales.
        const PerModel power =
            PowerAbove(scales_.states[k / kStepsPerTest]).inverse;
        for (PerModel& number : y) number = power * number;
        scale = scales_.sums[k / kStepsPerTest] * scale;
      }
      if constexpr (kHasLong) weight = scale * weight;
      PerModel a_bar = weight;
      PerModel b_bar(0.0);
      if constexpr (kHasOthers) {
        b_bar = Select(times_.is_survival, weight, b_bar);
        a_bar = Select(times_.is_survival, PerModel(0.0), a_bar);
        a_bar = Select(times_.is_cdf, later, a_bar);
        later = later + weight;
        weight = a_bar;
      }
      PerModel next[kPhases];
      Unrolled<kPhases>([&](auto i) {
        adjoints_[k * kPhases + i] = y[i];
        next[i] = SmallDot<kPhases>(models_.steps[i], y);
        next[i].AddProduct(a_bar, models_.exits[i]);
        if constexpr (kHasOthers) next[i] = next[i] + b_bar;
      });
      Unrolled<kPhases>([&](auto i) { y[i] = next[i]; });
    }
    for (int i = 0; i < kPhases; ++i) starts[i] = y[i];
  }

  void AddColumns(int first, SmallSums<kPhases>* sums) const {
    PerModel products[kPhases][kColumns];
    for (auto& row : products) {
      for (PerModel& sum : row) sum = PerModel(0.0);
    }
    for (int64_t k = 0; k < num_steps_; ++k) {
      const PerModel* state = kept_ + k * kRow;
      const PerModel* y = adjoints_ + k * kPhases + first;
      Unrolled<kPhases>([&](auto i) {
        Unrolled<kColumns>([&](auto j) {  //
          products[i][j].AddProduct(state[i], y[j]);
        });
      });
    }
    for (int i = 0; i < kPhases; ++i) {
      for (int j = 0; j < kColumns; ++j) {
        sums->products[i][first + j] = products[i][j];
      }
    }
  }

  void AddExits(SmallSums<kPhases>* sums) const {
    PerModel exits[kPhases];
    for (PerModel& sum : exits) sum = PerModel(0.0);
    for (int64_t k = 0; k < num_steps_; ++k) {
      const PerModel* state = kept_ + k * kRow;
      Unrolled<kPhases>([&](auto i) {  //
        exits[i].AddProduct(state[kPhases], state[i]);
      });
    }
    for (int i = 0; i < kPhases; ++i) sums->exits[i] = exits[i];
  }

  // Returns the lanes where a number of this size is far above its truncation
  // error. A zero may have underflowed, so that it does not count as accurate.
  ModelMask IsAccurate(const PerModel& size) const {
    return (PerModel(kLeastOrdinary) <= size) & (tail_ <= 0x1p-44 * size);
  }

  // Sets for each lane whether the cotangents of alpha, and whether those of
  // the rates, are accurate. As in BarsWriter, the cotangents of a row of P are
  // judged by a lower bound on the terms of all of them.
  void Check(bool has_given_exits, SmallSums<kPhases>* sums) const {
    sums->tail = tail_;
    sums->starts_are_accurate = sums->rows_are_accurate = models_.is_ordinary;
    for (int64_t i = 0; i < models_.size; ++i) {
      const PerModel& stays = sums->products[i][i];
      sums->starts_are_accurate =
          sums->starts_are_accurate & IsAccurate(sums->starts[i]);
      sums->rows_are_accurate =
          sums->rows_are_accurate &
          IsAccurate(has_given_exits ? stays : stays + sums->exits[i]);
    }
  }

  const SmallModels<kPhases>& models_;
  const SmallTimes& times_;
  const int64_t num_steps_;
  const PerModel tail_;
  const SmallKept<kPhases> scales_;
  PerModel* kept_;
  PerModel* adjoints_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_SMALL_ADJOINT_H_
