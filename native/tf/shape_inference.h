// Infers the output shapes of the phase-type ops. Unknown dimensions are
// allowed.

#ifndef PHASIC_NATIVE_TF_SHAPE_INFERENCE_H_
#define PHASIC_NATIVE_TF_SHAPE_INFERENCE_H_

#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_status.h"

namespace phasic_tf {

// Sets the shape of Forward's output: the broadcast batch dimensions, then the
// number of times.
void InferForward(TF_ShapeInferenceContext* context, TF_Status* status);

// Sets the shapes of Adjoint's five outputs. Each output has the shape of its
// operand.
void InferAdjoint(TF_ShapeInferenceContext* context, TF_Status* status);

// Sets the shapes of the five outputs of Statistics: the broadcast batch
// dimensions, then the event dimensions of each statistic.
void InferStatistics(TF_ShapeInferenceContext* context, TF_Status* status);

// Sets the shapes of the three outputs of Quantiles, which are that of
// Forward's.
void InferQuantiles(TF_ShapeInferenceContext* context, TF_Status* status);

}  // namespace phasic_tf

#endif  // PHASIC_NATIVE_TF_SHAPE_INFERENCE_H_
