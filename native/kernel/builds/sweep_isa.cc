// Instantiates the sweeps for one instruction set. The file is compiled once
// for each set, with PHASIC_ISA defined as its namespace.

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/many_models/group.h"
#include "native/kernel/methods/small_models/small_group.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {

using Order1 = Dual<double>;
using Order2 = Dual<Order1>;
using Order3 = Dual<Order2>;

extern const SweepTable kSweeps;
const SweepTable kSweeps = {
    {ForwardSweep<double>, ForwardSweep<Order1>, ForwardSweep<Order2>,
     ForwardSweep<Order3>},
    {nullptr, AdjointSweep<double>, AdjointSweep<Order1>, AdjointSweep<Order2>},
    StatisticsSweep,
    ForwardGroup,
    AdjointGroup,
    ForwardSmall,
    TangentSmall,
    AdjointSmall,
};

}  // namespace PHASIC_ISA
}  // namespace phasic
