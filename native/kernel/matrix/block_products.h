// Computes the sums of products.h. For extended doubles a faster method is
// used: within a few blocks, the numbers in one column of V or Y have similar
// sizes. So plain doubles with one exponent per column suffice, and are twenty
// times as fast.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_BLOCK_PRODUCTS_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_BLOCK_PRODUCTS_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "native/kernel/matrix/power_block.h"
#include "native/kernel/matrix/products.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/extended_double.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/numbers/work_count.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

template <class T>
inline void CountCells(const TilePattern& pattern, const Columns& columns,
                       int64_t stride) {
  ForEachSpan(columns, stride, [&](int64_t begin, int64_t end) {
    const int64_t last = std::min(end / pattern.width, pattern.num_groups);
    CountWork<T>(
        kBlock * pattern.width *
        (pattern.offsets[last] - pattern.offsets[begin / pattern.width]));
  });
}

template <class T>
class BlockProducts {
 public:
  bool Allocate(int64_t, const TilePattern&, Workspace*) { return true; }
  // Adds scale * V^T Y, for the sixteen rows of V and Y, to `sums` at the cells
  // of the pattern. The sums are complete only after a call of Fold.
  void Add(const TilePattern& pattern, const Columns& columns, const T* v,
           const T* y, int64_t stride, double scale, T* sums) {
    CountCells<T>(pattern, columns, stride);
    AddProducts(pattern, columns, v, y, stride, scale, sums);
  }
  void Fold(const TilePattern&, T*) {}
};

// A matrix of sixteen rows in doubles, stored column by column. Column i is
// scaled by 2^-exponent(i).
class ScaledColumns {
 public:
  bool Allocate(int64_t stride, Workspace* workspace) {
    numbers_ = AllocateRoom<double>(workspace, stride * kBlock);
    sizes_ = AllocateRoom<int64_t>(workspace, stride);
    exponents_ = AllocateRoom<int64_t>(workspace, stride);
    Forget(stride);
    return numbers_ != nullptr && sizes_ != nullptr && exponents_ != nullptr;
  }

  // Resets the exponents. The next rows choose new ones.
  void Forget(int64_t stride) {
    if (exponents_ != nullptr) {
      std::fill(exponents_, exponents_ + stride, kOfZeros);
    }
  }

  // Computes the size of each column of 2^shift * rows: the binary exponent of
  // its largest number. A column without an exponent gets its size as exponent.
  // Returns whether the sizes of all finite columns are within kReach of their
  // exponents.
  bool Measure(const ExtendedDouble* rows, int64_t stride, int64_t shift) {
    shift_ = shift;
    bool fits = true;
    for (int64_t i = 0; i < stride; ++i) {
      const int64_t size = SizeOfColumn(rows + i, stride);
      sizes_[i] = size;
      if (size == kOfZeros || size == kNotFinite) continue;
      sizes_[i] += shift;
      if (exponents_[i] == kOfZeros) exponents_[i] = sizes_[i];
      fits = fits && std::abs(sizes_[i] - exponents_[i]) <= kReach;
    }
    return fits;
  }

  // Converts and stores the rows for which Measure was called. A number below
  // 2^-512 of the largest one in its column may become zero.
  void Take(const ExtendedDouble* rows, int64_t stride) {
    for (int64_t i = 0; i < stride; ++i) {
      if (!is_number(i)) continue;
      const int64_t down = shift_ - exponents_[i];
      double* numbers = numbers_ + i * kBlock;
      for (int k = 0; k < kBlock; ++k) {
        const ExtendedDouble& x = rows[k * stride + i];
        if (x.part == 0.0) {
          numbers[k] = 0.0;
          continue;
        }
        const int64_t e = x.power * ExtendedDouble::kRadix + down;
        // Scaling brings the largest number of the column near one, and every
        // part is within 2^256 of one. So a number with e < -900 is negligible,
        // and e > 900 cannot occur.
        numbers[k] = e < -900 || e > 900 ? 0.0 : x.part * PowerOfTwo(e);
      }
    }
  }

  bool is_finite(int64_t i) const { return sizes_[i] != kNotFinite; }
  // Returns whether column i is finite and not all zeros.
  bool is_number(int64_t i) const {
    return is_finite(i) && sizes_[i] != kOfZeros;
  }
  int64_t exponent(int64_t i) const { return exponents_[i]; }
  const double* numbers(int64_t i) const { return numbers_ + i * kBlock; }

 private:
  static constexpr int64_t kOfZeros = INT64_MIN;
  static constexpr int64_t kNotFinite = INT64_MAX;
  static constexpr int64_t kReach = 100;

