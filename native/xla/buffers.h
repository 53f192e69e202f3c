// XLA's buffers as the kernel sees them, and its messages as XLA's errors.

#ifndef PHASIC_NATIVE_XLA_BUFFERS_H_
#define PHASIC_NATIVE_XLA_BUFFERS_H_

#include <cstdint>

#include "native/kernel/api/phase_type.h"
#include "xla/ffi/api/ffi.h"

namespace phasic {

inline Shape ShapeOf(const xla::ffi::AnyBuffer& buffer) {
  const auto dims = buffer.dimensions();
  return {dims.begin(), static_cast<int32_t>(dims.size())};
}

// Success where there is no message, RESOURCE_EXHAUSTED if memory did not
// suffice, else INVALID_ARGUMENT.
inline xla::ffi::Error ToError(const char* message) {
  if (message == nullptr) return xla::ffi::Error::Success();
  return xla::ffi::Error(message == kOutOfMemory
                             ? xla::ffi::ErrorCode::kResourceExhausted
                             : xla::ffi::ErrorCode::kInvalidArgument,
                         message);
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_BUFFERS_H_
