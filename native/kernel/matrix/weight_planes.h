// Computes steps of dense matrices whose entries have one tangent.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_WEIGHT_PLANES_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_WEIGHT_PLANES_H_

#include <cstdint>

#include "native/kernel/matrix/step_entries.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

// A copy of the weights of a dense matrix with one tangent, arranged so that
// eight columns are computed at once. For each group of eight columns and each
// row, it has the eight values, followed by their eight tangents.
class WeightPlanes {
 public:
  static int64_t Count(int64_t size) { return 2 * PaddedSize(size) * size; }
  // Returns the index of an entry's value. The index of its tangent is larger
  // by eight.
  static int64_t Place(int64_t size, int64_t row, int64_t column) {
    return (column / 8 * size + row) * 16 + column % 8;
  }
};

// Computes kGroups groups of eight columns of the result, for a dense matrix
// with tangents. Each entry is computed by the same operations as in
// ApplyTiles.
template <Rounding kRounding, bool kHasSource, int kGroups>
inline void ApplyPlanes(const Operator<Dual<double>>& m,
                        const Source<Dual<double>>& source, int64_t group,
                        const Dual<double>* __restrict in,
                        Dual<double>* __restrict low,
                        Dual<double>* __restrict out) {
  using Numbers = Pack<8>;
  const int64_t length = 16 * m.size;
  const double* planes = m.planes + group * length;
  double values[8 * kGroups];
  double tangents[8 * kGroups];
  const int64_t first = group * 8;
  for (int l = 0; l < 8 * kGroups; ++l) {
    const bool has_source = kHasSource && first + l < m.size;
    const Dual<double> inflow =
        has_source ? source.factor * source.vector[first + l] : 0.0;
    values[l] = inflow.value;
    tangents[l] = inflow.tangent;
  }
  Numbers value[kGroups];
  Numbers tangent[kGroups];
  Unrolled<kGroups>([&](auto g) {
    value[g] = Numbers::Load(values + 8 * g);
    tangent[g] = Numbers::Load(tangents + 8 * g);
  });
  for (int64_t i = 0; i < m.size; ++i) {
    const Numbers x(in[i].value);
    const Numbers dx(in[i].tangent);
    Unrolled<kGroups>([&](auto g) {
      const double* weights = planes + g * length + i * 16;
      const Numbers w = Numbers::Load(weights);
      value[g] = MultiplyAdd(w, x, value[g]);
      tangent[g] =
          tangent[g] + MultiplyAdd(w, dx, Numbers::Load(weights + 8) * x);
    });
  }
  Unrolled<kGroups>([&](auto g) {
    value[g].Store(values + 8 * g);
    tangent[g].Store(tangents + 8 * g);
  });
  for (int l = 0; l < 8 * kGroups && first + l < m.size; ++l) {
    FinishColumn<kRounding>(m, first + l, Dual<double>(values[l], tangents[l]),
                            in, low, out);
  }
}

template <Rounding kRounding, bool kHasSource>
inline void ApplyPlanes(const Operator<Dual<double>>& m,
                        const Source<Dual<double>>& source,
                        const Dual<double>* in, Dual<double>* low,
                        Dual<double>* out) {
  const int64_t num_groups = PaddedSize(m.size) / 8;
  int64_t group = 0;
  for (; group + 2 <= num_groups; group += 2) {
    ApplyPlanes<kRounding, kHasSource, 2>(m, source, group, in, low, out);
  }
  if (group < num_groups) {
    ApplyPlanes<kRounding, kHasSource, 1>(m, source, group, in, low, out);
  }
  for (int64_t j = m.size; j < m.stride; ++j) out[j] = Dual<double>(0.0);
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_WEIGHT_PLANES_H_
