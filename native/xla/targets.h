// A table of all XLA FFI handlers and their names in JAX.

#ifndef PHASIC_NATIVE_XLA_TARGETS_H_
#define PHASIC_NATIVE_XLA_TARGETS_H_

#include "native/xla/elimination_ffi.h"
#include "native/xla/moments_ffi.h"
#include "native/xla/phase_type_ffi.h"
#include "native/xla/random_ffi.h"

namespace phasic {

struct FfiTarget {
  const char* name;
  XLA_FFI_Handler* handler;
};

inline constexpr FfiTarget kFfiTargets[] = {
    {"phasic_phase_type_forward", PhasicPhaseTypeForward},
    {"phasic_phase_type_adjoint", PhasicPhaseTypeAdjoint},
    {"phasic_phase_type_statistics", PhasicPhaseTypeStatistics},
    {"phasic_phase_type_quantiles", PhasicPhaseTypeQuantiles},
    {"phasic_eliminate", PhasicEliminate},
    {"phasic_moments", PhasicMoments},
    {"phasic_exponential", PhasicExponential},
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_TARGETS_H_
