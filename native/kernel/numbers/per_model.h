// A number of each of eight models, in the lanes of a register. It is a type of
// numbers of the sweeps, beside double, dual numbers and extended doubles.

#ifndef PHASIC_NATIVE_KERNEL_NUMBERS_PER_MODEL_H_
#define PHASIC_NATIVE_KERNEL_NUMBERS_PER_MODEL_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/numbers/pack_math.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kModels = kMaxGroup;
using PerModel = Pack<kModels>;

// The type of those parts of a model that have no tangents: double, unless they
// differ by model.
template <class T>
struct WithoutTangents {
  using Type = double;
};
template <>
struct WithoutTangents<PerModel> {
  using Type = PerModel;
};

inline PerModel operator-(const PerModel& x) { return -1.0 * x; }
inline PerModel& operator+=(PerModel& sum, const PerModel& x) {
  return sum = sum + x;
}
[[gnu::always_inline]] inline void AddProduct(const PerModel& a,
                                              const PerModel& b,
                                              PerModel* sum) {
  sum->AddProduct(a, b);
}
inline PerModel Primal(const PerModel& x) { return x; }

// Returns the largest absolute value of all models.
inline double LargestSize(const PerModel* x, int64_t count) {
  PerModel sizes(0.0);
  for (int64_t i = 0; i < count; ++i) sizes = PerModel::LargerSize(sizes, x[i]);
  double largest = 0.0;
  for (int l = 0; l < kModels; ++l) {
    largest = sizes[l] > largest ? sizes[l] : largest;
  }
  return largest;
}

// Returns get(l) for each model l.
template <class Get>
inline PerModel SideBySide(const Get& get) {
  double numbers[kModels];
  for (int l = 0; l < kModels; ++l) numbers[l] = get(l);
  return PerModel::Load(numbers);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_NUMBERS_PER_MODEL_H_
