// The XLA FFI handler that solves linear systems by elimination, for JAX on
// CPU.
//
// Operands are indices, weights, per_phase and, if the attribute takes_edges is
// set, per_edge. The handler computes the results for phases and, if
// gives_edges is set, the results for edges. The attribute transposed selects
// whether the systems or their transposes are solved.

#include <cstddef>
#include <cstdint>

#include "native/elimination/api/elimination.h"
#include "native/xla/buffers.h"
#include "native/xla/targets.h"
#include "native/xla/xla_threads.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using phasic::ShapeOf;
using phasic::ToError;

constexpr size_t kMaxOperands = 4;
constexpr size_t kMaxResults = 2;

ffi::Error Eliminate(ffi::ThreadPool pool, bool transposed, bool takes_edges,
                     bool gives_edges, ffi::RemainingArgs args,
                     ffi::RemainingRets rets) {
  if (args.size() != (takes_edges ? kMaxOperands : kMaxOperands - 1) ||
      rets.size() != (gives_edges ? kMaxResults : kMaxResults - 1)) {
    return ToError("elimination: wrong number of operands or results");
  }
  phasic::LinearSystem system = {};
  phasic::Input* const places[kMaxOperands] = {
      &system.indices, &system.weights, &system.per_phase, &system.per_edge};
  ffi::DataType type = ffi::DataType::INVALID;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto buffer = args.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) {
      return ToError("elimination: an operand is not an array");
    }
    *places[i] = {buffer->untyped_data(), ShapeOf(*buffer)};
    if (i == 1) type = buffer->element_type();
    if (buffer->element_type() != (i == 0 ? ffi::DataType::S32 : type)) {
      return ToError(
          "elimination: indices must be int32, and all other operands of one "
          "type");
    }
  }
  if (type != ffi::DataType::F32 && type != ffi::DataType::F64) {
    return ToError("elimination: operands are neither float32 nor float64");
  }
  system.precision = type == ffi::DataType::F32 ? phasic::Precision::kFloat32
                                                : phasic::Precision::kFloat64;
  // Absent operands and results are passed as empty arrays of the expected
  // rank.
  int64_t no_operand[phasic::kMaxRank];
  int64_t no_result[phasic::kMaxRank];
  const phasic::Shape& b = system.per_phase.shape;
  if (b.rank < 2 || b.rank > phasic::kMaxRank) {
    return ToError("elimination: per_phase has too few or too many dimensions");
  }
  if (!takes_edges) {
    for (int32_t axis = 0; axis < b.rank; ++axis) no_operand[axis] = 1;
    no_operand[b.rank - 2] = 0;
    no_operand[b.rank - 1] = b.dims[b.rank - 1];
    system.per_edge = {nullptr, {no_operand, b.rank}};
  }
  phasic::Output outputs[kMaxResults] = {};
  for (size_t i = 0; i < rets.size(); ++i) {
    auto buffer = rets.get<ffi::AnyBuffer>(i);
    if (buffer.has_error() || (*buffer)->element_type() != type) {
      return ToError("elimination: results must have the operands' type");
    }
    outputs[i] = {(*buffer)->untyped_data(), ShapeOf(**buffer)};
  }
  if (!gives_edges) {
    const phasic::Shape& x = outputs[0].shape;
    if (x.rank != b.rank) {
      return ToError("elimination: a result's rank is wrong");
    }
    for (int32_t axis = 0; axis < x.rank; ++axis) {
      no_result[axis] = x.dims[axis];
    }
    no_result[x.rank - 2] = no_result[x.rank - 1] = 0;
    outputs[1] = {nullptr, {no_result, x.rank}};
  }
  phasic::XlaThreads threads(pool);
  const char* message =
      phasic::Eliminate(transposed ? phasic::Direction::kSolveTransposed
                                   : phasic::Direction::kSolve,
                        system, outputs[0], outputs[1], &threads);
  return ToError(message);
}

XLA_FFI_DEFINE_HANDLER(kEliminate, Eliminate,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .Attr<bool>("transposed")
                           .Attr<bool>("takes_edges")
                           .Attr<bool>("gives_edges")
                           .RemainingArgs()
                           .RemainingRets());

const phasic::FfiRegistration kRegisteredEliminate("phasic_eliminate",
                                                   kEliminate);

}  // namespace
