// The XLA FFI handlers and their names in JAX.

#ifndef PHASIC_NATIVE_XLA_TARGETS_H_
#define PHASIC_NATIVE_XLA_TARGETS_H_

#include <vector>

#include "xla/ffi/api/c_api.h"

namespace phasic {

struct FfiTarget {
  const char* name;
  XLA_FFI_Handler* handler;
};

// Returns the handlers of this library.
std::vector<FfiTarget>& FfiTargets();

// Adds a handler when the library is loaded.
struct FfiRegistration {
  FfiRegistration(const char* name, XLA_FFI_Handler* handler) {
    FfiTargets().push_back({name, handler});
  }
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_TARGETS_H_
