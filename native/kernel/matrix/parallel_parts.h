// Computes the parts of one matrix product on several threads.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_PARALLEL_PARTS_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_PARALLEL_PARTS_H_

#include <atomic>
#include <cstdint>

#include "native/kernel/runtime/parallel.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// A product with fewer multiply-adds than this is computed on one thread, as
// waking others takes about 100 us.
constexpr double kWorthHelpers = 1e6;

// Calls function(part) for each of `count` parts, in any order, on threads that
// flush denormals. Parts must write to disjoint memory and allocate nothing.
// The underflow flag of the calling thread is set if any part underflows. Parts
// are left out where the call has to end early.
template <class Function>
void ForParts(Executor* helpers, int64_t count, double multiply_adds,
              const Function& function) {
  const bool is_long = multiply_adds >= kWorthHelpers;
  if (helpers == nullptr || !is_long) {
    for (int64_t part = 0; part < count && !(is_long && IsStopped()); ++part) {
      function(part);
    }
    return;
  }
  std::atomic<bool> underflowed{false};
  ParallelFor(helpers, count, [&](int64_t part) -> const char* {
    const FloatEnvironment environment(Denormals::kFlush);
    function(part);
    if (FloatEnvironment::Underflowed()) underflowed = true;
    return nullptr;
  });
  if (underflowed) FloatEnvironment::NoteUnderflow();
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_PARALLEL_PARTS_H_
