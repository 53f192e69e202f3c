// XLA FFI handlers of the phase-type kernel, for JAX on CPU.
//
// Operands and results are those of phasic::Forward, phasic::Adjoint,
// phasic::Statistics and phasic::Quantiles; the arrays of edges and the kinds
// of the times come before the operands. The attributes kind, order,
// mapped_dims and, for the adjoint only, wanted are int32. The attributes
// has_edges, has_kinds and discrete are boolean.

#include <cstddef>
#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "native/quantiles/quantiles.h"
#include "native/xla/buffers.h"
#include "native/xla/targets.h"
#include "native/xla/xla_threads.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using phasic::ShapeOf;
using phasic::ToError;

constexpr int kMaxInputs = phasic::kNumOperands * (phasic::kMaxOrder + 1);

// The kernel's views of a call's inputs and outputs, all of one floating type.
struct Buffers {
  phasic::Precision precision;
  phasic::Edges edges;
  phasic::Input kinds;
  phasic::Input inputs[kMaxInputs];
  phasic::Output outputs[phasic::kNumOperands];
};

// The optional arrays that precede the operands: the arrays of edges, and the
// kinds of the times.
struct Fixed {
  bool has_edges;
  bool has_kinds;
  size_t count() const {
    return (has_edges ? phasic::kNumEdgeArrays : 0) + (has_kinds ? 1 : 0);
  }
};

// The result with this index, if any, has kinds of times instead of numbers.
const char* Unpack(ffi::RemainingArgs args, ffi::RemainingRets rets,
                   const Fixed& fixed, Buffers* buffers,
                   size_t index_of_kinds = kMaxInputs) {
  const size_t first = fixed.count();
  if (args.size() < first + phasic::kNumOperands ||
      args.size() > first + kMaxInputs || rets.size() > phasic::kNumOperands) {
    return "phase_type: wrong number of operands or results";
  }
  ffi::DataType type = ffi::DataType::INVALID;
  phasic::Input* places[phasic::kNumEdgeArrays + 1] = {
      &buffers->edges.indices, &buffers->edges.constants,
      &buffers->edges.coefficients, &buffers->kinds};
  if (!fixed.has_edges) places[0] = &buffers->kinds;
  for (size_t i = 0; i < args.size(); ++i) {
    const auto buffer = args.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) return "phase_type: an operand is not an array";
    const phasic::Input input = {buffer->untyped_data(), ShapeOf(*buffer)};
    (i < first ? *places[i] : buffers->inputs[i - first]) = input;
    const bool is_integer =
        (fixed.has_edges && i == 0) || (fixed.has_kinds && i + 1 == first);
    if (is_integer) {
      if (buffer->element_type() != ffi::DataType::S32) {
        return "phase_type: the edges' indices or the kinds are not int32";
      }
      continue;
    }
    if (type == ffi::DataType::INVALID) type = buffer->element_type();
    if (buffer->element_type() != type) {
      return "phase_type: operands differ in their type";
    }
  }
  for (size_t i = 0; i < rets.size(); ++i) {
    auto buffer = rets.get<ffi::AnyBuffer>(i);
    if (buffer.has_error()) return "phase_type: a result is not an array";
    if ((*buffer)->element_type() !=
        (i == index_of_kinds ? ffi::DataType::S32 : type)) {
      return "phase_type: a result has the wrong type";
    }
    buffers->outputs[i] = {(*buffer)->untyped_data(), ShapeOf(**buffer)};
  }
  if (type != ffi::DataType::F32 && type != ffi::DataType::F64) {
    return "phase_type: operands are neither float32 nor float64";
  }
  buffers->precision = type == ffi::DataType::F32 ? phasic::Precision::kFloat32
                                                  : phasic::Precision::kFloat64;
  return nullptr;
}

// Returns the kernel's call, which is valid as long as the buffers exist.
phasic::Call MakeCall(int32_t kind, int32_t order, int32_t mapped_dims,
                      const Fixed& fixed, bool discrete, const Buffers& buffers,
                      int32_t wanted = phasic::kAllOperands) {
  return {kind,
          order,
          mapped_dims,
          buffers.precision,
          fixed.has_edges ? &buffers.edges : nullptr,
          fixed.has_kinds ? &buffers.kinds : nullptr,
          discrete,
          wanted};
}

