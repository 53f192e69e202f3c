// One call on a batch: walks the models, gathers each one's operands and times
// as doubles, runs a sweep and scatters the results.

#ifndef PHASIC_NATIVE_KERNEL_BATCH_RUN_H_
#define PHASIC_NATIVE_KERNEL_BATCH_RUN_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "native/kernel/batch_index.h"
#include "native/kernel/float_environment.h"
#include "native/kernel/phase_type.h"
#include "native/kernel/shapes.h"
#include "native/kernel/sweep.h"
#include "native/kernel/workspace.h"

namespace phasic {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

constexpr size_t kMemoryLimitBytes = size_t{1} << 30;
constexpr int32_t kMaxInputs = kNumOperands * (kMaxOrder + 1) + 1;

// Kept from call to call: fresh pages cost more than a small model's sweep.
inline Workspace& ThreadMemory(int which) {
  thread_local Workspace batch(kMemoryLimitBytes);
  thread_local Workspace sweep(kMemoryLimitBytes);
  return which == 0 ? batch : sweep;
}

// One call on arrays of F: walks the models of the batch, gathers each one's
// operands and times as doubles, runs a sweep and scatters the results.
template <class F>
class BatchRun {
 public:
  BatchRun(const Call& call, const Input* inputs, int32_t num_inputs,
           const Layout& layout, bool adjoint)
      : inputs_(inputs),
        num_inputs_(num_inputs),
        layout_(layout),
        num_arrays_(kNumOperands * (adjoint ? call.order : call.order + 1)),
        environment_(Denormals::kKeep),
        batch_memory_(ThreadMemory(0)),
        sweep_memory_(ThreadMemory(1)) {
    for (int32_t axis = 0; axis < layout.batch_rank; ++axis) {
      // Mapped dimensions must not be summed over, so each is a model.
      bool is_model =
          adjoint && axis < call.mapped_dims && layout.batch[axis] != 1;
      for (int32_t i = 0; i < num_arrays_; ++i) {
        if (i % kNumOperands != kTimes && inputs[i].shape.dims[axis] != 1) {
          is_model = true;
        }
      }
      model_axes_[axis] = is_model;
      time_axes_[axis] = !is_model;
    }
    for (int32_t i = 0; i < num_inputs; ++i) {
      const int64_t event = i < num_arrays_
                                ? EventSize(layout, i % kNumOperands)
                                : layout.num_times;
      BatchStrides(layout, inputs[i].shape, event, strides_[i]);
    }
    times_per_model_ = layout.num_times;
    for (int32_t axis = 0; axis < layout.batch_rank; ++axis) {
      if (time_axes_[axis]) times_per_model_ *= layout.batch[axis];
    }
    std::memset(&view_, 0, sizeof(view_));
    view_.num_phases = layout.num_phases;
    view_.num_times = times_per_model_;
    view_.kind = static_cast<Kind>(call.kind);
    view_.has_exit_rates = layout.has_exit_rates;
    view_.has_prob_zero = layout.has_prob_zero;
    view_.epsilon = std::numeric_limits<F>::epsilon();
  }

  ~BatchRun() {
    batch_memory_.Reset();
    sweep_memory_.Reset();
  }
  BatchRun(const BatchRun&) = delete;
  BatchRun& operator=(const BatchRun&) = delete;

  const char* Forward(Sweep sweep, F* values, int32_t* status) {
    if (!Allocate()) return "the workspace does not fit into memory";
    Shape full;
    int64_t dims[kMaxRank];
    FullShape(dims, &full);
    int64_t strides[kMaxRank];
    BatchStrides(layout_, full, layout_.num_times, strides);
    SweepOutput output = {};
    output.values = results_;
    output.status = status != nullptr ? codes_ : nullptr;
    BatchIndex model(layout_, model_axes_);
    do {
      Gather(model);
      sweep_memory_.Reset();
      sweep(view_, output, &sweep_memory_);
      const int64_t base = model.Offset(strides);
      ForEachTime([&](const BatchIndex& time, int64_t row) {
        const int64_t offset = base + time.Offset(strides);
        for (int64_t i = 0; i < layout_.num_times; ++i) {
          if (status != nullptr) {
            status[offset + i] = codes_[row + i];
          } else {
            values[offset + i] = static_cast<F>(results_[row + i]);
          }
        }
      });
    } while (model.Next());
    return nullptr;
  }

  const char* Adjoint(Sweep sweep, const Output* outputs) {
    double* bars[kNumOperands];
    double* sums[kNumOperands];
    int64_t strides[kNumOperands][kMaxRank];
    if (!Allocate()) return "the workspace does not fit into memory";
    for (int32_t i = 0; i < kNumOperands; ++i) {
      const int64_t event = EventSize(layout_, i);
      BatchStrides(layout_, outputs[i].shape, event, strides[i]);
      bars[i] = AllocateDoubles(i == kTimes ? times_per_model_ : event);
      sums[i] = Accumulator(outputs[i]);
      if (bars[i] == nullptr || sums[i] == nullptr) {
        return "the workspace does not fit into memory";
      }
    }
    SweepOutput output = {};
    output.initial_probs = bars[kInitialProbs];
    output.subgenerator = bars[kSubgenerator];
    output.exit_rates = bars[kExitRates];
    output.prob_zero = bars[kProbZero];
    output.times = bars[kTimes];
    BatchIndex model(layout_, model_axes_);
    do {
      Gather(model);
      sweep_memory_.Reset();
      sweep(view_, output, &sweep_memory_);
      for (int32_t i = 0; i < kTimes; ++i) {
        double* target = sums[i] + model.Offset(strides[i]);
        const int64_t count = EventSize(layout_, i);
        for (int64_t j = 0; j < count; ++j) target[j] += bars[i][j];
      }
      double* target = sums[kTimes] + model.Offset(strides[kTimes]);
      ForEachTime([&](const BatchIndex& time, int64_t row) {
        const int64_t offset = time.Offset(strides[kTimes]);
        for (int64_t j = 0; j < layout_.num_times; ++j) {
          target[offset + j] += bars[kTimes][row + j];
        }
      });
    } while (model.Next());
    for (int32_t i = 0; i < kNumOperands; ++i) Store(sums[i], outputs[i]);
    return nullptr;
  }

