// The XLA FFI handler that computes moments by elimination, for JAX on CPU.
//
// Operands are indices, weights, initial, atom and stay. Results are the mean;
// if gives_variance is set, the variance; and, if gives_gradients is set, the
// gradients of each of these with respect to weights and initial.

#include <cstddef>
#include <cstdint>

#include "native/elimination/api/moments.h"
#include "native/xla/buffers.h"
#include "native/xla/targets.h"
#include "native/xla/xla_threads.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using phasic::ShapeOf;
using phasic::ToError;

constexpr size_t kNumOperands = 6;
constexpr size_t kMaxResults = 8;

ffi::Error Moments(ffi::ThreadPool pool, bool discrete, bool gives_variance,
                   bool gives_root, bool gives_gradients, double epsilon,
                   ffi::RemainingArgs args, ffi::RemainingRets rets) {
  if (args.size() != kNumOperands ||
      rets.size() != (gives_variance ? 2 : 1) * (gives_gradients ? 4 : 1)) {
    return ToError("moments: wrong number of operands or results");
  }
  phasic::MomentsCall call = {};
  phasic::Input* const places[kNumOperands] = {&call.indices, &call.weights,
                                               &call.exits,   &call.initial,
                                               &call.atom,    &call.stay};
  ffi::DataType type = ffi::DataType::INVALID;
  for (size_t i = 0; i < kNumOperands; ++i) {
    const auto buffer = args.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) {
      return ToError("moments: an operand is not an array");
    }
    *places[i] = {buffer->untyped_data(), ShapeOf(*buffer)};
    if (i == 1) type = buffer->element_type();
    if (buffer->element_type() != (i == 0 ? ffi::DataType::S32 : type)) {
      return ToError(
          "moments: indices must be int32, and all other operands of one type");
    }
  }
  if (type != ffi::DataType::F32 && type != ffi::DataType::F64) {
    return ToError("moments: operands are neither float32 nor float64");
  }
  call.precision = type == ffi::DataType::F32 ? phasic::Precision::kFloat32
                                              : phasic::Precision::kFloat64;
  call.is_discrete = discrete;
  call.wants_variance = gives_variance;
  call.wants_root = gives_root;
  call.wants_gradients = gives_gradients;
  call.epsilon = epsilon;
  phasic::MomentResults results[2] = {};
  phasic::Output* const outputs[kMaxResults] = {
      &results[0].value,    &results[1].value,      &results[0].of_weights,
      &results[0].of_exits, &results[0].of_initial, &results[1].of_weights,
      &results[1].of_exits, &results[1].of_initial};
  size_t next = 0;
  for (size_t i = 0; i < rets.size(); ++i) {
    auto buffer = rets.get<ffi::AnyBuffer>(i);
    if (buffer.has_error() || (*buffer)->element_type() != type) {
      return ToError("moments: results must have the operands' type");
    }
    *outputs[next] = {(*buffer)->untyped_data(), ShapeOf(**buffer)};
    next += next == 0 && !gives_variance ? 2 : 1;
  }
  phasic::XlaThreads threads(pool);
  return ToError(
      phasic::ComputeMoments(call, results[0], results[1], &threads));
}

XLA_FFI_DEFINE_HANDLER(kMoments, Moments,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .Attr<bool>("discrete")
                           .Attr<bool>("gives_variance")
                           .Attr<bool>("gives_root")
                           .Attr<bool>("gives_gradients")
                           .Attr<double>("epsilon")
                           .RemainingArgs()
                           .RemainingRets());

const phasic::FfiRegistration kRegisteredMoments("phasic_moments", kMoments);

}  // namespace