  static int64_t SizeOfColumn(const ExtendedDouble* column, int64_t stride) {
    int64_t power = ExtendedDouble::kOfZero;
    for (int k = 0; k < kBlock; ++k) {
      power = std::max(power, column[k * stride].power);
    }
    if (power == ExtendedDouble::kOfZero) return kOfZeros;
    if (power == ExtendedDouble::kNotFinite) return kNotFinite;
    double largest = 0.0;
    for (int k = 0; k < kBlock; ++k) {
      const ExtendedDouble& x = column[k * stride];
      if (x.power == power) largest = std::max(largest, std::fabs(x.part));
    }
    return power * ExtendedDouble::kRadix + ExponentOf(largest);
  }

  double* numbers_ = nullptr;     // [stride, kBlock]
  int64_t* sizes_ = nullptr;      // [stride], log2 of the columns' largest
  int64_t* exponents_ = nullptr;  // [stride]
  int64_t shift_ = 0;
};

template <>
class BlockProducts<ExtendedDouble> {
 public:
  bool Allocate(int64_t stride, const TilePattern& pattern,
                Workspace* workspace) {
    stride_ = stride;
    recent_ =
        AllocateZeros<double>(workspace, stride > 0 ? pattern.num_cells() : 0);
    return recent_ && v_.Allocate(stride, workspace) &&
           y_.Allocate(stride, workspace);
  }

  void Add(const TilePattern& pattern, const Columns& columns,
           const ExtendedDouble* v, const ExtendedDouble* y, int64_t stride,
           double scale, ExtendedDouble* sums) {
    CountCells<double>(pattern, columns, stride);
    const bool v_fits = v_.Measure(v, stride, ExponentOf(scale));
    const bool y_fits = y_.Measure(y, stride, 0);
    if (!v_fits || !y_fits) {
      Fold(pattern, sums);
      v_.Measure(v, stride, ExponentOf(scale));
      y_.Measure(y, stride, 0);
    }
    v_.Take(v, stride);
    y_.Take(y, stride);
    ForEachSpan(columns, pattern.num_groups, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        AddColumn(pattern, j, v, y, stride, scale, sums);
      }
    });
  }

  // Adds the pending sums, scaled by the exponents of their columns, to `sums`.
  // Then resets the exponents.
  void Fold(const TilePattern& pattern, ExtendedDouble* sums) {
    for (int64_t j = 0; j < pattern.num_groups && stride_ > 0; ++j) {
      for (int64_t t = pattern.offsets[j]; t < pattern.offsets[j + 1]; ++t) {
        if (recent_[t] == 0.0) continue;
        sums[t] += ScaleBy(ExtendedDouble(recent_[t]),
                           v_.exponent(pattern.rows[t]) + y_.exponent(j));
        recent_[t] = 0.0;
      }
    }
    v_.Forget(stride_);
    y_.Forget(stride_);
  }

 private:
  // If a block's scaled sum is at least this large, the numbers that became
  // zero change it by less than 2^-64 of its value.
  static constexpr double kLeastSum = 0x1p-240;

  // Adds scale * V^T Y at the tiles of column j.
  void AddColumn(const TilePattern& pattern, int64_t j, const ExtendedDouble* v,
                 const ExtendedDouble* y, int64_t stride, double scale,
                 ExtendedDouble* sums) {
    for (int64_t t = pattern.offsets[j]; t < pattern.offsets[j + 1]; ++t) {
      const int64_t i = pattern.rows[t];
      if (v_.is_number(i) && y_.is_number(j)) {
        const double sum = Product(v_.numbers(i), y_.numbers(j));
        if (std::fabs(sum) >= kLeastSum) {
          recent_[t] += sum;
          continue;
        }
      } else if (v_.is_finite(i) && y_.is_finite(j)) {
        continue;
      }
      ExtendedDouble sum(0.0);
      for (int k = 0; k < kBlock; ++k) {
        sum += v[k * stride + i] * y[k * stride + j];
      }
      sums[t] += scale * sum;
    }
  }

  static double Product(const double* x, const double* y) {
    Pack<8> sum(0.0);
    sum.AddProduct(Pack<8>::Load(x), Pack<8>::Load(y));
    sum.AddProduct(Pack<8>::Load(x + 8), Pack<8>::Load(y + 8));
    return sum.Total();
  }

  int64_t stride_ = 0;
  double* recent_ = nullptr;  // pending sums of the pattern's cells
  ScaledColumns v_;
  ScaledColumns y_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_BLOCK_PRODUCTS_H_
