#include "native/quantiles/quantiles.h"

#include <algorithm>
#include <cstdint>
#include <new>

#include "native/kernel/api/shapes.h"
#include "native/kernel/simd/float_environment.h"
#include "native/quantiles/quantile_run.h"

namespace phasic {
namespace {

using PHASIC_ISA::Denormals;
using PHASIC_ISA::FloatEnvironment;

const char* Check(const Call& call, const Shape* inputs, int32_t num_inputs,
                  Layout* layout) {
  if (num_inputs != kNumOperands) {
    return Message("inputs: %d arrays, must be %d", num_inputs, kNumOperands);
  }
  if (call.order != 0 || call.kinds != nullptr) {
    return "order and kinds: quantiles are of order 0 and without kinds";
  }
  if (call.kind < 0 || call.kind >= kNumForms) {
    return Message("kind: %d is not a form of probabilities", call.kind);
  }
  return CheckLayout(call, inputs, num_inputs, false, layout);
}

void OutputDims(const Layout& layout, int64_t* dims, int32_t* rank) {
  std::copy_n(layout.batch, layout.batch_rank, dims);
  dims[layout.batch_rank] = layout.num_times;
  *rank = layout.batch_rank + 1;
}

}  // namespace

const char* Quantiles(const Call& call, const Input* inputs, int32_t num_inputs,
                      const Output* outputs, int32_t num_outputs,
                      Executor* executor) {
  Shape shapes[kNumOperands];
  for (int32_t i = 0; i < std::min(num_inputs, kNumOperands); ++i) {
    shapes[i] = inputs[i].shape;
  }
  Layout layout = {};
  const char* error = Check(call, shapes, num_inputs, &layout);
  if (error != nullptr) return error;
  if (num_outputs != kNumQuantileOutputs) {
    return Message("outputs: expected %d arrays, got %d", kNumQuantileOutputs,
                   num_outputs);
  }
  for (int32_t i = 0; i < num_outputs; ++i) {
    int64_t dims[kMaxRank];
    int32_t rank;
    OutputDims(layout, dims, &rank);
    const Shape& shape = outputs[i].shape;
    if (shape.rank != rank || !std::equal(dims, dims + rank, shape.dims)) {
      return Message("outputs: array %d does not have its shape", i);
    }
  }
  if (IsEmpty(layout)) return nullptr;
  const FloatEnvironment environment(Denormals::kKeep);
  try {
    if (call.precision == Precision::kFloat32) {
      return QuantileRun<float>(call, inputs, layout, executor).Run(outputs);
    }
    return QuantileRun<double>(call, inputs, layout, executor).Run(outputs);
  } catch (const std::bad_alloc&) {
    return kOutOfMemory;
  }
}

const char* QuantilesShape(const Call& call, const Shape* inputs,
                           int32_t num_inputs, int32_t index, int64_t* dims,
                           int32_t* rank) {
  Layout layout = {};
  const char* error = Check(call, inputs, num_inputs, &layout);
  if (error != nullptr) return error;
  if (index < 0 || index >= kNumQuantileOutputs) {
    return Message("index: %d is not an output's", index);
  }
  OutputDims(layout, dims, rank);
  return nullptr;
}

}  // namespace phasic
