// Computes steps of a power sequence, out = in M, for the substochastic matrix
// M = W + I - diag(rho). The nonnegative matrix W holds the off-diagonal
// entries, and is stored in tiles. rho is the probability of leaving each phase
// in a step.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_OPERATOR_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_OPERATOR_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "native/kernel/matrix/reached_columns.h"
#include "native/kernel/matrix/step_entries.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/matrix/weight_planes.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/numbers/work_count.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

template <Rounding kRounding, bool kHasSource, class T>
[[gnu::always_inline]] inline void ApplyTiles(
    const Operator<T>& m, const Source<T>& source, int64_t begin, int64_t end,
    const T* __restrict in, T* __restrict low, T* __restrict out) {
  for (int64_t j = begin; j < end; ++j) {  // tiles of one column
    T inflow = kHasSource ? source.factor * source.vector[j] : T(0.0);
    for (int64_t t = m.pattern.offsets[j]; t < m.pattern.offsets[j + 1]; ++t) {
      AddProduct(m.weights[t], in[m.pattern.rows[t]], &inflow);
    }
    FinishColumn<kRounding>(m, j, inflow, in, low, out);
  }
}

// The number of sums in registers that are computed at once, to hide the
// latency of a multiply-add.
constexpr int kSumsAtOnce = 8;
constexpr int kMaxGroups = kSumsAtOnce / Pack<8>::kParts;

// Returns the number of partial sums into which each sum is split if `groups`
// groups of columns are computed at once.
constexpr int GroupSplit(int groups) {
  return groups >= kMaxGroups ? 1 : (2 * groups >= kMaxGroups ? 2 : 4);
}

// Computes the compensated result for the columns of a tile, from column j on.
template <int kWidth>
inline Pack<kWidth> AddCompensated(const Operator<double>& m, int64_t j,
                                   const Pack<kWidth>& inflow, const double* in,
                                   double* low) {
  using Tile = Pack<kWidth>;
  const Tile old = Tile::Load(in + j);
  const Tile base = Tile::Load(m.staying.base + j);
  const Tile leaving = Tile::Load(m.staying.leaving + j);
  const Tile leaving_low = Tile::Load(m.staying.leaving_low + j);
  Tile rest = Tile::Load(low + j);
  Tile sum;
  for (int l = 0; l < Tile::kParts; ++l) {
    sum.parts[l] =
        AddCompensated(inflow.parts[l], old.parts[l], base.parts[l],
                       leaving.parts[l], leaving_low.parts[l], &rest.parts[l]);
  }
  rest.Store(low + j);
  return sum;
}

template <Rounding kRounding, bool kHasSource, int kWidth>
[[gnu::always_inline]] inline void ApplyWideTiles(const Operator<double>& m,
                                                  const Source<double>& source,
                                                  int64_t begin, int64_t end,
                                                  const double* __restrict in,
                                                  double* __restrict low,
                                                  double* __restrict out) {
  using Tile = Pack<kWidth>;
  constexpr int kAtOnce = TilesAtOnce(kWidth);
  const int64_t* offset = m.pattern.offsets + begin / kWidth;
  const int32_t* row = m.pattern.rows + *offset;
  const double* weights = m.weights + *offset * kWidth;
  const Tile factor(kHasSource ? source.factor : 0.0);
  for (int64_t j = begin; j < end; j += kWidth) {
    ++offset;
    Tile sums[kAtOnce];
    for (Tile& sum : sums) sum = Tile(0.0);
    if (kRounding == Rounding::kPlain) {
      sums[0] = Tile::Load(m.staying.share + j) * Tile::Load(in + j);
    }
    if (kHasSource) sums[1].AddProduct(factor, Tile::Load(source.vector + j));
    for (const int32_t* last = m.pattern.rows + *offset; row != last;
         row += kAtOnce, weights += kAtOnce * kWidth) {
      for (int a = 0; a < kAtOnce; ++a) {
        sums[a].AddProduct(in[row[a]], Tile::Load(weights + a * kWidth));
      }
    }
    Tile sum = sums[0] + sums[1];
    if (kRounding == Rounding::kCompensated) {
      sum = AddCompensated(m, j, sum, in, low);
    }
    sum.Store(out + j);
  }
}

