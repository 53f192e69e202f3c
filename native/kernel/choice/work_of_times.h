// The work of all times of one model, beside its steps and squares, which they
// share.

#ifndef PHASIC_NATIVE_KERNEL_CHOICE_WORK_OF_TIMES_H_
#define PHASIC_NATIVE_KERNEL_CHOICE_WORK_OF_TIMES_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "native/kernel/choice/choice.h"
#include "native/kernel/runtime/work_limit.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/sequence.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns about how many terms the mixture at x has. A sum over more of them is
// taken for many times at once, if T has such a method.
template <class T>
double NumTerms(const SweepInput& in, double x) {
  constexpr double kInGroups = 512.0;
  const double alone = 64.0 + 24.0 * std::sqrt(x);
  const bool is_grouped = std::is_same<T, double>::value && TakesGroups(in);
  return is_grouped ? std::min(alone, kInGroups) : alone;
}

// Returns about how many multiply-adds time i takes, zero if it is refused.
template <class T>
double WorkOfTime(const SweepInput& in, const Sequence<T>& sequence,
                  int64_t i) {
  const Kind kind = in.KindOf(i);
  const Model<T>& model = sequence.model();
  const double steps = static_cast<double>(sequence.max_blocks()) * kBlock;
  const bool is_interval = kind == Kind::kLogInterval && i + 1 < in.num_times;
  const double first = in.times.value[i];
  const double time = is_interval ? in.times.value[i + 1] : first;
  const double x = model.discrete ? time : model.q * time;
  if (kind == Kind::kNothing || !(x > 0.0 && x < HUGE_VAL)) return 0.0;
  if (UsesSquaring(model, x, steps)) return SquaringTimeCost(model, x);
  if (x >= steps) return 0.0;
  if (!model.discrete) return NumTerms<T>(in, x);
  return is_interval && first > 0.0 ? std::max(x - first, 0.0) : 1.0;
}

// Returns whether all times of a model are together within the limit on work.
template <class T>
bool AreTimesWithinWork(const SweepInput& in, const Sequence<T>& sequence) {
  double cost = 1 << (2 * Depth<T>::kValue);
  if (HasOwnExponent<T>::kValue) cost *= kExtendedCost;
  if (in.cotangent != nullptr) cost *= kKeptCost;
  const double limit = MaxWork() / cost;
  const double steps = static_cast<double>(sequence.max_blocks()) * kBlock;
  const double most =
      std::max(sequence.model().discrete ? steps : NumTerms<T>(in, steps),
               SquaringTimeCost(sequence.model(), kLargestSquaringX));
  if (static_cast<double>(in.num_times) * most <= limit) return true;
  double work = 0.0;
  for (int64_t i = 0; i < in.num_times; ++i) {
    work += WorkOfTime(in, sequence, i);
  }
  return work <= limit;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_CHOICE_WORK_OF_TIMES_H_
