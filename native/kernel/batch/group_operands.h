// The operands of several models that a sweep takes together.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_GROUP_OPERANDS_H_
#define PHASIC_NATIVE_KERNEL_BATCH_GROUP_OPERANDS_H_

#include <algorithm>
#include <cstdint>
#include <optional>

#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_index.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/batch/model_operands.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {

template <class F>
class GroupOperands {
 public:
  GroupOperands(const BatchPlan& plan, int max_count) : max_count_(max_count) {
    for (int l = 0; l < max_count; ++l) {
      places_[l] = &operands_[l].emplace(plan);
    }
  }

  bool Allocate(Workspace* workspace) {
    for (int l = 0; l < max_count_; ++l) {
      if (!places_[l]->Allocate(workspace)) return false;
    }
    return true;
  }

  // Those of the models from this one on, before the next `limit`, as many as
  // may be taken together; the index goes past them. How many they are.
  int Gather(int64_t limit, BatchIndex* model) {
    count_ = static_cast<int>(std::min<int64_t>(max_count_, limit));
    for (int l = 0; l < count_; ++l, model->Next()) {
      indices_[l] = &models_[l].emplace(*model);
      inputs_[l] = places_[l]->Gather(*model);
    }
    return count_;
  }
  int count() const { return count_; }
  const SweepInput* inputs() const { return inputs_; }
  const BatchIndex& model(int l) const { return *indices_[l]; }
  // See ModelOperands.
  void SwapEnds(int l, double* of_times) const {
    places_[l]->SwapEnds(of_times);
  }

 private:
  const int max_count_;
  int count_ = 0;
  std::optional<ModelOperands<F>> operands_[kMaxGroup];
  ModelOperands<F>* places_[kMaxGroup] = {};
  std::optional<BatchIndex> models_[kMaxGroup];
  const BatchIndex* indices_[kMaxGroup] = {};
  SweepInput inputs_[kMaxGroup];
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_GROUP_OPERANDS_H_
