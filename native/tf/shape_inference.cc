// Shape inference of the phase-type ops: only what follows from known
// dimensions; the kernel checks the values.

#include "native/tf/shape_inference.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "native/kernel/phase_type.h"
#include "native/tf/owned.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_status.h"

namespace phasic_tf {
namespace {

constexpr int kOperands = phasic::kNumOperands;
// Event rank of each operand: initial_probs, subgenerator, exit_rates,
// prob_zero, times.
constexpr int kEventRank[kOperands] = {1, 2, 1, 1, 1};
constexpr int kTimes = 4;
constexpr size_t kUnknownDim = static_cast<size_t>(-1);

// The dimension of a shape of known rank, or kUnknownDim.
size_t DimOf(TF_ShapeInferenceContext* context, TF_ShapeHandle* shape,
             int64_t index) {
  Owned<TF_DimensionHandle> dim(TF_NewDimensionHandle());
  TF_ShapeInferenceContextDim(context, shape, index, dim.get());
  return TF_DimensionHandleValueKnown(dim.get())
             ? static_cast<size_t>(TF_DimensionHandleValue(dim.get()))
             : kUnknownDim;
}

// Reads the operands' shapes. True when all ranks are known and agree; sets an
// error when they are known and disagree.
bool ReadShapes(TF_ShapeInferenceContext* context, TF_Status* status,
                Owned<TF_ShapeHandle>* shapes, int64_t* batch_rank) {
  if (TF_ShapeInferenceContextNumInputs(context) < kOperands) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT,
                 "phase type op: five operands are needed");
    return false;
  }
  *batch_rank = -1;
  bool all_known = true;
  for (int i = 0; i < kOperands; ++i) {
    shapes[i].reset(TF_NewShapeHandle());
    TF_ShapeInferenceContextGetInput(context, i, shapes[i].get(), status);
    if (TF_GetCode(status) != TF_OK) return false;
    if (!TF_ShapeInferenceContextRankKnown(context, shapes[i].get())) {
      all_known = false;
      continue;
    }
    const int64_t batch =
        TF_ShapeInferenceContextRank(context, shapes[i].get()) - kEventRank[i];
    if (batch < 0 || (*batch_rank >= 0 && batch != *batch_rank)) {
      TF_SetStatus(status, TF_INVALID_ARGUMENT,
                   "phase type op: the operands must have the same number of "
                   "batch dimensions");
      return false;
    }
    *batch_rank = batch;
  }
  return all_known;
}

}  // namespace

void InferForward(TF_ShapeInferenceContext* context, TF_Status* status) {
  Owned<TF_ShapeHandle> shapes[kOperands];
  int64_t batch_rank;
  if (!ReadShapes(context, status, shapes, &batch_rank)) {
    if (TF_GetCode(status) == TF_OK) {
      TF_ShapeInferenceContextSetUnknownShape(context, status);
    }
    return;
  }
  Owned<TF_ShapeHandle> result(TF_ShapeInferenceContextScalar(context));
  for (int64_t d = 0; d <= batch_rank; ++d) {
    size_t size = 1;
    if (d == batch_rank) {
      size = DimOf(context, shapes[kTimes].get(), d);
    } else {
      // A known size above one decides; all ones give one; else unknown.
      for (const auto& shape : shapes) {
        const size_t other = DimOf(context, shape.get(), d);
        if (other == 1) continue;
        if (size != 1 && size != kUnknownDim && other != kUnknownDim &&
            size != other) {
          return TF_SetStatus(status, TF_INVALID_ARGUMENT,
                              "phase type op: batch dimensions of the operands "
                              "do not broadcast");
        }
        if (size == 1 || other != kUnknownDim) size = other;
      }
    }
    Owned<TF_ShapeHandle> dim(
        TF_ShapeInferenceContextVectorFromSize(context, size));
    Owned<TF_ShapeHandle> longer(TF_NewShapeHandle());
    TF_ShapeInferenceContextConcatenateShapes(context, result.get(), dim.get(),
                                              longer.get(), status);
    if (TF_GetCode(status) != TF_OK) return;
    result = std::move(longer);
  }
  TF_ShapeInferenceContextSetOutput(context, 0, result.get(), status);
}

void InferAdjoint(TF_ShapeInferenceContext* context, TF_Status* status) {
  Owned<TF_ShapeHandle> shapes[kOperands];
  int64_t batch_rank;
  ReadShapes(context, status, shapes, &batch_rank);
  for (int i = 0; i < kOperands && TF_GetCode(status) == TF_OK; ++i) {
    TF_ShapeInferenceContextSetOutput(context, i, shapes[i].get(), status);
  }
}

}  // namespace phasic_tf
