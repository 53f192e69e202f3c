// Gathers the operands of several models for one sweep.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_GROUP_OPERANDS_H_
#define PHASIC_NATIVE_KERNEL_BATCH_GROUP_OPERANDS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_index.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/batch/model_operands.h"
#include "native/kernel/batch/places.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

template <class F>
class GroupOperands {
 public:
  GroupOperands(const BatchPlan& plan, int max_count)
      : plan_(plan), max_count_(max_count) {
    for (int l = 0; l < max_count; ++l) {
      places_[l] = operands_.Make(l, plan, &inputs_[l]);
    }
    for (int32_t i = 0; i < plan.num_inputs(); ++i) {
      // Times may be swapped in place, and directions replaced by scaled ones.
      const bool stays = i < kTimes && plan.IsOneForAll(plan.strides(i));
      (stays ? constants_ : varying_).Add(i);
    }
    for (int32_t i = 0; plan.layout().has_edges && i < kNumEdgeArrays; ++i) {
      const bool stays = plan.IsOneForAll(plan.edge_strides(i));
      (stays ? constant_edges_ : varying_edges_).Add(i);
    }
  }

  bool Allocate(Workspace* workspace) {
    for (int l = 0; l < max_count_; ++l) {
      if (!places_[l]->Allocate(workspace)) return false;
    }
    return true;
  }

  // Gathers the operands of as many models as one sweep allows, at most
  // `limit`, from index `model` on, and advances the index past them. Returns
  // the number of models, or 0 if memory does not suffice.
  int Gather(int64_t limit, BatchIndex* model) {
    if (count_ == 0) PutConstants();
    count_ = static_cast<int>(std::min<int64_t>(max_count_, limit));
    for (int first = 0; first < count_;) {
      const int size = static_cast<int>(
          std::min<int64_t>(count_ - first, model->RunLength()));
      GatherRun(*model, &places_[first], size);
      model->Skip(size);
      first += size;
    }
    for (int l = 0; l < count_; ++l) {
      if (!places_[l]->ScaleDirections()) return 0;
    }
    return count_;
  }
  int count() const { return count_; }
  const SweepInput* inputs() const { return inputs_; }
  // Given an array with an entry for each time of model l, swaps the entries of
  // observations whose ends are swapped; see ModelOperands::SwapEnds.
  void SwapEnds(int l, double* of_times) const {
    places_[l]->SwapEnds(of_times);
  }

 private:
  // Numbers of inputs, or of edge arrays.
  struct Numbers {
    int32_t all[kMaxInputs];
    int32_t count = 0;
    void Add(int32_t i) { all[count++] = i; }
    const int32_t* begin() const { return all; }
    const int32_t* end() const { return all + count; }
  };

  // Gathers what is the same for all models.
  void PutConstants() {
    for (int l = 0; l < max_count_; ++l) {
      for (const int32_t i : constants_) places_[l]->Put(i, 0);
      for (const int32_t i : constant_edges_) places_[l]->PutEdges(i, 0);
    }
  }

  // Gathers the other operands of `size` models that differ only in the
  // innermost batch dimension.
  void GatherRun(const BatchIndex& model, ModelOperands<F>* const* places,
                 int size) {
    const auto for_each = [&](const int64_t* strides, const auto& put) {
      int64_t offset = model.Offset(strides);
      const int64_t step = model.Step(strides);
      for (int l = 0; l < size; ++l, offset += step) put(places[l], offset);
    };
    for (const int32_t i : varying_) {
      const int64_t* const strides = plan_.strides(i);
      if (!places[0]->IsInPlace(i)) {
        for_each(strides, [i](ModelOperands<F>* place, int64_t offset) {
          place->Put(i, offset);
        });
        continue;
      }
      const double* data = static_cast<const double*>(plan_.input(i).data) +
                           model.Offset(strides);
      const int64_t step = model.Step(strides);
      for (int l = 0; l < size; ++l, data += step) places[l]->Show(i, data);
    }
    for (const int32_t i : varying_edges_) {
      for_each(plan_.edge_strides(i),
               [i](ModelOperands<F>* place, int64_t offset) {
                 place->PutEdges(i, offset);
               });
    }
    if (!plan_.layout().has_kinds) return;
    for_each(plan_.kind_strides(), [](ModelOperands<F>* place, int64_t offset) {
      place->PutKinds(offset);
    });
  }

  const BatchPlan& plan_;
  const int max_count_;
  int count_ = 0;
  Numbers constants_;
  Numbers varying_;
  Numbers constant_edges_;
  Numbers varying_edges_;
  Places<ModelOperands<F>, kMaxGroup> operands_;
  ModelOperands<F>* places_[kMaxGroup] = {};
  SweepInput inputs_[kMaxGroup];
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_GROUP_OPERANDS_H_
