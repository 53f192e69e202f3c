// Multiplies nonnegative matrices in double-double arithmetic, where a number
// is represented as the sum of two doubles, the rounded number and the rounding
// error.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_ACCURATE_PRODUCT_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_ACCURATE_PRODUCT_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/parallel_parts.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/compensated_sum.h"
#include "native/kernel/numbers/work_count.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

// A vector or square matrix of double-double numbers high[i] + low[i].
struct AccurateNumbers {
  double* high = nullptr;
  double* low = nullptr;

  bool Allocate(int64_t count, Workspace* workspace) {
    high = AllocateZeros<double>(workspace, count);
    low = AllocateZeros<double>(workspace, count);
    return high != nullptr && low != nullptr;
  }
};

// One sum of products of double-double numbers per SIMD lane, accumulated by
// the algorithm of T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot
// product, SIAM J. Sci. Comput. 26, 2005.
template <int kWidth>
struct AccurateSum {
  using Numbers = Pack<kWidth>;
  Numbers high{0.0};
  Numbers low{0.0};

  void AddProduct(const Numbers& x, const Numbers& x_low, const Numbers& y,
                  const Numbers& y_low) {
    const Numbers sum = high + x * y;
    const Numbers part = sum - high;
    low = low + (high - (sum - part));
    low = low + ProductLess(x, y, part);
    low.AddProduct(x, y_low);
    low.AddProduct(x_low, y);
    high = sum;
  }
  // Normalizes the sum: sets `high` to the rounded sum and `low` to the
  // remainder.
  void Finish() {
    const Numbers sum = high + low;
    low = low - (sum - high);
    high = sum;
  }
};

inline CompensatedSum<double> AccurateDot(const AccurateNumbers& x,
                                          const AccurateNumbers& y,
                                          int64_t stride) {
  AccurateSum<8> sums;
  for (int64_t i = 0; i < stride; i += 8) {
    sums.AddProduct(Pack<8>::Load(x.high + i), Pack<8>::Load(x.low + i),
                    Pack<8>::Load(y.high + i), Pack<8>::Load(y.low + i));
  }
  CompensatedSum<double> total;
  for (int l = 0; l < 8; ++l) total.Add(sums.high[l]);
  total.Add(sums.low.Total());
  return total;
}

inline CompensatedSum<double> AccurateTotal(const AccurateNumbers& x,
                                            int64_t stride) {
  Pack<8> highs(0.0);
  Pack<8> lows(0.0);
  for (int64_t i = 0; i < stride; i += 8) {
    const Pack<8> term = Pack<8>::Load(x.high + i);
    const Pack<8> sum = highs + term;
    const Pack<8> part = sum - highs;
    lows = lows + ((highs - (sum - part)) + (term - part));
    lows = lows + Pack<8>::Load(x.low + i);
    highs = sum;
  }
  CompensatedSum<double> total;
  for (int l = 0; l < 8; ++l) total.Add(highs[l]);
  total.Add(lows.Total());
  return total;
}

// Computes sum += factors[0] * terms[0] + factors[1] * terms[1] + ... for
// arrays of `length` numbers, a multiple of eight.
inline void AddMultiples(const double* factors, const AccurateNumbers* terms,
                         int count, int64_t length,
                         const AccurateNumbers& sum) {
  using Numbers = Pack<8>;
  for (int64_t i = 0; i < length; i += 8) {
    AccurateSum<8> total;
    total.high = Numbers::Load(sum.high + i);
    total.low = Numbers::Load(sum.low + i);
    for (int n = 0; n < count; ++n) {
      total.AddProduct(Numbers(factors[n]), Numbers(0.0),
                       Numbers::Load(terms[n].high + i),
                       Numbers::Load(terms[n].low + i));
    }
    total.Finish();
    total.high.Store(sum.high + i);
    total.low.Store(sum.low + i);
  }
}