// Computes out = in M for kGroups groups of eight columns of a matrix whose
// tiles are all stored. Each entry of `in` is loaded once for all these groups.
// Sums are split if there are too few of them to hide the latency of additions.
template <Rounding kRounding, bool kHasSource, int kGroups>
inline void ApplyGroups(const Operator<double>& m, const Source<double>& source,
                        int64_t group, const double* __restrict in,
                        double* __restrict low, double* __restrict out) {
  using Tile = Pack<8>;
  constexpr int kSplit = GroupSplit(kGroups);
  const int64_t num_rows = PaddedTiles(m.size, 8);
  const double* weights = m.weights + group * num_rows * 8;
  const auto load = [&](int64_t row, int g) {
    return Tile::Load(weights + (g * num_rows + row) * 8);
  };
  Tile sums[kSplit][kGroups];
  Unrolled<kSplit>([&](auto s) {
    const Tile x(in[s]);
    Unrolled<kGroups>([&](auto g) { sums[s][g] = x * load(s, g); });
  });
  for (int64_t i = kSplit; i < num_rows; i += kSplit) {
    Unrolled<kSplit>([&](auto s) {
      const Tile x(in[i + s]);
      Unrolled<kGroups>([&](auto g) {  //
        sums[s][g].AddProduct(x, load(i + s, g));
      });
    });
  }
  Unrolled<kGroups>([&](auto g) {
    const int64_t j = (group + g) * 8;
    Tile sum = sums[0][g];
    if (kSplit > 1) sum = sum + sums[kSplit - 1][g];
    if (kSplit > 2) sum = sum + (sums[1 % kSplit][g] + sums[kSplit / 2][g]);
    if (kHasSource) {
      sum.AddProduct(Tile(source.factor), Tile::Load(source.vector + j));
    }
    if (kRounding == Rounding::kCompensated) {
      sum = AddCompensated(m, j, sum, in, low);
    } else {
      sum.AddProduct(Tile::Load(m.staying.share + j), Tile::Load(in + j));
    }
    sum.Store(out + j);
  });
}

// Calls ApplyGroups for `count` groups, where count is at most kMost.
template <Rounding kRounding, bool kHasSource, int kMost>
inline void ApplyGroups(int64_t count, const Operator<double>& m,
                        const Source<double>& source, int64_t group,
                        const double* in, double* low, double* out) {
  if constexpr (kMost > 0) {
    if (count == kMost) {
      return ApplyGroups<kRounding, kHasSource, kMost>(m, source, group, in,
                                                       low, out);
    }
    ApplyGroups<kRounding, kHasSource, kMost - 1>(count, m, source, group, in,
                                                  low, out);
  }
}

// Computes out = in M for a matrix whose tiles are all stored. At most
// kMaxGroups groups of columns are computed at once, and nearly the same number
// each time.
template <Rounding kRounding, bool kHasSource>
inline void ApplyAllTiles(const Operator<double>& m,
                          const Source<double>& source, const double* in,
                          double* low, double* out) {
  const int64_t num_groups = m.pattern.num_groups;
  int64_t num_runs = (num_groups + kMaxGroups - 1) / kMaxGroups;
  for (int64_t group = 0; num_runs > 0; --num_runs) {
    const int64_t count = (num_groups - group + num_runs - 1) / num_runs;
    ApplyGroups<kRounding, kHasSource, kMaxGroups>(count, m, source, group, in,
                                                   low, out);
    group += count;
  }
}

// The arrays of consecutive steps. The first step reads `in` and writes `out`.
// Each further step reads the previous result, and writes its own result `move`
// entries after it. If the matrix does not store all tiles, only the given
// columns are computed, and the results must already be zero in all other
// columns.
template <class T>
struct Steps {
  int count;
  const T* in;
  T* low;
  T* out;
  int64_t move;
  Columns columns = {};
};

// The value of kWidth that stands for dense matrices with tangents; see
// WeightPlanes.
constexpr int kPlanes = -1;

// Computes consecutive steps. If kHasSource, step i also adds factors[i] times
// the vector.
template <Rounding kRounding, bool kHasSource, int kWidth, class T>
inline void ApplySteps(const Operator<T>& m, const T* factors, const T* vector,
                       Steps<T> steps) {
  for (int i = 0; i < steps.count; ++i) {
    const Source<T> source = {kHasSource ? factors[i] : T(0.0), vector};
    if constexpr (kWidth == 1) {
      ForEachSpan(steps.columns, m.size, [&](int64_t begin, int64_t end) {
        ApplyTiles<kRounding, kHasSource, T>(m, source, begin, end, steps.in,
                                             steps.low, steps.out);
      });
      std::fill(steps.out + m.size, steps.out + m.stride, T(0.0));
    } else if constexpr (kWidth == kPlanes) {
      ApplyPlanes<kRounding, kHasSource>(m, source, steps.in, steps.low,
                                         steps.out);
    } else if constexpr (kWidth == 8) {
      ApplyAllTiles<kRounding, kHasSource>(m, source, steps.in, steps.low,
                                           steps.out);
    } else {
      ForEachSpan(steps.columns, m.stride, [&](int64_t begin, int64_t end) {
        ApplyWideTiles<kRounding, kHasSource, kWidth>(
            m, source, begin, end, steps.in, steps.low, steps.out);
      });
    }
    steps.in = steps.out;
    steps.out += steps.move;
  }
}
template <Rounding kRounding, bool kHasSource, class T>
inline void ApplySteps(const Operator<T>& m, const T* factors, const T* vector,
                       const Steps<T>& steps) {
  if constexpr (std::is_same<T, double>::value) {
    switch (m.pattern.width) {
      case 8:
        return ApplySteps<kRounding, kHasSource, 8>(m, factors, vector, steps);
      case 4:
        return ApplySteps<kRounding, kHasSource, 4>(m, factors, vector, steps);
      default:
        break;
    }
  }
  if constexpr (std::is_same<T, Dual<double>>::value) {
    if (m.planes != nullptr) {
      return ApplySteps<kRounding, kHasSource, kPlanes>(m, factors, vector,
                                                        steps);
    }
  }
  ApplySteps<kRounding, kHasSource, 1>(m, factors, vector, steps);
}