 private:
  template <class Visit>
  void ForEachTime(Visit&& visit) const {
    BatchIndex time(layout_, time_axes_);
    int64_t row = 0;
    do {
      visit(time, row);
      row += layout_.num_times;
    } while (time.Next());
  }

  void FullShape(int64_t* dims, Shape* shape) const {
    for (int32_t axis = 0; axis < layout_.batch_rank; ++axis) {
      dims[axis] = layout_.batch[axis];
    }
    dims[layout_.batch_rank] = layout_.num_times;
    *shape = {dims, layout_.batch_rank + 1};
  }

  double* AllocateDoubles(int64_t count) {
    return static_cast<double*>(
        batch_memory_.Allocate(static_cast<size_t>(count), sizeof(double)));
  }

  bool Allocate() {
    for (int32_t i = 0; i < num_inputs_; ++i) {
      const bool is_time = i % kNumOperands == kTimes || i == num_arrays_;
      const int64_t count = is_time
                                ? times_per_model_
                                : (std::is_same<F, double>::value
                                       ? 0
                                       : EventSize(layout_, i % kNumOperands));
      buffers_[i] = AllocateDoubles(count);
      if (buffers_[i] == nullptr) return false;
    }
    results_ = AllocateDoubles(times_per_model_);
    codes_ = static_cast<int32_t*>(batch_memory_.Allocate(
        static_cast<size_t>(times_per_model_), sizeof(int32_t)));
    return results_ != nullptr && codes_ != nullptr;
  }

  // Points the view at one model's operands.
  void Gather(const BatchIndex& model) {
    for (int32_t i = 0; i < num_inputs_; ++i) {
      const F* data =
          static_cast<const F*>(inputs_[i].data) + model.Offset(strides_[i]);
      const bool is_cotangent = i == num_arrays_;
      const int32_t operand = is_cotangent ? kTimes : i % kNumOperands;
      const double* values =
          operand == kTimes
              ? GatherTimes(data, strides_[i], buffers_[i])
              : Convert(data, EventSize(layout_, operand), buffers_[i]);
      if (is_cotangent) {
        view_.cotangent = values;
      } else {
        OperandView* views[kNumOperands] = {
            &view_.initial_probs, &view_.subgenerator, &view_.exit_rates,
            &view_.prob_zero, &view_.times};
        const int32_t group = i / kNumOperands;
        if (group == 0) {
          views[operand]->value = values;
        } else {
          views[operand]->tangents[group - 1] = values;
        }
      }
    }
  }

  static const double* Convert(const double* data, int64_t, double*) {
    return data;
  }
  static const double* Convert(const float* data, int64_t count,
                               double* buffer) {
    for (int64_t i = 0; i < count; ++i) buffer[i] = data[i];
    return buffer;
  }

  const double* GatherTimes(const F* data, const int64_t* strides,
                            double* buffer) const {
    ForEachTime([&](const BatchIndex& time, int64_t row) {
      const F* source = data + time.Offset(strides);
      for (int64_t i = 0; i < layout_.num_times; ++i) {
        buffer[row + i] = source[i];
      }
    });
    return buffer;
  }

  static int64_t NumElements(const Shape& shape) {
    int64_t count = 1;
    for (int32_t axis = 0; axis < shape.rank; ++axis) count *= shape.dims[axis];
    return count;
  }

  // Sums are made in double precision: in place where the output is double.
  double* Accumulator(const Output& output) {
    const int64_t count = NumElements(output.shape);
    double* sums = std::is_same<F, double>::value
                       ? static_cast<double*>(output.data)
                       : AllocateDoubles(count);
    for (int64_t i = 0; sums != nullptr && i < count; ++i) sums[i] = 0.0;
    // An empty output may have no memory of its own.
    return count == 0 ? results_ : sums;
  }

  static void Store(const double* sums, const Output& output) {
    if (std::is_same<F, double>::value) return;
    const int64_t count = NumElements(output.shape);
    F* target = static_cast<F*>(output.data);
    for (int64_t i = 0; i < count; ++i) target[i] = static_cast<F>(sums[i]);
  }

  const Input* inputs_;
  const int32_t num_inputs_;
  const Layout& layout_;
  const int32_t num_arrays_;  // operands and tangents
  // Callers differ in whether they flush denormals; results must not.
  const FloatEnvironment environment_;
  Workspace& batch_memory_;
  Workspace& sweep_memory_;
  bool model_axes_[kMaxRank];
  bool time_axes_[kMaxRank];
  int64_t strides_[kMaxInputs][kMaxRank];
  int64_t times_per_model_;
  double* buffers_[kMaxInputs];
  double* results_ = nullptr;
  int32_t* codes_ = nullptr;
  SweepInput view_;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_BATCH_RUN_H_
