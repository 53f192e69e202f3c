// F at a time that goes by the doubling ladder.

#ifndef PHASIC_NATIVE_KERNEL_LADDER_POINTS_H_
#define PHASIC_NATIVE_KERNEL_LADDER_POINTS_H_

#include "native/kernel/isa.h"
#include "native/kernel/ladder_path.h"
#include "native/kernel/points.h"

namespace phasic {
namespace PHASIC_ISA {

// Finishes the point if it goes by the ladder; whether it does.
template <class T>
bool MixOnLadder(LadderPath<T>* path, Point<T>* point) {
  if (!point->on_ladder) return false;
  const Mixture<T> mixture = path->Run(point->base, point->x);
  if (path->ladder()->model().discrete) {
    point->status = mixture.status;
    if (mixture.status != kOk) return true;
    point->value = Normalized(Scaled<T>{
        point->value.mantissa + mixture.channels[0], mixture.exponent});
    return true;
  }
  const TaylorCoefficients<T> taylor(point->base, point->delta);
  FinishPoint(mixture, taylor, path->num_channels(), point);
  return true;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_LADDER_POINTS_H_