// The number of blocks at the start of a sequence in which rounding errors are
// not compensated. These errors add up to less than 4e-13, and usually to far
// less.
constexpr int64_t kPlainBlocks = 64;

template <class T>
inline void CountSteps(const Operator<T>& m, int64_t block,
                       const Steps<T>& steps) {
  const int64_t of_phase = block < kPlainBlocks ? 1 : 4;
  const int64_t width = m.pattern.width;
  ForEachSpan(steps.columns, m.stride, [&](int64_t begin, int64_t end) {
    const int64_t num_tiles =
        m.pattern.offsets[std::min(end / width, m.pattern.num_groups)] -
        m.pattern.offsets[begin / width];
    CountWork<T>(steps.count * (num_tiles * width + of_phase * (end - begin)));
  });
}

// Computes out = in M for steps of block number `block`. A state is a rounded
// vector plus its rounding errors: in + low before a step, and out + low, with
// a new `low`, after it.
template <class T>
inline void Apply(const Operator<T>& m, int64_t block, const Steps<T>& steps) {
  CountSteps(m, block, steps);
  const T* none = nullptr;
  if (block < kPlainBlocks) {
    ApplySteps<Rounding::kPlain, false>(m, none, none, steps);
  } else {
    ApplySteps<Rounding::kCompensated, false>(m, none, none, steps);
  }
}
template <class T>
inline void Apply(const Operator<T>& m, int64_t block, const T* in, T* low,
                  T* out) {
  Apply(m, block, Steps<T>{1, in, low, out, 0});
}

// Computes out = in M + factors[i] * vector for steps i = 0, 1, ... of the
// given block.
template <class T>
inline void Apply(const Operator<T>& m, int64_t block, const T* factors,
                  const T* vector, const Steps<T>& steps) {
  CountSteps(m, block, steps);
  if (block < kPlainBlocks) {
    ApplySteps<Rounding::kPlain, true>(m, factors, vector, steps);
  } else {
    ApplySteps<Rounding::kCompensated, true>(m, factors, vector, steps);
  }
}
template <class T>
inline void Apply(const Operator<T>& m, int64_t block, const Source<T>& source,
                  const T* in, T* low, T* out) {
  Apply(m, block, &source.factor, source.vector, Steps<T>{1, in, low, out, 0});
}

// Returns the dot product sum_i x[i] y[i].
template <class T>
inline T Dot(const T* __restrict x, const T* __restrict y, int64_t stride) {
  T sums[4] = {T(0.0), T(0.0), T(0.0),
               T(0.0)};  // the stride is a multiple of four
  for (int64_t i = 0; i < stride; i += 4) {
    for (int l = 0; l < 4; ++l) AddProduct(x[i + l], y[i + l], &sums[l]);
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
inline double Dot(const double* __restrict x, const double* __restrict y,
                  int64_t stride) {
  Pack<8> sum(0.0);
  for (int64_t i = 0; i < stride; i += 8) {
    sum.AddProduct(Pack<8>::Load(x + i), Pack<8>::Load(y + i));
  }
  return sum.Total();
}

template <class T>
inline T Sum(const T* __restrict x, int64_t stride) {
  T sums[4] = {T(0.0), T(0.0), T(0.0), T(0.0)};
  for (int64_t i = 0; i < stride; i += 4) {
    for (int l = 0; l < 4; ++l) sums[l] += x[i + l];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}
inline double Sum(const double* __restrict x, int64_t stride) {
  Pack<8> sum(0.0);
  for (int64_t i = 0; i < stride; i += 8) sum = sum + Pack<8>::Load(x + i);
  return sum.Total();
}

// Returns the largest absolute value max_i |x[i]|.
template <class T>
inline double LargestSize(const T* x, int64_t stride) {
  double largest = 0.0;
  for (int64_t i = 0; i < stride; ++i) {
    const double size = MaxAbs(x[i]);
    if (size > largest) largest = size;
  }
  return largest;
}
inline double LargestSize(const double* x, int64_t stride) {
  Pack<8> sizes(0.0);
  for (int64_t i = 0; i < stride; i += 8) {
    sizes = Pack<8>::LargerSize(sizes, Pack<8>::Load(x + i));
  }
  double all[8];
  sizes.Store(all);
  for (int l = 1; l < 8; ++l) all[0] = all[l] > all[0] ? all[l] : all[0];
  return all[0];
}

// Returns max_i |x[i]| times 2^exponent.
template <class T>
inline Scaled<double> LargestScaledSize(const T* x, int64_t stride,
                                        int64_t exponent) {
  if constexpr (HasOwnExponent<T>::kValue) {
    Scaled<double> largest;
    for (int64_t i = 0; i < stride; ++i) {
      const Scaled<double> size = SizeOf(x[i], exponent);
      if (IsAtMost(largest, 0, size)) largest = size;
    }
    return largest;
  } else {
    return {LargestSize(x, stride), exponent};
  }
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_OPERATOR_H_
