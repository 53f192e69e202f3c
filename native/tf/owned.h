// Owning pointers to the handles of TensorFlow's C API.

#ifndef PHASIC_NATIVE_TF_OWNED_H_
#define PHASIC_NATIVE_TF_OWNED_H_

#include <memory>

#include "tensorflow/c/ops.h"
#include "tensorflow/c/tf_status.h"
#include "tensorflow/c/tf_tensor.h"

namespace phasic_tf {

struct Deleter {
  void operator()(TF_Status* p) const { TF_DeleteStatus(p); }
  void operator()(TF_Tensor* p) const { TF_DeleteTensor(p); }
  void operator()(TF_ShapeHandle* p) const { TF_DeleteShapeHandle(p); }
  void operator()(TF_DimensionHandle* p) const { TF_DeleteDimensionHandle(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Deleter>;

}  // namespace phasic_tf

#endif  // PHASIC_NATIVE_TF_OWNED_H_
