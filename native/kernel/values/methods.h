// The methods beside steps, as the rest of the kernel knows them. Whoever
// instantiates a sweep includes their definitions.

#ifndef PHASIC_NATIVE_KERNEL_VALUES_METHODS_H_
#define PHASIC_NATIVE_KERNEL_VALUES_METHODS_H_

#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

// Scaling and squaring, `methods/squaring`. The phases with which squared
// powers are computed: densities need those that are reached and lead to
// absorption, other values those that are reached, adjoints of densities those
// that are reached or lead to absorption, other adjoints all. Another phase may
// be left so slowly that its row would be far larger than the others, which
// would underflow.
enum class Phases { kPassed, kReached, kUseful, kAll };
template <class T>
class SquaredPowers;  // the squared powers of a model
template <class T>
class SquaringPath;  // states on the way to one time
template <class T>
class SquaringPaths;  // on the way to several times
template <class T>
class SquaringMixer;  // F at one time or in an interval
template <class T>
class SquaringAdjoint;  // the transpose, which adds to the sums of the steps
template <class T>
class SquaringStarts;  // cotangents of alpha that are out of range there
// MixBySquaring evaluates points that are assigned to squaring, and
// RetryBySquaring one for which steps failed; see squaring_points.h.

// Many times of one model, `methods/many_times`.
template <class T>
class NodeValues;  // values, or derivatives in one direction
template <class T>
class NodeSeeds;  // cotangents of F, and those of times
// AddGroups adds their transpose to the cotangents of terms; see node_sums.h.

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_VALUES_METHODS_H_
