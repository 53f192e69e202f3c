// Multiplies square matrices. A matrix is stored row by row. Its rows and
// columns are padded with zeros, from the number of phases to the stride.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_DENSE_PRODUCT_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_DENSE_PRODUCT_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/parallel_parts.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/work_count.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

// Returns the padded number of rows and columns for p phases: a multiple of
// sixteen, which fills registers, or eight for at most eight phases.
inline int64_t MatrixStride(int64_t p) {
  return p <= 8 ? 8 : (p + 15) / 16 * 16;
}

// Computes sum += factor * x.
template <class T>
inline void AddMultiple(const T& factor, const T* __restrict x, int64_t stride,
                        T* __restrict sum) {
  for (int64_t j = 0; j < stride; ++j) sum[j] += factor * x[j];
}
inline void AddMultiple(double factor, const double* __restrict x,
                        int64_t stride, double* __restrict sum) {
  for (int64_t j = 0; j < stride; j += 8) {
    Pack<8> total = Pack<8>::Load(sum + j);
    total.AddProduct(factor, Pack<8>::Load(x + j));
    total.Store(sum + j);
  }
}

// Computes out += v M.
template <class T>
inline void AddRowTimes(const T* v, const T* matrix, int64_t stride, T* out) {
  for (int64_t i = 0; i < stride; ++i) {
    if (IsZero(v[i])) continue;
    AddMultiple(v[i], matrix + i * stride, stride, out);
    CountWork<T>(stride);
  }
}

template <class T>
inline void Transpose(const T* matrix, int64_t stride, T* out) {
  constexpr int64_t kSide = 8;  // squares that fit into the L1 cache
  for (int64_t row = 0; row < stride; row += kSide) {
    for (int64_t column = 0; column < stride; column += kSide) {
      for (int64_t i = row; i < row + kSide; ++i) {
        for (int64_t j = column; j < column + kSide; ++j) {
          out[j * stride + i] = matrix[i * stride + j];
        }
      }
    }
  }
}

// Computes C += A B. Zeros of A are skipped.
template <class T>
class DenseProduct {
 public:
  bool Allocate(int64_t stride, Workspace* workspace) {
    stride_ = stride;
    workspace_ = workspace;
    return true;
  }
  void Add(const T* a, const T* b, T* c) const {
    const auto size = static_cast<double>(stride_);
    ForParts(workspace_->helpers(), stride_ / kRows, size * size * size,
             [&](int64_t part) {
               for (int64_t i = part * kRows; i < (part + 1) * kRows; ++i) {
                 AddRowTimes(a + i * stride_, b, stride_, c + i * stride_);
               }
             });
  }

 private:
  static constexpr int64_t kRows = 8;  // the smallest stride

  int64_t stride_ = 0;
  const Workspace* workspace_ = nullptr;
};

// The range from the first to the last row that is not all zero in a panel of
// columns. In powers of triangular matrices and of narrow bands, panels have
// many zero rows outside this range.
class RowRange {
 public:
  // Must be called with the rows in ascending order.
  template <int kWidth>
  void Note(int64_t row, const Pack<kWidth>& numbers) {
    const Pack<kWidth> zero(0.0);
    if (!Any(~((numbers <= zero) & (zero <= numbers)))) return;
    if (end_ == 0) begin_ = row;
    end_ = row + 1;
  }

  // Given ascending row indices columns[start] to columns[end - 1], Start
  // returns the position of the first index in the range, and End the position
  // of the first index beyond it.
  int64_t Start(const int32_t* columns, int64_t start, int64_t end) const {
    return Find(columns, start, end, begin_);
  }
  int64_t End(const int32_t* columns, int64_t start, int64_t end) const {
    return Find(columns, start, end, end_);
  }

 private:
  static int64_t Find(const int32_t* columns, int64_t start, int64_t end,
                      int64_t row) {
    const int32_t* found = std::lower_bound(columns + start, columns + end,
                                            static_cast<int32_t>(row));
    return found - columns;
  }

  int64_t begin_ = 0;
  int64_t end_ = 0;
};

