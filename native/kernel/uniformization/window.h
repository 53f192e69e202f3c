// The walk over the blocks of a sum over Poisson weights: outwards from the
// block that contains the mode, until the rest is negligible on both sides.
//
// `Sum` decides what is added and when it is enough:
//   StatusCode Reserve(b): makes block b available;
//   const PoissonTable& Table(b): the Poisson table of an available block;
//   Scaled<double> Include(b, weight, walk): adds block b, given the weight of
//     its first index, and returns the weight of the next block's first index;
//   bool EndsBefore(b, weight, walk): whether the weights before block b are
//     negligible, given the weight of its first index;
//   StatusCode EndsAt(b, weight, walk, &ends): whether those from block b on
//     are. Block b - 1 is available.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_WINDOW_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_WINDOW_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/poisson.h"

namespace phasic {
namespace PHASIC_ISA {

// Includes the blocks before `block`, given the weight of its first index.
template <class Sum>
void WalkDown(int64_t block, Scaled<double> weight, PoissonWalk* walk,
              Sum* sum) {
  for (int64_t b = block; b > 0 && !sum->EndsBefore(b, weight, *walk); --b) {
    weight = walk->Down(sum->Table(b - 1), weight);
    sum->Include(b - 1, weight, walk);
  }
}

// Includes the blocks around `start`, given the weight of its first index.
template <class Sum>
StatusCode WalkWindow(int64_t start, const Scaled<double>& weight,
                      PoissonWalk* walk, Sum* sum) {
  StatusCode status = sum->Reserve(start);
  if (status != kOk) return status;
  Scaled<double> up = sum->Include(start, weight, walk);
  WalkDown(start, weight, walk, sum);
  bool ends = false;
  for (int64_t b = start + 1; up.mantissa != 0.0; ++b) {
    status = sum->EndsAt(b, up, *walk, &ends);
    if (status == kOk && !ends) status = sum->Reserve(b);
    if (status != kOk || ends) return status;
    up = sum->Include(b, up, walk);
  }
  return kOk;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_WINDOW_H_
