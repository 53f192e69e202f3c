// PhasicRule: returns values unchanged and records the name of a derivative
// rule with the arguments from which the values were computed. Python registers
// a gradient function for the op, which looks up the rule. Unlike
// tf.custom_gradient this makes the rule available to every mode of
// TensorFlow's autodiff, in graphs too.

#include "native/tf/op_calls.h"
#include "native/tf/owned.h"
#include "tensorflow/c/kernels.h"
#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace {

using phasic_tf::Owned;

constexpr const char* kName = "PhasicRule";

// Copies the first inputs, `values`, to the outputs.
void Compute(void*, TF_OpKernelContext* context) {
  Owned<TF_Status> status(TF_NewStatus());
  const int count = TF_NumOutputs(context);
  for (int i = 0; i < count; ++i) {
    TF_Tensor* input = nullptr;
    TF_GetInput(context, i, &input, status.get());
    const Owned<TF_Tensor> tensor(input);
    if (TF_GetCode(status.get()) == TF_OK) {
      TF_SetOutput(context, i, tensor.get(), status.get());
    }
    if (TF_GetCode(status.get()) != TF_OK) {
      TF_OpKernelContext_Failure(context, status.get());
      return;
    }
  }
}

bool RegisterRule() {
  TF_OpDefinitionBuilder* op = TF_NewOpDefinitionBuilder(kName);
  TF_OpDefinitionBuilderAddAttr(op, "rule: string");
  TF_OpDefinitionBuilderAddAttr(op, "Tvalues: list(type) >= 1");
  TF_OpDefinitionBuilderAddAttr(op, "Targuments: list(type) >= 1");
  TF_OpDefinitionBuilderAddInput(op, "values: Tvalues");
  TF_OpDefinitionBuilderAddInput(op, "arguments: Targuments");
  TF_OpDefinitionBuilderAddOutput(op, "results: Tvalues");
  TF_OpDefinitionBuilderSetShapeInferenceFunction(op, phasic_tf::InferNothing);
  phasic_tf::Register(kName, op, {nullptr, Compute, nullptr},
                      /*has_type=*/false);
  return true;
}

[[maybe_unused]] const bool kRegistered = RegisterRule();

}  // namespace
