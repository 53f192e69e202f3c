// Instantiates the sweeps that compute in extended doubles. They run if
// underflow of doubles would lose significant results.

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/many_times/node_sums.h"
#include "native/kernel/methods/many_times/node_values.h"
#include "native/kernel/methods/squaring/squaring_adjoint.h"
#include "native/kernel/methods/squaring/squaring_points.h"
#include "native/kernel/methods/squaring/squaring_starts.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/extended_double.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

using Order1 = Dual<ExtendedDouble>;
using Order2 = Dual<Order1>;
using Order3 = Dual<Order2>;

template <class T>
void ExtendedForward(const SweepInput& in, const SweepOutput& out,
                     Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  EvaluateTimes<T>(in, out, workspace);
}

template <class T>
void ExtendedAdjoint(const SweepInput& in, const SweepOutput& out,
                     Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  RunAdjoint<T, CotangentWriter>(in, out, workspace);
}

void ExtendedStatistics(const SweepInput& in, const SweepOutput& out,
                        Workspace* workspace) {
  const FloatEnvironment environment(Denormals::kFlush);
  RunAdjoint<ExtendedDouble, StatisticsWriter>(in, out, workspace);
}

}  // namespace
}  // namespace PHASIC_ISA

const SweepTable& ExtendedSweeps() {
  using namespace PHASIC_ISA;  // NOLINT: its name is a macro
  static constexpr SweepTable kTable = {
      {ExtendedForward<ExtendedDouble>, ExtendedForward<Order1>,
       ExtendedForward<Order2>, ExtendedForward<Order3>},
      {nullptr, ExtendedAdjoint<ExtendedDouble>, ExtendedAdjoint<Order1>,
       ExtendedAdjoint<Order2>},
      ExtendedStatistics,
      nullptr,
      nullptr,
      nullptr,
      nullptr,
      nullptr,
  };
  return kTable;
}

}  // namespace phasic
