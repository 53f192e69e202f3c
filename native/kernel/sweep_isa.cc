// The sweeps for one instruction set: compiled once for each, with PHASIC_ISA
// naming the namespace.

#include "native/kernel/adjoint.h"
#include "native/kernel/directions.h"
#include "native/kernel/directions_sweep.h"
#include "native/kernel/dual.h"
#include "native/kernel/forward.h"
#include "native/kernel/group.h"
#include "native/kernel/isa.h"
#include "native/kernel/small_group.h"
#include "native/kernel/sweep.h"

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
    SweepDirections,
    kDirections,
    ForwardGroup,
    AdjointGroup,
    ForwardSmall,
    AdjointSmall,
};

}  // namespace PHASIC_ISA
}  // namespace phasic
