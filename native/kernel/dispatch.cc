// Chooses the widest build of the sweeps that this processor runs.

#include "native/kernel/sweep.h"

namespace phasic {

namespace generic {
extern const SweepTable kSweeps;
}
#if defined(__x86_64__)
namespace x86_64_v3 {
extern const SweepTable kSweeps;
}
#endif

const SweepTable& Sweeps() {
#if defined(__x86_64__)
  static const bool has_v3 =
      __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
  if (has_v3) return x86_64_v3::kSweeps;
#endif
  return generic::kSweeps;
}

}  // namespace phasic
