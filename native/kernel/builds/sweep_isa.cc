// Instantiates the sweeps for one instruction set. The file is compiled once
// for each set, with PHASIC_ISA defined as its namespace.

#include "native/kernel/api/sweep.h"
#include "native/kernel/methods/many_models/group.h"
#include "native/kernel/methods/small_models/small_group.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {

using Order1 = Dual<double>;
using Order2 = Dual<Order1>;
using Order3 = Dual<Order2>;

// Models are packed if a register holds a number of each.
constexpr bool kPacksModels = kRegisterWidth == kModels;

extern const SweepTable kSweeps;
const SweepTable kSweeps = {
    {ForwardSweep<double>, ForwardSweep<Order1>, ForwardSweep<Order2>,
     ForwardSweep<Order3>},
    {nullptr, AdjointSweep<double>, AdjointSweep<Order1>, AdjointSweep<Order2>},
    StatisticsSweep,
    kPacksModels ? ForwardGroup : nullptr,
    kPacksModels ? AdjointGroup : nullptr,
    ForwardSmall,
    TangentSmall,
    AdjointSmall,
};

}  // namespace PHASIC_ISA
}  // namespace phasic
