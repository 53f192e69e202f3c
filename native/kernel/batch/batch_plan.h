// The plan of one call on a batch: which batch dimensions enumerate models and
// which enumerate times of the same model, and where each model's arrays begin.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_BATCH_PLAN_H_
#define PHASIC_NATIVE_KERNEL_BATCH_BATCH_PLAN_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/shapes.h"
#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_index.h"
#include "native/kernel/choice/batch_choice.h"

namespace phasic {

constexpr int32_t kMaxInputs = kNumOperands * (kMaxOrder + 1) + 1;

class BatchPlan {
 public:
  // Plans the call. If `by_row` is true, each row of times belongs to a
  // separate model.
  BatchPlan(const Call& call, const Input* inputs, int32_t num_inputs,
            const Layout& layout, bool adjoint, bool by_row = false)
      : call_(call),
        inputs_(inputs),
        num_inputs_(num_inputs),
        layout_(layout),
        adjoint_(adjoint) {
    for (int32_t i = 0; i < num_inputs; ++i) {
      operands_[i] = i == num_arrays() ? kTimes : i % kNumOperands;
    }
    for (int32_t axis = 0; axis < layout.batch_rank; ++axis) {
      // Each index along a mapped dimension is a separate model, since
      // cotangents must not be summed over the dimension.
      bool is_model = by_row || (adjoint && axis < call.mapped_dims &&
                                 layout.batch[axis] != 1);
      for (int32_t i = 0; i < num_arrays(); ++i) {
        if (OperandOf(i) != kTimes && inputs[i].shape.dims[axis] != 1) {
          is_model = true;
        }
      }
      if (call.edges != nullptr) {
        for (const Input& x : {call.edges->indices, call.edges->constants,
                               call.edges->coefficients}) {
          if (x.shape.dims[axis] != 1) is_model = true;
        }
      }
      model_axes_[axis] = is_model;
      time_axes_[axis] = !is_model;
      (is_model ? num_models_ : times_per_model_) *= layout.batch[axis];
    }
    times_per_model_ *= layout.num_times;
    for (int32_t i = 0; i < num_inputs; ++i) {
      BatchStrides(layout, inputs[i].shape, EventSize(layout, OperandOf(i)),
                   strides_[i]);
    }
    if (call.kinds != nullptr) {
      BatchStrides(layout, call.kinds->shape, layout.num_times, kind_strides_);
    }
    if (call.edges == nullptr) return;
    BatchStrides(layout, call.edges->indices.shape, 2 * layout.num_edges,
                 edge_strides_[0]);
    BatchStrides(layout, call.edges->constants.shape, NumConstants(),
                 edge_strides_[1]);
    BatchStrides(layout, call.edges->coefficients.shape, NumCoefficients(),
                 edge_strides_[2]);
  }

  int64_t NumConstants() const {
    return layout_.has_constants ? layout_.num_edges : 0;
  }
  int64_t NumCoefficients() const {
    return layout_.has_coefficients ? layout_.num_edges * layout_.num_parameters
                                    : 0;
  }
  // Returns the strides of edge array i: the indices, constants or
  // coefficients.
  const int64_t* edge_strides(int32_t i) const { return edge_strides_[i]; }

  const int64_t* kind_strides() const { return kind_strides_; }

  const Call& call() const { return call_; }
  const Layout& layout() const { return layout_; }
  bool adjoint() const { return adjoint_; }
  int64_t num_models() const { return num_models_; }
  int64_t times_per_model() const { return times_per_model_; }

  int32_t num_inputs() const { return num_inputs_; }
  // Returns the number of inputs that are operands or tangents; in adjoint
  // calls a cotangent follows them.
  int32_t num_arrays() const { return num_inputs_ - (adjoint_ ? 1 : 0); }
  const Input& input(int32_t i) const { return inputs_[i]; }
  const int64_t* strides(int32_t i) const { return strides_[i]; }

  // Returns the operand with the event shape of input i. The cotangent has the
  // event shape of the times.
  int32_t OperandOf(int32_t i) const { return operands_[i]; }

  // Returns the number of entries that an operand has in one model.
  int64_t ModelSize(int32_t operand) const {
    return operand == kTimes ? times_per_model_ : EventSize(layout_, operand);
  }

  BatchIndex Model(int64_t number) const {
    BatchIndex index(layout_, model_axes_);
    index.Seek(number);
    return index;
  }

  // Returns whether several models share the entries of an array with these
  // strides.
  bool SharedByModels(const int64_t* strides) const {
    for (int32_t axis = 0; axis < layout_.batch_rank; ++axis) {
      if (model_axes_[axis] && layout_.batch[axis] > 1 && strides[axis] == 0) {
        return true;
      }
    }
    return false;
  }

  // Returns whether all models have the same entries of an array with these
  // strides.
  bool IsOneForAll(const int64_t* strides) const {
    for (int32_t axis = 0; axis < layout_.batch_rank; ++axis) {
      if (model_axes_[axis] && layout_.batch[axis] > 1 && strides[axis] != 0) {
        return false;
      }
    }
    return true;
  }

  // Returns whether all models have the same edges.
  bool SharesEdges() const {
    return call_.edges != nullptr && IsOneForAll(edge_strides_[0]);
  }

  bool HasSmallModels() const {
    return AreSmall(call_, layout_, times_per_model_);
  }

  // Returns whether all times of a model are contiguous in memory.
  bool HasOneRun() const { return times_per_model_ == layout_.num_times; }

  // Calls visit(offset, row) for each contiguous run of `num_times` times of a
  // model. `offset` is the run's first index in an array with these strides,
  // and `row` its first index among the model's times.
  template <class Visit>
  void ForEachRun(const int64_t* strides, Visit&& visit) const {
    if (HasOneRun()) {  // the usual case
      visit(int64_t{0}, int64_t{0});
      return;
    }
    BatchIndex index(layout_, time_axes_);
    int64_t row = 0;
    do {
      visit(index.Offset(strides), row);
      row += layout_.num_times;
    } while (index.Next());
  }

 private:
  const Call& call_;
  const Input* const inputs_;
  const int32_t num_inputs_;
  const Layout& layout_;
  const bool adjoint_;
  bool model_axes_[kMaxRank] = {};
  bool time_axes_[kMaxRank] = {};
  int32_t operands_[kMaxInputs];
  int64_t num_models_ = 1;
  int64_t times_per_model_ = 1;
  int64_t strides_[kMaxInputs][kMaxRank];
  int64_t edge_strides_[kNumEdgeArrays][kMaxRank];
  int64_t kind_strides_[kMaxRank];
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_BATCH_PLAN_H_
