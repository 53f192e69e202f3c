// The outputs of an adjoint call: cotangents of the operands. An entry that
// several models share is summed in the order of the models, independent of the
// order in which threads finish.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_OPERAND_COTANGENTS_H_
#define PHASIC_NATIVE_KERNEL_BATCH_OPERAND_COTANGENTS_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "native/kernel/api/shapes.h"
#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_index.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

// The cotangents of one model, by operand; nullptr for operands that are not
// requested.
struct ModelCotangents {
  double* operands[kNumOperands];

  SweepOutput AsOutput() const {
    SweepOutput output = {};
    output.initial_probs = operands[kInitialProbs];
    output.subgenerator = operands[kSubgenerator];
    output.exit_rates = operands[kExitRates];
    output.prob_zero = operands[kProbZero];
    output.times = operands[kTimes];
    return output;
  }
};

template <class F>
class OperandCotangents {
 public:
  OperandCotangents(const BatchPlan& plan, const Output* outputs)
      : plan_(plan), outputs_(outputs) {
    for (int32_t i = 0; i < kNumOperands; ++i) {
      BatchStrides(plan.layout(), outputs[i].shape, EventSize(plan.layout(), i),
                   strides_[i]);
      const bool is_wanted = IsWanted(plan.call(), i);
      is_shared_[i] = is_wanted && plan.SharedByModels(strides_[i]);
      if (is_shared_[i]) shared_size_ += plan.ModelSize(i);
      if (is_wanted && !is_shared_[i]) own_[num_own_++] = i;
    }
  }

  // Returns how many cotangents of shared entries each model contributes.
  int64_t shared_size() const { return shared_size_; }

  // Allocates the sums, and memory for the terms of `count` models. Returns
  // false if memory does not suffice.
  bool Allocate(int64_t count, Workspace* workspace) {
    for (int32_t i = 0; i < kNumOperands; ++i) {
      if (!is_shared_[i]) continue;
      const int64_t size = NumElements(outputs_[i].shape);
      // Sums are in double precision, and in place if the output is double.
      sums_[i] = std::is_same<F, double>::value
                     ? static_cast<double*>(outputs_[i].data)
                     : AllocateDoubles(workspace, size);
      // An empty output may have a null pointer.
      if (sums_[i] == nullptr && size > 0) return false;
      std::fill(sums_[i], sums_[i] + size, 0.0);
    }
    terms_ = AllocateDoubles(workspace, count * shared_size_);
    return terms_ != nullptr;
  }

  // Allocates per-thread memory for the cotangents of unshared operands, and
  // points `scratch` to it. Returns false if memory does not suffice.
  bool AllocateScratch(Workspace* workspace, ModelCotangents* scratch) const {
    for (int32_t k = 0; k < num_own_; ++k) {
      const int32_t i = own_[k];
      scratch->operands[i] = AllocateDoubles(workspace, plan_.ModelSize(i));
      if (scratch->operands[i] == nullptr) return false;
    }
    return true;
  }
  void PointAtTerms(int64_t place, ModelCotangents* bars) const {
    double* next = terms_ + place * shared_size_;
    for (int32_t i = 0; i < kNumOperands; ++i) {
      if (!is_shared_[i]) continue;
      bars->operands[i] = next;
      next += plan_.ModelSize(i);
    }
  }

  // Writes the cotangents of entries that no other model shares to the outputs.
  void StoreOwn(const BatchIndex& model, const ModelCotangents& bars) const {
    for (int32_t k = 0; k < num_own_; ++k) {
      const int32_t i = own_[k];
      F* target = static_cast<F*>(outputs_[i].data) + model.Offset(strides_[i]);
      ForEachEntry(i, bars.operands[i], [target](int64_t offset, double bar) {
        // Adding zero turns -0 into 0, as in the sums of shared entries.
        target[offset] = static_cast<F>(0.0 + bar);
      });
    }
  }

  // Adds the terms of `model`, which are in slot `place`, to the sums. Must be
  // called in the order of the models.
  void AddTerms(const BatchIndex& model, int64_t place) {
    if (shared_size_ == 0) return;
    ModelCotangents bars = {};
    PointAtTerms(place, &bars);
    for (int32_t i = 0; i < kNumOperands; ++i) {
      if (!is_shared_[i]) continue;
      double* target = sums_[i] + model.Offset(strides_[i]);
      ForEachEntry(i, bars.operands[i], [target](int64_t offset, double bar) {
        target[offset] += bar;
      });
    }
  }

  void StoreSums() const {
    if (std::is_same<F, double>::value) return;
    for (int32_t i = 0; i < kNumOperands; ++i) {
      if (!is_shared_[i]) continue;
      F* target = static_cast<F*>(outputs_[i].data);
      const int64_t size = NumElements(outputs_[i].shape);
      for (int64_t j = 0; j < size; ++j) {
        target[j] = static_cast<F>(sums_[i][j]);
      }
    }
  }

 private:
  // Calls visit(offset, cotangent) for each entry of one model's operand.
  // `offset` is the entry's distance from the model's first entry in the
  // output.
  template <class Visit>
  void ForEachEntry(int32_t operand, const double* bars, Visit&& visit) const {
    if (operand != kTimes) {
      const int64_t count = plan_.ModelSize(operand);
      for (int64_t j = 0; j < count; ++j) visit(j, bars[j]);
      return;
    }
    const int64_t count = plan_.layout().num_times;
    plan_.ForEachRun(strides_[kTimes], [&](int64_t offset, int64_t row) {
      for (int64_t j = 0; j < count; ++j) visit(offset + j, bars[row + j]);
    });
  }

  static double* AllocateDoubles(Workspace* workspace, int64_t count) {
    return static_cast<double*>(
        workspace->Allocate(static_cast<size_t>(count), sizeof(double)));
  }

  const BatchPlan& plan_;
  const Output* const outputs_;
  int64_t strides_[kNumOperands][kMaxRank];
  bool is_shared_[kNumOperands];
  int32_t own_[kNumOperands];  // wanted operands that no other model shares
  int32_t num_own_ = 0;
  int64_t shared_size_ = 0;
  double* sums_[kNumOperands] = {};
  double* terms_ = nullptr;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_OPERAND_COTANGENTS_H_
