#include "native/kernel/api/phase_type.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/kernel/api/shapes.h"
#include "native/kernel/api/sweep.h"
#include "native/kernel/batch/batch_plan.h"
#include "native/kernel/batch/batch_run.h"

namespace phasic {
namespace {

const char* CheckInputs(const Call& call, const Input* inputs,
                        int32_t num_inputs, bool adjoint, Layout* layout) {
  Shape shapes[kMaxInputs];
  if (num_inputs < kNumOperands || num_inputs > kMaxInputs) {
    return Message("inputs: %d arrays do not make a call", num_inputs);
  }
  for (int32_t i = 0; i < num_inputs; ++i) shapes[i] = inputs[i].shape;
  return CheckLayout(call, shapes, num_inputs, adjoint, layout);
}

void FillWithZeros(const Call& call, const Output* outputs,
                   int32_t num_outputs) {
  const size_t width = call.precision == Precision::kFloat32 ? 4 : 8;
  for (int32_t i = 0; i < num_outputs; ++i) {
    const size_t size = static_cast<size_t>(NumElements(outputs[i].shape));
    // The array of an empty output may be a null pointer.
    if (size > 0) std::memset(outputs[i].data, 0, size * width);
  }
}

bool SameShape(const Shape& a, const int64_t* dims, int32_t rank) {
  if (a.rank != rank) return false;
  for (int32_t axis = 0; axis < rank; ++axis) {
    if (a.dims[axis] != dims[axis]) return false;
  }
  return true;
}

void ValueDims(const Layout& layout, int64_t* dims, int32_t* rank) {
  *rank = layout.batch_rank + 1;
  for (int32_t axis = 0; axis < layout.batch_rank; ++axis) {
    dims[axis] = layout.batch[axis];
  }
  dims[layout.batch_rank] = layout.num_times;
}

void BarDims(const Call& call, const Layout& layout, const Shape& operand,
             int32_t index, int64_t* dims, int32_t* rank) {
  *rank = operand.rank;
  for (int32_t axis = 0; axis < operand.rank; ++axis) {
    dims[axis] =
        axis < call.mapped_dims ? layout.batch[axis] : operand.dims[axis];
    if (axis >= layout.batch_rank && !IsWanted(call, index)) dims[axis] = 0;
  }
}

void StatisticsDims(const Layout& layout, int32_t index, int64_t* dims,
                    int32_t* rank) {
  for (int32_t axis = 0; axis < layout.batch_rank; ++axis) {
    dims[axis] = layout.batch[axis];
  }
  *rank = layout.batch_rank;
  const bool is_matrix = index == kJumps && !layout.has_edges;
  if (is_matrix) dims[(*rank)++] = layout.num_phases;
  dims[(*rank)++] =
      is_matrix ? layout.num_phases : StatisticSize(layout, index);
}

const char* CheckStatistics(const Call& call) {
  if (call.order != 1) return "order: statistics exist for order 1 only";
  if (call.discrete) return "discrete: statistics need continuous time";
  return nullptr;
}

const char* CheckNoWeights(const Layout& layout) {
  if (!layout.has_edges || !layout.has_exit_rates) return nullptr;
  return "exit_rates: in a model with edges these are weights of phases, which "
         "statistics do not have; pass an empty array";
}

const char* RunForward(const Call& call, const Input* inputs,
                       int32_t num_inputs, const Output& output,
                       Executor* executor, bool wants_status) {
  Layout layout;
  const char* error = CheckInputs(call, inputs, num_inputs, false, &layout);
  if (error != nullptr) return error;
  int64_t dims[kMaxRank];
  int32_t rank;
  ValueDims(layout, dims, &rank);
  if (!SameShape(output.shape, dims, rank)) {
    return "output: must have the shape of the value";
  }
  if (IsEmpty(layout)) return nullptr;
  const Sweep sweep = Sweeps().forward[call.order];
  const bool is_value = call.order == 0;
  const GroupSweep group = is_value ? Sweeps().forward_group : nullptr;
  const GroupSweep small = is_value          ? Sweeps().forward_small
                           : call.order == 1 ? Sweeps().tangent_small
                                             : nullptr;
  const BatchPlan plan(call, inputs, num_inputs, layout, false);
  int32_t* status = wants_status ? static_cast<int32_t*>(output.data) : nullptr;
  if (call.precision == Precision::kFloat32) {
    return BatchRun<float>(plan, sweep, executor, group, small)
        .Forward(static_cast<float*>(output.data), status);
  }
  return BatchRun<double>(plan, sweep, executor, group, small)
      .Forward(static_cast<double*>(output.data), status);
}

}  // namespace

const char* Forward(const Call& call, const Input* inputs, int32_t num_inputs,
                    const Output& output, Executor* executor) {
  return RunForward(call, inputs, num_inputs, output, executor, false);
}

const char* Status(const Call& call, const Input* inputs, int32_t num_inputs,
                   const Output& output, Executor* executor) {
  if (call.order != 0) return "order: status exists for order 0 only";
  return RunForward(call, inputs, num_inputs, output, executor, true);
}

const char* Adjoint(const Call& call, const Input* inputs, int32_t num_inputs,
                    const Output* outputs, int32_t num_outputs,
                    Executor* executor) {
  Layout layout;
  const char* error = CheckInputs(call, inputs, num_inputs, true, &layout);
  if (error != nullptr) return error;
  if (num_outputs != kNumOperands) {
    return Message("outputs: expected %d arrays, got %d", kNumOperands,
                   num_outputs);
  }
  for (int32_t i = 0; i < kNumOperands; ++i) {
    int64_t dims[kMaxRank];
    int32_t rank;
    BarDims(call, layout, inputs[i].shape, i, dims, &rank);
    if (!SameShape(outputs[i].shape, dims, rank)) {
      return Message(
          "outputs: array %d must have its operand's shape, with events of "
          "size zero where it is not wanted",
          i);
    }
  }
  if (IsEmpty(layout)) {
    FillWithZeros(call, outputs, num_outputs);
    return nullptr;
  }
  const Sweep sweep = Sweeps().adjoint[call.order];
  const bool is_first = call.order == 1;
  const GroupSweep group = is_first ? Sweeps().adjoint_group : nullptr;
  const GroupSweep small = is_first ? Sweeps().adjoint_small : nullptr;
  const BatchPlan plan(call, inputs, num_inputs, layout, true);
  if (call.precision == Precision::kFloat32) {
    return BatchRun<float>(plan, sweep, executor, group, small)
        .Adjoint(outputs);
  }
  return BatchRun<double>(plan, sweep, executor, group, small).Adjoint(outputs);
}

const char* Statistics(const Call& call, const Input* inputs,
                       int32_t num_inputs, const Output* outputs,
                       int32_t num_outputs, Executor* executor) {
  Layout layout = {};
  const char* error = CheckStatistics(call);
  if (error == nullptr) {
    error = CheckInputs(call, inputs, num_inputs, true, &layout);
  }
  if (error == nullptr) error = CheckNoWeights(layout);
  if (error != nullptr) return error;
  if (num_outputs != kNumStatistics) {
    return Message("outputs: expected %d arrays, got %d", kNumStatistics,
                   num_outputs);
  }
  for (int32_t i = 0; i < kNumStatistics; ++i) {
    int64_t dims[kMaxRank];
    int32_t rank;
    StatisticsDims(layout, i, dims, &rank);
    if (!SameShape(outputs[i].shape, dims, rank)) {
      return Message("outputs: array %d must have the shape of its statistic",
                     i);
    }
  }
  if (IsEmpty(layout)) {
    FillWithZeros(call, outputs, num_outputs);
    return nullptr;
  }
  const Sweep sweep = Sweeps().statistics;
  const BatchPlan plan(call, inputs, num_inputs, layout, true, true);
  if (call.precision == Precision::kFloat32) {
    return BatchRun<float>(plan, sweep, executor).Statistics(outputs);
  }
  return BatchRun<double>(plan, sweep, executor).Statistics(outputs);
}

const char* ForwardShape(const Call& call, const Shape* inputs,
                         int32_t num_inputs, int64_t* dims, int32_t* rank) {
  Layout layout;
  const char* error = CheckLayout(call, inputs, num_inputs, false, &layout);
  if (error == nullptr) ValueDims(layout, dims, rank);
  return error;
}

const char* AdjointShape(const Call& call, const Shape* inputs,
                         int32_t num_inputs, int32_t index, int64_t* dims,
                         int32_t* rank) {
  Layout layout;
  const char* error = CheckLayout(call, inputs, num_inputs, true, &layout);
  if (error == nullptr && (index < 0 || index >= kNumOperands)) {
    return Message("index: %d is not an operand's", index);
  }
  if (error == nullptr) {
    BarDims(call, layout, inputs[index], index, dims, rank);
  }
  return error;
}

const char* StatisticsShape(const Call& call, const Shape* inputs,
                            int32_t num_inputs, int32_t index, int64_t* dims,
                            int32_t* rank) {
  Layout layout = {};
  const char* error = CheckStatistics(call);
  if (error == nullptr) {
    error = CheckLayout(call, inputs, num_inputs, true, &layout);
  }
  if (error == nullptr) error = CheckNoWeights(layout);
  if (error == nullptr && (index < 0 || index >= kNumStatistics)) {
    return Message("index: %d is not a statistic's", index);
  }
  if (error == nullptr) StatisticsDims(layout, index, dims, rank);
  return error;
}

const char* StatusMessage(int32_t code) {
  static constexpr char kAboveWorkLimit[] =
      "the value asks for more steps than the work limit; "
      "config.set_work_limit(seconds) raises it, to 2^22 steps at most, or to "
      "q t of 2^60 if squares of the matrix fit into a gigabyte";
  static const char* const kMessages[kNumStatusCodes] = {
      "ok",
      "initial_probs: every entry must be non-negative and at most 2^500",
      "initial_probs: the sum must not exceed one",
      "subgenerator: every entry must be finite",
      "subgenerator: off-diagonal entries must be non-negative",
      "subgenerator: a row's sum must not exceed zero",
      "exit_rates: every entry must be finite and non-negative",
      "prob_zero: must be between zero and one",
      "value: is NaN",
      kAboveWorkLimit,
      "the memory limit was reached",
      "a quantity that matters is below the smallest normal number",
      "some phase that is entered never leads to absorption",
      "the derivative of the logarithm of zero is not defined",
      "edges: sources must be in [0, p) and targets in [0, p]",
      "rates: the rate of every edge must be finite and non-negative",
      "a derivative or a cotangent is not finite",
      "kinds: every one must be 0, 2, 4, 6 or 7, or 8 with 7 behind it",
      "kinds: 6, an interval, must be followed by 7 in its row",
      "times: an interval's ends must be 0 <= lower <= upper < inf",
      "probabilities: every entry must be finite and non-negative",
      "probabilities: a row's sum must not exceed one",
      "probabilities: a row and its exit must sum to one",
  };
  return code >= 0 && code < kNumStatusCodes ? kMessages[code]
                                             : "unknown status code";
}

}  // namespace phasic