// Computes C += A B for doubles. Multiplies four rows of A at a time by a panel
// of B: as many columns as fill two registers. Each entry is a sum over the
// columns of A in ascending order. Zeros are skipped as in AccurateProduct.
template <>
class DenseProduct<double> {
 public:
  bool Allocate(int64_t stride, Workspace* workspace) {
    stride_ = stride;
    workspace_ = workspace;
    offsets_ = AllocateZeros<int64_t>(workspace, stride / kRows + 1);
    columns_ = AllocateZeros<int32_t>(workspace, stride / kRows * stride);
    values_ = AllocateZeros<double>(workspace, stride * stride);
    panels_ = AllocateZeros<double>(workspace, stride * stride);
    return offsets_ && columns_ && values_ && panels_;
  }

  void Add(const double* a, const double* b, double* c) {
    AddRows(stride_, a, b, c);
  }
  // Computes the first `num_rows` rows of C, a multiple of kRows.
  void AddRows(int64_t num_rows, const double* a, const double* b, double* c) {
    const int64_t num_groups = num_rows / kRows;
    GatherRows(num_groups, a);
    if (stride_ % kWidest == 0) {
      AddPanels<kWidest>(num_groups, b, c);
    } else {
      AddPanels<kNarrow>(num_groups, b, c);
    }
  }

  static constexpr int kRows = 4;

 private:
  static constexpr int kWidest = 2 * kRegisterWidth;
  static constexpr int kNarrow = 8;  // the smallest stride

  // For each group of four rows of A, lists the columns in which not all four
  // are zero.
  void GatherRows(int64_t num_groups, const double* a) {
    int64_t count = 0;
    for (int64_t group = 0; group < num_groups; ++group) {
      const double* rows = a + group * kRows * stride_;
      for (int64_t k = 0; k < stride_; ++k) {
        double* values = values_ + count * kRows;
        bool is_zero = true;
        for (int r = 0; r < kRows; ++r) {
          values[r] = rows[r * stride_ + k];
          is_zero = is_zero && values[r] == 0.0;
        }
        columns_[count] = static_cast<int32_t>(k);
        // If no column is zero, the arrays are full after the last column.
        if (!is_zero && ++count == stride_ / kRows * stride_) break;
      }
      offsets_[group + 1] = count;
    }
  }

  template <int kWidth>
  void AddPanels(int64_t num_groups, const double* b, double* c) {
    const int64_t products = offsets_[num_groups] * kRows;
    ForParts(workspace_->helpers(), stride_ / kWidth,
             static_cast<double>(products) * static_cast<double>(stride_),
             [&](int64_t part) {
               const int64_t first = part * kWidth;
               double* panel = panels_ + first * stride_;
               RowRange rows;
               for (int64_t k = 0; k < stride_; ++k) {
                 const auto numbers =
                     Pack<kWidth>::Load(b + k * stride_ + first);
                 numbers.Store(panel + k * kWidth);
                 rows.Note(k, numbers);
               }
               for (int64_t group = 0; group < num_groups; ++group) {
                 AddPanel<kWidth>(group, rows, panel,
                                  c + group * kRows * stride_ + first);
               }
             });
  }

  template <int kWidth>
  void AddPanel(int64_t group, const RowRange& rows, const double* panel,
                double* c) const {
    const int64_t end =
        rows.End(columns_, offsets_[group], offsets_[group + 1]);
    const int64_t start = rows.Start(columns_, offsets_[group], end);
    if (start == end) return;
    CountWork<double>((end - start) * kRows * kWidth);
    Pack<kWidth> sums[kRows];
    for (int r = 0; r < kRows; ++r) {
      sums[r] = Pack<kWidth>::Load(c + r * stride_);
    }
    for (int64_t n = start; n < end; ++n) {
      const Pack<kWidth> row = Pack<kWidth>::Load(panel + columns_[n] * kWidth);
      for (int r = 0; r < kRows; ++r) {
        sums[r].AddProduct(values_[n * kRows + r], row);
      }
    }
    for (int r = 0; r < kRows; ++r) sums[r].Store(c + r * stride_);
  }

  int64_t stride_ = 0;
  int64_t* offsets_ = nullptr;
  int32_t* columns_ = nullptr;
  double* values_ = nullptr;
  double* panels_ = nullptr;  // the panels, one after the other
  const Workspace* workspace_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_DENSE_PRODUCT_H_