// Computes C = A B for double-double matrices. Multiplies two rows of A at a
// time by a panel of B: as many columns as fill two registers. Each entry is a
// sum over the columns of A in ascending order. Columns in which both rows of A
// are zero are skipped. So are zero rows at the top and at the bottom of a
// panel.
class AccurateProduct {
 public:
  bool Allocate(int64_t stride, Workspace* workspace) {
    stride_ = stride;
    workspace_ = workspace;
    const int64_t count = stride * stride;
    offsets_ = AllocateZeros<int64_t>(workspace, stride / kRows + 1);
    columns_ = AllocateZeros<int32_t>(workspace, count / kRows);
    values_ = AllocateZeros<double>(workspace, 2 * count);
    panels_ = AllocateZeros<double>(workspace, 2 * count);
    return offsets_ && columns_ && values_ && panels_;
  }

  void Multiply(const AccurateNumbers& a, const AccurateNumbers& b,
                const AccurateNumbers& c) {
    GatherRows(a);
    if (stride_ % kWidest == 0) {
      MakePanels<kWidest>(b, c);
    } else {
      MakePanels<kNarrow>(b, c);
    }
  }

 private:
  static constexpr int64_t kEach = 4;  // multiply-adds of doubles
  static constexpr int kRows = 2;
  static constexpr int kWidest = 2 * kRegisterWidth;
  static constexpr int kNarrow = 8;  // the smallest stride

  void GatherRows(const AccurateNumbers& a) {
    int64_t count = 0;
    for (int64_t group = 0; group < stride_ / kRows; ++group) {
      for (int64_t k = 0; k < stride_; ++k) {
        const int64_t first = group * kRows * stride_ + k;
        const int64_t second = first + stride_;
        if (a.high[first] == 0.0 && a.high[second] == 0.0) continue;
        double* values = values_ + count * 2 * kRows;
        values[0] = a.high[first];
        values[1] = a.low[first];
        values[2] = a.high[second];
        values[3] = a.low[second];
        columns_[count++] = static_cast<int32_t>(k);
      }
      offsets_[group + 1] = count;
    }
  }

  template <int kWidth>
  void MakePanels(const AccurateNumbers& b, const AccurateNumbers& c) {
    const int64_t products = offsets_[stride_ / kRows] * kRows;
    ForParts(
        workspace_->helpers(), stride_ / kWidth,
        kEach * static_cast<double>(products) * static_cast<double>(stride_),
        [&](int64_t part) {
          const int64_t first = part * kWidth;
          double* panel = panels_ + 2 * first * stride_;
          RowRange rows;
          for (int64_t k = 0; k < stride_; ++k) {
            const int64_t start = k * stride_ + first;
            double* row = panel + 2 * k * kWidth;
            const auto numbers = Pack<kWidth>::Load(b.high + start);
            numbers.Store(row);
            Pack<kWidth>::Load(b.low + start).Store(row + kWidth);
            rows.Note(k, numbers);
          }
          for (int64_t group = 0; group < stride_ / kRows; ++group) {
            const int64_t start = group * kRows * stride_ + first;
            MakePanel<kWidth>(group, rows, panel, c.high + start,
                              c.low + start);
          }
        });
  }

  template <int kWidth>
  void MakePanel(int64_t group, const RowRange& rows, const double* panel,
                 double* high, double* low) const {
    using Numbers = Pack<kWidth>;
    AccurateSum<kWidth> sums[kRows];
    const int64_t end =
        rows.End(columns_, offsets_[group], offsets_[group + 1]);
    const int64_t start = rows.Start(columns_, offsets_[group], end);
    CountWork<double>(kEach * (end - start) * kRows * kWidth);
    for (int64_t n = start; n < end; ++n) {
      const double* row = panel + columns_[n] * int64_t{2 * kWidth};
      const Numbers y = Numbers::Load(row);
      const Numbers y_low = Numbers::Load(row + kWidth);
      const double* values = values_ + n * 2 * kRows;
      for (int r = 0; r < kRows; ++r) {
        sums[r].AddProduct(Numbers(values[2 * r]), Numbers(values[2 * r + 1]),
                           y, y_low);
      }
    }
    for (int r = 0; r < kRows; ++r) {
      sums[r].Finish();
      sums[r].high.Store(high + r * stride_);
      sums[r].low.Store(low + r * stride_);
    }
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

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_ACCURATE_PRODUCT_H_
