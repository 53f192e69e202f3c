// Computes the sums of an adjoint sweep (see adjoint_sweeper.h) from blocks of
// sixteen states v_k and adjoints y_{k+1}: G = sum_k v_k^T y_{k+1} at the
// entries of a pattern, and sum_k abar_k v_k.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_PRODUCTS_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_PRODUCTS_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "native/kernel/matrix/power_block.h"
#include "native/kernel/matrix/reached_columns.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"
#include "native/kernel/simd/unrolled.h"

namespace phasic {
namespace PHASIC_ISA {

// Adds scale * V^T Y, for the sixteen rows of V and Y, at each cell of the
// pattern in groups of columns from `begin` to `end`.
template <class T>
void AddProducts(const TilePattern& pattern, int64_t begin, int64_t end,
                 const T* v, const T* y, int64_t stride, double scale,
                 T* sums) {
  for (int64_t j = begin; j < end; ++j) {  // tiles of one column
    for (int64_t t = pattern.offsets[j]; t < pattern.offsets[j + 1]; ++t) {
      const int64_t i = pattern.rows[t];
      T sum = T(0.0);
      for (int k = 0; k < kBlock; ++k) {
        AddProduct(v[k * stride + i], y[k * stride + j], &sum);
      }
      sums[t] += scale * sum;
    }
  }
}

// Adds scale * V^T Y at kCount tiles of one group of columns, from tile t on.
template <int kWidth, int kCount>
inline void AddTiles(const TilePattern& pattern, int64_t t, const double* v,
                     const double* y, int64_t stride, double scale,
                     double* sums) {
  using Tile = Pack<kWidth>;
  // With too few sums, each addition would wait for the previous one. Then each
  // sum is split into two.
  constexpr int kSplit = kCount * Tile::kParts < 8 ? 2 : 1;
  Tile parts[kSplit][kCount];
  for (auto& part : parts) {
    for (Tile& sum : part) sum = Tile(0.0);
  }
  const double* columns[kCount];
  for (int a = 0; a < kCount; ++a) columns[a] = v + pattern.rows[t + a];
  for (int64_t k = 0; k < kBlock; k += kSplit) {
    for (int64_t s = 0; s < kSplit; ++s) {
      const Tile row = Tile::Load(y + (k + s) * stride);
      for (int a = 0; a < kCount; ++a) {
        parts[s][a].AddProduct(columns[a][(k + s) * stride], row);
      }
    }
  }
  for (int a = 0; a < kCount; ++a) {
    const Tile sum =
        kSplit > 1 ? parts[0][a] + parts[kSplit - 1][a] : parts[0][a];
    Tile total = Tile::Load(sums + (t + a) * kWidth);
    total.AddProduct(scale, sum);
    total.Store(sums + (t + a) * kWidth);
  }
}

// Adds scale * V^T Y at all tiles of one group of columns, with all rows of Y
// in registers. Each sum is computed in the same order as in AddTiles.
inline void AddNarrowGroup(const TilePattern& pattern, int64_t group,
                           const double* v, const double* y, int64_t stride,
                           double scale, double* sums) {
  using Tile = Pack<4>;
  Tile rows[kBlock];
  Unrolled<kBlock>([&](auto k) { rows[k] = Tile::Load(y + k * stride); });
  for (int64_t t = pattern.offsets[group]; t < pattern.offsets[group + 1];
       t += 2) {
    const double* first = v + pattern.rows[t];
    const double* second = v + pattern.rows[t + 1];
    Tile even[2] = {Tile(0.0), Tile(0.0)};
    Tile odd[2] = {Tile(0.0), Tile(0.0)};
    const auto add = [&](auto k) __attribute__((always_inline)) {
      even[0].AddProduct(first[2 * k * stride], rows[2 * k]);
      even[1].AddProduct(second[2 * k * stride], rows[2 * k]);
      odd[0].AddProduct(first[(2 * k + 1) * stride], rows[2 * k + 1]);
      odd[1].AddProduct(second[(2 * k + 1) * stride], rows[2 * k + 1]);
    };
    Unrolled<kBlock / 2>(add);
    for (int a = 0; a < 2; ++a) {
      double* cells = sums + (t + a) * 4;
      Tile total = Tile::Load(cells);
      total.AddProduct(scale, even[a] + odd[a]);
      total.Store(cells);
    }
  }
}

template <int kWidth>
inline void AddWideProducts(const TilePattern& pattern, int64_t begin,
                            int64_t end, const double* v, const double* y,
                            int64_t stride, double scale, double* sums) {
  constexpr int kAtOnce = TilesAtOnce(kWidth);
  for (int64_t group = begin; group < end; ++group) {
    if (kWidth == 4 && kRegisterWidth == 8) {
      AddNarrowGroup(pattern, group, v, y + group * kWidth, stride, scale,
                     sums);
      continue;
    }
    for (int64_t t = pattern.offsets[group]; t < pattern.offsets[group + 1];
         t += kAtOnce) {
      AddTiles<kWidth, kAtOnce>(pattern, t, v, y + group * kWidth, stride,
                                scale, sums);
    }
  }
}

// Adds scale * V^T Y at kGroups groups of columns of a pattern that contains
// all entries. Each number of V is loaded once for all these groups.
template <int kGroups>
inline void AddGroups(int64_t group, int64_t num_rows, const double* v,
                      const double* y, int64_t stride, double scale,
                      double* sums) {
  using Tile = Pack<8>;
  constexpr int kAtOnce = TilesAtOnce(8);
  y += group * 8;
  sums += group * num_rows * 8;
  for (int64_t i = 0; i < num_rows; i += kAtOnce) {
    Tile parts[kGroups][kAtOnce];
    Unrolled<kGroups>([&](auto g) {
      Unrolled<kAtOnce>([&](auto a) { parts[g][a] = Tile(0.0); });
    });
    for (int64_t k = 0; k < kBlock; ++k) {
      Tile row[kGroups];
      Unrolled<kGroups>([&](auto g) {  //
        row[g] = Tile::Load(y + k * stride + g * 8);
      });
      Unrolled<kAtOnce>([&](auto a) {
        const Tile x(v[k * stride + i + a]);
        Unrolled<kGroups>([&](auto g) { parts[g][a].AddProduct(x, row[g]); });
      });
    }
    Unrolled<kGroups>([&](auto g) {
      Unrolled<kAtOnce>([&](auto a) {
        double* cells = sums + (g * num_rows + i + a) * 8;
        Tile total = Tile::Load(cells);
        total.AddProduct(scale, parts[g][a]);
        total.Store(cells);
      });
    });
  }
}

inline void AddAllProducts(const TilePattern& pattern, const double* v,
                           const double* y, int64_t stride, double scale,
                           double* sums) {
  if (Pack<8>::kParts > 1 || pattern.num_groups == 1) {
    return AddWideProducts<8>(pattern, 0, pattern.num_groups, v, y, stride,
                              scale, sums);
  }
  const int64_t num_groups = pattern.num_groups;
  const int64_t num_rows = pattern.num_tiles() / num_groups;
  int64_t group = 0;
  if (num_groups % 2 != 0) {
    AddGroups<3>(group, num_rows, v, y, stride, scale, sums);
    group = 3;
  }
  for (; group < num_groups; group += 2) {
    AddGroups<2>(group, num_rows, v, y, stride, scale, sums);
  }
}

// Adds scale * V^T Y at those cells of the pattern that are in the given
// columns. If the pattern contains all entries, all columns must be given.
template <class T>
void AddProducts(const TilePattern& pattern, const Columns& columns, const T* v,
                 const T* y, int64_t stride, double scale, T* sums) {
  if constexpr (std::is_same<T, double>::value) {
    if (pattern.width == 8) {
      return AddAllProducts(pattern, v, y, stride, scale, sums);
    }
  }
  const int64_t width = pattern.width;
  ForEachSpan(columns, stride, [&](int64_t begin, int64_t end) {
    begin /= width;
    end = std::min(end / width, pattern.num_groups);
    if constexpr (std::is_same<T, double>::value) {
      if (width == 4) {
        return AddWideProducts<4>(pattern, begin, end, v, y, stride, scale,
                                  sums);
      }
    }
    AddProducts<T>(pattern, begin, end, v, y, stride, scale, sums);
  });
}

// Adds the diagonal of scale * V^T Y to `sums`, from column `begin` to `end`.
template <class T>
void AddDiagonal(const T* v, const T* y, int64_t begin, int64_t end,
                 int64_t stride, double scale, T* sums) {
  for (int64_t i = begin; i < end; ++i) {
    T sum = T(0.0);
    for (int k = 0; k < kBlock; ++k) {
      AddProduct(v[k * stride + i], y[k * stride + i], &sum);
    }
    sums[i] += scale * sum;
  }
}
inline void AddDiagonal(const double* v, const double* y, int64_t begin,
                        int64_t end, int64_t stride, double scale,
                        double* sums) {
  for (int64_t i = begin; i < end; i += 8) {
    Pack<8> sum(0.0);
    for (int64_t k = 0; k < kBlock; ++k) {
      sum.AddProduct(Pack<8>::Load(v + k * stride + i),
                     Pack<8>::Load(y + k * stride + i));
    }
    Pack<8> total = Pack<8>::Load(sums + i);
    total.AddProduct(scale, sum);
    total.Store(sums + i);
  }
}

// Computes sums += sum_k factors[k] * v_k.
template <class T>
inline void AddRows(const T* factors, const T* v, int64_t stride, T* sums) {
  for (int64_t i = 0; i < stride; ++i) {
    T sum = T(0.0);
    for (int k = 0; k < kBlock; ++k) {
      AddProduct(factors[k], v[k * stride + i], &sum);
    }
    sums[i] += sum;
  }
}
inline void AddRows(const double* factors, const double* v, int64_t stride,
                    double* sums) {
  for (int64_t i = 0; i < stride; i += 8) {
    Pack<8> even(0.0);
    Pack<8> odd(0.0);
    for (int k = 0; k < kBlock; k += 2) {
      even.AddProduct(factors[k], Pack<8>::Load(v + k * stride + i));
      odd.AddProduct(factors[k + 1], Pack<8>::Load(v + (k + 1) * stride + i));
    }
    (Pack<8>::Load(sums + i) + (even + odd)).Store(sums + i);
  }
}

// The number of blocks in a run of LongSum.
constexpr int64_t kBlocksPerSum = 64;

// A vector of sums of millions of terms, which are added in runs. During a run,
// terms are added to recent() without compensation. Then Flush adds recent() to
// the total with compensation. Clear must be called before use.
template <class T>
class LongSum {
 public:
  bool Allocate(int64_t count, Workspace* workspace) {
    size_ = count;
    workspace_ = workspace;
    recent_ = AllocateRoom<T>(workspace, count);
    return recent_ != nullptr;
  }
  void Clear() {
    for (int64_t i = 0; i < size_; ++i) recent_[i] = T(0.0);
    for (int64_t i = 0; total_ != nullptr && i < size_; ++i) {
      total_[i] = low_[i] = T(0.0);
    }
  }
  T* recent() { return recent_; }
  T* data() { return total_ != nullptr ? total_ : recent_; }
  const T* data() const { return total_ != nullptr ? total_ : recent_; }
  // Ends a run: adds recent() to the total. If `is_only`, this is the only run,
  // and recent() itself is the total. Returns false if memory does not suffice.
  bool Flush(bool is_only) {
    if (is_only && total_ == nullptr) return true;
    if (total_ == nullptr) {
      total_ = AllocateZeros<T>(workspace_, size_);
      low_ = AllocateZeros<T>(workspace_, size_);
      if (total_ == nullptr || low_ == nullptr) return false;
    }
    for (int64_t i = 0; i < size_; ++i) {
      const T term = recent_[i] + low_[i];
      const T sum = total_[i] + term;
      const T part = sum - total_[i];
      low_[i] = (total_[i] - (sum - part)) + (term - part);
      total_[i] = sum;
      recent_[i] = T(0.0);
    }
    return true;
  }

 private:
  int64_t size_ = 0;
  Workspace* workspace_ = nullptr;
  T* recent_ = nullptr;
  T* total_ = nullptr;
  T* low_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_PRODUCTS_H_
