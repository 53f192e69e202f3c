// Shape inference of the phase-type ops. It uses only known dimensions; the
// kernel checks the values.

#include "native/tf/shape_inference.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "native/kernel/api/phase_type.h"
#include "native/quantiles/quantiles.h"
#include "native/tf/owned.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_status.h"

namespace phasic_tf {
namespace {

constexpr int kOperands = phasic::kNumOperands;
constexpr int kEdgeArrays = phasic::kNumEdgeArrays;
constexpr int kMaxShapes = kOperands + kEdgeArrays + 1;
// The number of event dimensions of each operand (initial_probs, subgenerator
// or theta, exit_rates, prob_zero, times), of each array of edges (indices,
// constants, coefficients), and of the kinds.
constexpr int kEventRanks[kOperands] = {1, 2, 1, 1, 1};
constexpr int kSparseEventRanks[kOperands] = {1, 1, 1, 1, 1};
constexpr int kEdgeEventRanks[kEdgeArrays] = {2, 1, 2};
constexpr int kKindEventRank = 1;
constexpr int kTimes = 4;
// The indices of the two statistics that do not have one number for each phase.
constexpr int kJumps = 2;
constexpr int kAtom = 4;
constexpr size_t kUnknownDim = static_cast<size_t>(-1);

// The input shapes that determine the outputs: those of the operands, the edges
// and the kinds.
struct Shapes {
  Owned<TF_ShapeHandle> handles[kMaxShapes];
  int count = kOperands;
  int64_t batch_rank = -1;
};

// Returns dimension `index` of a shape of known rank, or kUnknownDim.
size_t DimOf(TF_ShapeInferenceContext* context, TF_ShapeHandle* shape,
             int64_t index) {
  Owned<TF_DimensionHandle> dim(TF_NewDimensionHandle());
  TF_ShapeInferenceContextDim(context, shape, index, dim.get());
  return TF_DimensionHandleValueKnown(dim.get())
             ? static_cast<size_t>(TF_DimensionHandleValue(dim.get()))
             : kUnknownDim;
}

// Returns whether the inputs include arrays of edges. The C API does not give
// the lengths of the lists of inputs, but they follow from the total number of
// inputs: a multiple of five, plus one for the cotangent of the adjoint, plus
// three if there are arrays of edges, plus one if there is an array of kinds.
bool HasEdges(int64_t num_inputs, int num_cotangents) {
  return (num_inputs - num_cotangents) % kOperands >= kEdgeArrays;
}
bool HasKinds(int64_t num_inputs, int num_cotangents) {
  const int64_t rest = (num_inputs - num_cotangents) % kOperands;
  return rest == 1 || rest == kEdgeArrays + 1;
}

// Reads the input shapes. Returns true if all ranks are known and consistent;
// sets an error if they are known and inconsistent.
bool ReadShapes(TF_ShapeInferenceContext* context, TF_Status* status,
                int num_cotangents, Shapes* shapes) {
  const int64_t num_inputs = TF_ShapeInferenceContextNumInputs(context);
  if (num_inputs < kOperands) {
    TF_SetStatus(status, TF_INVALID_ARGUMENT,
                 "phase type op: five operands are needed");
    return false;
  }
  const bool has_edges = HasEdges(num_inputs, num_cotangents);
  int event_ranks[kMaxShapes];
  const int* own = has_edges ? kSparseEventRanks : kEventRanks;
  int* end = std::copy(own, own + kOperands, event_ranks);
  if (has_edges) {
    end = std::copy(kEdgeEventRanks, kEdgeEventRanks + kEdgeArrays, end);
  }
  if (HasKinds(num_inputs, num_cotangents)) *end++ = kKindEventRank;
  shapes->count = static_cast<int>(end - event_ranks);
  bool all_known = true;
  for (int i = 0; i < shapes->count; ++i) {
    const int64_t input = i < kOperands ? i : num_inputs - shapes->count + i;
    TF_ShapeHandle* shape = TF_NewShapeHandle();
    shapes->handles[i].reset(shape);
    TF_ShapeInferenceContextGetInput(context, static_cast<int>(input), shape,
                                     status);
    if (TF_GetCode(status) != TF_OK) return false;
    if (!TF_ShapeInferenceContextRankKnown(context, shape)) {
      all_known = false;
      continue;
    }
    const int64_t batch =
        TF_ShapeInferenceContextRank(context, shape) - event_ranks[i];
    if (batch < 0 || (shapes->batch_rank >= 0 && batch != shapes->batch_rank)) {
      TF_SetStatus(status, TF_INVALID_ARGUMENT,
                   "phase type op: the operands and the arrays of edges must "
                   "have the same number of batch dimensions");
      return false;
    }
    shapes->batch_rank = batch;
  }
  return all_known;
}

// Appends a dimension of this size to a shape. Returns false after setting an
// error.
bool Append(TF_ShapeInferenceContext* context, TF_Status* status, size_t size,
            Owned<TF_ShapeHandle>* shape) {
  Owned<TF_ShapeHandle> dim(
      TF_ShapeInferenceContextVectorFromSize(context, size));
  Owned<TF_ShapeHandle> longer(TF_NewShapeHandle());
  TF_ShapeInferenceContextConcatenateShapes(context, shape->get(), dim.get(),
                                            longer.get(), status);
  if (TF_GetCode(status) != TF_OK) return false;
  *shape = std::move(longer);
  return true;
}

// Returns the broadcast batch dimensions of all inputs, or nullptr after
// setting an error.
Owned<TF_ShapeHandle> FullBatch(TF_ShapeInferenceContext* context,
                                TF_Status* status, const Shapes& shapes) {
  Owned<TF_ShapeHandle> result(TF_ShapeInferenceContextScalar(context));
  for (int64_t d = 0; d < shapes.batch_rank; ++d) {
    size_t size = 1;
    // If an input has a known size above one, this is the size. Otherwise the
    // size is one if all inputs have size one, else unknown.
    for (int i = 0; i < shapes.count; ++i) {
      const size_t other = DimOf(context, shapes.handles[i].get(), d);
      if (other == 1) continue;
      if (size != 1 && size != kUnknownDim && other != kUnknownDim &&
          size != other) {
        TF_SetStatus(status, TF_INVALID_ARGUMENT,
                     "phase type op: batch dimensions of the operands do not "
                     "broadcast");
        return nullptr;
      }
      if (size == 1 || other != kUnknownDim) size = other;
    }
    if (!Append(context, status, size, &result)) return nullptr;
  }
  return result;
}

// Sets the shapes of all `count` outputs: the broadcast batch dimensions, then
// the number of times.
void InferValues(TF_ShapeInferenceContext* context, TF_Status* status,
                 int count) {
  Shapes shapes;
  if (!ReadShapes(context, status, 0, &shapes)) {
    if (TF_GetCode(status) == TF_OK) {
      TF_ShapeInferenceContextSetUnknownShape(context, status);
    }
    return;
  }
  Owned<TF_ShapeHandle> result = FullBatch(context, status, shapes);
  if (result == nullptr) return;
  const size_t times =
      DimOf(context, shapes.handles[kTimes].get(), shapes.batch_rank);
  if (!Append(context, status, times, &result)) return;
  for (int i = 0; i < count && TF_GetCode(status) == TF_OK; ++i) {
    TF_ShapeInferenceContextSetOutput(context, i, result.get(), status);
  }
}

}  // namespace

void InferForward(TF_ShapeInferenceContext* context, TF_Status* status) {
  InferValues(context, status, 1);
}

void InferQuantiles(TF_ShapeInferenceContext* context, TF_Status* status) {
  InferValues(context, status, phasic::kNumQuantileOutputs);
}

void InferAdjoint(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes;
  ReadShapes(context, status, 1, &shapes);
  for (int i = 0; i < kOperands && TF_GetCode(status) == TF_OK; ++i) {
    TF_ShapeInferenceContextSetOutput(context, i, shapes.handles[i].get(),
                                      status);
  }
}

void InferStatistics(TF_ShapeInferenceContext* context, TF_Status* status) {
  Shapes shapes;
  if (!ReadShapes(context, status, 1, &shapes)) {
    if (TF_GetCode(status) == TF_OK) {
      TF_ShapeInferenceContextSetUnknownShape(context, status);
    }
    return;
  }
  const int64_t r = shapes.batch_rank;
  const bool has_edges =
      HasEdges(TF_ShapeInferenceContextNumInputs(context), 1);
  const size_t phases = DimOf(context, shapes.handles[0].get(), r);
  const size_t jumps =
      has_edges ? DimOf(context, shapes.handles[kOperands].get(), r + 1)
                : phases;
  for (int i = 0; i < phasic::kNumStatistics; ++i) {
    Owned<TF_ShapeHandle> result = FullBatch(context, status, shapes);
    if (result == nullptr) return;
    const bool is_matrix = i == kJumps && !has_edges;
    if (is_matrix && !Append(context, status, phases, &result)) return;
    const size_t last = i == kAtom ? 1 : (i == kJumps ? jumps : phases);
    if (!Append(context, status, last, &result)) return;
    TF_ShapeInferenceContextSetOutput(context, i, result.get(), status);
    if (TF_GetCode(status) != TF_OK) return;
  }
}

}  // namespace phasic_tf