ffi::Error Forward(ffi::ThreadPool pool, int32_t kind, int32_t order,
                   int32_t mapped_dims, bool has_edges, bool has_kinds,
                   bool discrete, ffi::RemainingArgs args,
                   ffi::RemainingRets rets) {
  Buffers buffers;
  const Fixed fixed = {has_edges, has_kinds};
  if (const char* message = Unpack(args, rets, fixed, &buffers)) {
    return ToError(message);
  }
  if (rets.size() != 1) return ToError("phase_type: one result is needed");
  const phasic::Call call =
      MakeCall(kind, order, mapped_dims, fixed, discrete, buffers);
  phasic::XlaThreads threads(pool);
  return ToError(phasic::Forward(
      call, buffers.inputs, static_cast<int32_t>(args.size() - fixed.count()),
      buffers.outputs[0], &threads));
}

// The type of the functions Adjoint, Statistics and Quantiles.
using Function = const char* (*)(const phasic::Call& call,
                                 const phasic::Input* inputs,
                                 int32_t num_inputs,
                                 const phasic::Output* outputs,
                                 int32_t num_outputs,
                                 phasic::Executor* executor);

ffi::Error Apply(Function function, ffi::ThreadPool pool, int32_t kind,
                 int32_t order, int32_t mapped_dims, bool has_edges,
                 bool has_kinds, bool discrete, int32_t wanted,
                 ffi::RemainingArgs args, ffi::RemainingRets rets,
                 size_t index_of_kinds = kMaxInputs) {
  Buffers buffers;
  const Fixed fixed = {has_edges, has_kinds};
  if (const char* message =
          Unpack(args, rets, fixed, &buffers, index_of_kinds)) {
    return ToError(message);
  }
  const phasic::Call call =
      MakeCall(kind, order, mapped_dims, fixed, discrete, buffers, wanted);
  phasic::XlaThreads threads(pool);
  return ToError(function(
      call, buffers.inputs, static_cast<int32_t>(args.size() - fixed.count()),
      buffers.outputs, static_cast<int32_t>(rets.size()), &threads));
}

ffi::Error Adjoint(ffi::ThreadPool pool, int32_t kind, int32_t order,
                   int32_t mapped_dims, bool has_edges, bool has_kinds,
                   bool discrete, int32_t wanted, ffi::RemainingArgs args,
                   ffi::RemainingRets rets) {
  return Apply(phasic::Adjoint, pool, kind, order, mapped_dims, has_edges,
               has_kinds, discrete, wanted, args, rets);
}

ffi::Error Statistics(ffi::ThreadPool pool, int32_t kind, int32_t order,
                      int32_t mapped_dims, bool has_edges, bool has_kinds,
                      bool discrete, ffi::RemainingArgs args,
                      ffi::RemainingRets rets) {
  return Apply(phasic::Statistics, pool, kind, order, mapped_dims, has_edges,
               has_kinds, discrete, phasic::kAllOperands, args, rets);
}

ffi::Error Quantiles(ffi::ThreadPool pool, int32_t form, int32_t order,
                     int32_t mapped_dims, bool has_edges, bool has_kinds,
                     bool discrete, ffi::RemainingArgs args,
                     ffi::RemainingRets rets) {
  return Apply(phasic::Quantiles, pool, form, order, mapped_dims, has_edges,
               has_kinds, discrete, phasic::kAllOperands, args, rets,
               phasic::kQuantileKinds);
}

auto Attributes() {
  return ffi::Ffi::Bind()
      .Ctx<ffi::ThreadPool>()
      .Attr<int32_t>("kind")
      .Attr<int32_t>("order")
      .Attr<int32_t>("mapped_dims")
      .Attr<bool>("has_edges")
      .Attr<bool>("has_kinds")
      .Attr<bool>("discrete");
}

XLA_FFI_DEFINE_HANDLER(kPhaseTypeForward, Forward,
                       Attributes().RemainingArgs().RemainingRets());
XLA_FFI_DEFINE_HANDLER(
    kPhaseTypeAdjoint, Adjoint,
    Attributes().Attr<int32_t>("wanted").RemainingArgs().RemainingRets());
XLA_FFI_DEFINE_HANDLER(kPhaseTypeStatistics, Statistics,
                       Attributes().RemainingArgs().RemainingRets());
XLA_FFI_DEFINE_HANDLER(kPhaseTypeQuantiles, Quantiles,
                       Attributes().RemainingArgs().RemainingRets());

const phasic::FfiRegistration kRegisteredPhaseTypeForward(
    "phasic_phase_type_forward", kPhaseTypeForward);
const phasic::FfiRegistration kRegisteredPhaseTypeAdjoint(
    "phasic_phase_type_adjoint", kPhaseTypeAdjoint);
const phasic::FfiRegistration kRegisteredPhaseTypeStatistics(
    "phasic_phase_type_statistics", kPhaseTypeStatistics);
const phasic::FfiRegistration kRegisteredPhaseTypeQuantiles(
    "phasic_phase_type_quantiles", kPhaseTypeQuantiles);

}  // namespace
