// An XLA call that only returns its last operand, to measure the overhead of
// calls.

#include <cstring>

#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

ffi::Error PassOn(ffi::RemainingArgs arguments, ffi::RemainingRets results) {
  const auto last = arguments.get<ffi::AnyBuffer>(arguments.size() - 1);
  auto result = results.get<ffi::AnyBuffer>(0);
  if (last.has_error() || result.has_error() ||
      last->size_bytes() != (*result)->size_bytes()) {
    return ffi::Error(ffi::ErrorCode::kInvalidArgument, "bare_call: operands");
  }
  std::memcpy((*result)->untyped_data(), last->untyped_data(),
              last->size_bytes());
  return ffi::Error::Success();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error* BareCall(
    XLA_FFI_CallFrame* call_frame);

XLA_FFI_DEFINE_HANDLER_SYMBOL(BareCall, PassOn,
                              ffi::Ffi::Bind().RemainingArgs().RemainingRets());
