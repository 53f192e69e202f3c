// PhasicMoments: a TensorFlow op that computes moments by elimination, written
// with TensorFlow's C API. Inputs are indices, weights, exits, initial, atom
// and stay. Outputs are the mean, a list with the variance, and a list with the
// gradients of the mean and the variance with respect to weights, exits and
// initial. A list is empty if its contents are not requested. See
// native/elimination/api/moments.h. Python sets the shapes, because the C API
// does not give the lengths of lists.

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include "native/elimination/api/moments.h"
#include "native/tf/op_calls.h"
#include "native/tf/owned.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_datatype.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace {

using phasic_tf::Allocate;
using phasic_tf::Array;
using phasic_tf::Fail;
using phasic_tf::Ok;
using phasic_tf::Owned;
using phasic_tf::ReadInputs;

constexpr const char* kName = "PhasicMoments";

struct Attributes {
  unsigned char discrete = 0;
  unsigned char gives_root = 0;
  float epsilon = 0.0F;
};

void* Create(TF_OpKernelConstruction* construction) {
  Owned<TF_Status> status(TF_NewStatus());
  auto attributes = std::make_unique<Attributes>();
  const auto read = [&](const char* name, unsigned char* value) {
    if (!Ok(status)) return;
    TF_OpKernelConstruction_GetAttrBool(construction, name, value,
                                        status.get());
  };
  read("discrete", &attributes->discrete);
  read("gives_root", &attributes->gives_root);
  if (Ok(status)) {
    TF_OpKernelConstruction_GetAttrFloat(construction, "epsilon",
                                         &attributes->epsilon, status.get());
  }
  if (!Ok(status)) {
    TF_OpKernelConstruction_Failure(construction, status.get());
    return nullptr;
  }
  return attributes.release();
}

void Delete(void* kernel) { delete static_cast<Attributes*>(kernel); }

// The positions of inputs.
enum InputPosition : size_t { kWeights = 1, kExits, kInitial };

// Returns the broadcast batch dimensions of the inputs.
std::vector<int64_t> BatchDims(const std::vector<Array>& inputs) {
  std::vector<int64_t> dims(inputs[kInitial].dims.begin(),
                            inputs[kInitial].dims.end() - 1);
  for (const Array& input : inputs) {
    for (size_t axis = 0; axis < dims.size() && axis < input.dims.size();
         ++axis) {
      if (input.dims[axis] != 1) dims[axis] = input.dims[axis];
    }
  }
  return dims;
}

void Compute(void* kernel, TF_OpKernelContext* context) {
  Owned<TF_Status> status(TF_NewStatus());
  std::vector<Array> inputs;
  if (!ReadInputs(context, status.get(), &inputs)) return;
  const size_t rank = inputs[kInitial].dims.size();
  if (rank == 0 || inputs[kWeights].dims.size() < rank ||
      inputs[kExits].dims.size() < rank) {
    return Fail(context, status.get(),
                "moments: weights must be [batch..., m] or [batch..., p, p], "
                "exits and initial [batch..., p]");
  }
  const auto* attributes = static_cast<const Attributes*>(kernel);
  phasic::MomentsCall call = {};
  phasic::Input* const places[] = {&call.indices, &call.weights, &call.exits,
                                   &call.initial, &call.atom,    &call.stay};
  for (size_t i = 0; i < std::size(places); ++i) {
    *places[i] = inputs[i].input();
  }
  call.precision = TF_ExpectedOutputDataType(context, 0) == TF_FLOAT
                       ? phasic::Precision::kFloat32
                       : phasic::Precision::kFloat64;
  call.is_discrete = attributes->discrete != 0;
  const int num_outputs = TF_NumOutputs(context);
  call.wants_gradients = num_outputs > 2;
  call.wants_variance = num_outputs == 2 || num_outputs == 8;
  call.wants_root = attributes->gives_root != 0;
  call.epsilon = static_cast<double>(attributes->epsilon);
  phasic::MomentResults results[2] = {};
  std::vector<Array> held(static_cast<size_t>(num_outputs));
  int next = 0;
  // Allocates the next output, whose shape is the batch dimensions followed by
  // `last`. Returns false after reporting a failure.
  const auto add = [&](phasic::Output* output,
                       const std::vector<int64_t>& last) {
    std::vector<int64_t> dims = BatchDims(inputs);
    dims.insert(dims.end(), last.begin(), last.end());
    Array& array = held[static_cast<size_t>(next)];
    array = Allocate(context, status.get(), next++,
                     {dims.data(), static_cast<int32_t>(dims.size())});
    *output = array.output();
    return array.tensor != nullptr;
  };
  const int count = call.wants_variance ? 2 : 1;
  for (int i = 0; i < count; ++i) {
    if (!add(&results[i].value, {})) return;
  }
  // Returns the dimensions of an input that follow the batch dimensions.
  const auto event = [&](InputPosition position) {
    const std::vector<int64_t>& dims = inputs[position].dims;
    return std::vector<int64_t>(dims.begin() + static_cast<ptrdiff_t>(rank - 1),
                                dims.end());
  };
  for (int i = 0; i < count && call.wants_gradients; ++i) {
    if (!add(&results[i].of_weights, event(kWeights)) ||
        !add(&results[i].of_exits, event(kExits)) ||
        !add(&results[i].of_initial, event(kInitial))) {
      return;
    }
  }
  const char* message = phasic::ComputeMoments(call, results[0], results[1]);
  if (message != nullptr) Fail(context, status.get(), message);
}

bool RegisterMoments() {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(kName);
  TF_OpDefinitionBuilderAddAttr(op, "T: {float, double}");
  TF_OpDefinitionBuilderAddAttr(op, "V: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "G: int >= 0");
  TF_OpDefinitionBuilderAddAttr(op, "discrete: bool");
  TF_OpDefinitionBuilderAddAttr(op, "gives_root: bool");
  TF_OpDefinitionBuilderAddAttr(op, "epsilon: float");
  TF_OpDefinitionBuilderAddInput(op, "indices: int32");
  TF_OpDefinitionBuilderAddInput(op, "weights: T");
  TF_OpDefinitionBuilderAddInput(op, "exits: T");
  TF_OpDefinitionBuilderAddInput(op, "initial: T");
  TF_OpDefinitionBuilderAddInput(op, "atom: T");
  TF_OpDefinitionBuilderAddInput(op, "stay: T");
  TF_OpDefinitionBuilderAddOutput(op, "mean: T");
  TF_OpDefinitionBuilderAddOutput(op, "variance: V * T");
  TF_OpDefinitionBuilderAddOutput(op, "gradients: G * T");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, phasic_tf::InferNothing);
  phasic_tf::Register(kName, op, {Create, Compute, Delete}, /*has_type=*/true);
  return true;
}

[[maybe_unused]] const bool kRegistered = RegisterMoments();

}  // namespace
