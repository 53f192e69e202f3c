// Converts XLA's buffers to the kernel's arrays, and the kernel's messages to
// XLA's errors.

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

// Returns success for nullptr, RESOURCE_EXHAUSTED for kOutOfMemory, otherwise
// INVALID_ARGUMENT with the message.
inline xla::ffi::Error ToError(const char* message) {
  if (message == nullptr) return xla::ffi::Error::Success();
  return xla::ffi::Error(message == kOutOfMemory
                             ? xla::ffi::ErrorCode::kResourceExhausted
                             : xla::ffi::ErrorCode::kInvalidArgument,
                         message);
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_BUFFERS_H_
