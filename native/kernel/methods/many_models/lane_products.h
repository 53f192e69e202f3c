// The sums G = sum_k v_k^T y_{k+1} at the entries and on the diagonal, and the
// sums of abar_k v_k, for eight models together; see products.h.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_LANE_PRODUCTS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_LANE_PRODUCTS_H_

#include <cstdint>

#include "native/kernel/api/sweep.h"
#include "native/kernel/cotangents/bars_writer.h"
#include "native/kernel/matrix/lane_operator.h"
#include "native/kernel/matrix/power_block.h"
#include "native/kernel/matrix/products.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/model/model.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

class LaneProducts {
 public:
  bool Allocate(const SweepInput& in, const Model<double>& model,
                Workspace* workspace) {
    size_ = model.size;
    num_cells_ = model.products.num_cells();
    is_split_ = model.products.width > 1;
    if (!ListEntries(in, model, workspace) ||
        !exits_.Allocate(size_, workspace) ||
        !stays_.Allocate(size_, workspace) ||
        !entries_.Allocate(ends_[size_ - 1], workspace)) {
      return false;
    }
    exits_.Clear();
    stays_.Clear();
    entries_.Clear();
    return true;
  }

  // Adds the products of sixteen states v and adjoints y, which are stored in
  // rows, and of a_bar and v.
  void Add(const PerModel* a_bar, const PerModel* v, const PerModel* y,
           int64_t stride, const PerModel& scale) {
    PerModel* entries = entries_.recent();
    int64_t n = 0;
    for (int64_t j = 0; j < size_; ++j) {
      PerModel column[kBlock];
      for (int k = 0; k < kBlock; ++k) column[k] = y[k * stride + j];
      PerModel stay(0.0);
      PerModel even(0.0);
      PerModel odd(0.0);
      for (int k = 0; k < kBlock; k += 2) {
        const PerModel first = v[k * stride + j];
        const PerModel second = v[(k + 1) * stride + j];
        stay.AddProduct(first, column[k]);
        stay.AddProduct(second, column[k + 1]);
        even.AddProduct(a_bar[k], first);
        odd.AddProduct(a_bar[k + 1], second);
      }
      exits_.recent()[j] = exits_.recent()[j] + (even + odd);
      stays_.recent()[j].AddProduct(scale, stay);
      for (; n < ends_[j]; ++n) {
        const PerModel* row = v + rows_[n];
        const PerModel sum = is_split_ ? SplitSum(row, stride, column)
                                       : PlainSum(row, stride, column);
        entries[n].AddProduct(scale, sum);
      }
    }
  }

  bool Flush(bool is_only) {
    return exits_.Flush(is_only) && stays_.Flush(is_only) &&
           entries_.Flush(is_only);
  }

  // Stores the sums of model l in new arrays; returns false if memory does not
  // suffice.
  bool StoreLane(int l, Workspace* workspace, AdjointSums<double>* sums) const {
    double* exits = AllocateZeros<double>(workspace, size_);
    double* stays = AllocateZeros<double>(workspace, size_);
    double* products = AllocateZeros<double>(workspace, num_cells_);
    if (exits == nullptr || stays == nullptr || products == nullptr) {
      return false;
    }
    for (int64_t i = 0; i < size_; ++i) {
      exits[i] = exits_.data()[i][l];
      stays[i] = stays_.data()[i][l];
    }
    for (int64_t n = 0; n < ends_[size_ - 1]; ++n) {
      products[cells_[n]] = entries_.data()[n][l];
    }
    sums->exits = exits;
    sums->stays = stays;
    sums->products = products;
    return true;
  }

 private:
  // Returns the sum over sixteen steps of state times adjoint, added in the
  // order of tiles of width four (SplitSum) or one (PlainSum).
  static PerModel SplitSum(const PerModel* v, int64_t stride,
                           const PerModel* column) {
    PerModel even(0.0);
    PerModel odd(0.0);
    for (int k = 0; k < kBlock; k += 2) {
      even.AddProduct(v[k * stride], column[k]);
      odd.AddProduct(v[(k + 1) * stride], column[k + 1]);
    }
    return even + odd;
  }
  static PerModel PlainSum(const PerModel* v, int64_t stride,
                           const PerModel* column) {
    PerModel sum(0.0);
    for (int k = 0; k < kBlock; ++k) sum.AddProduct(v[k * stride], column[k]);
    return sum;
  }

  // Lists the cells that belong to edges, column by column. Returns false if
  // memory does not suffice.
  bool ListEntries(const SweepInput& in, const Model<double>& model,
                   Workspace* workspace) {
    const TilePattern& pattern = model.products;
    uint8_t* is_entry = AllocateZeros<uint8_t>(workspace, num_cells_);
    if (is_entry == nullptr) return false;
    int64_t count = 0;
    int64_t listed = 0;
    for (int64_t e = 0; e < in.edges.count; ++e) {
      const int64_t target = in.edges.targets[e];
      if (target == size_ || target == in.edges.sources[e]) continue;
      uint8_t& mark = is_entry[model.cells[listed++]];
      count += mark == 0;
      mark = 1;
    }
    ends_ = AllocateZeros<int64_t>(workspace, size_);
    rows_ = AllocateZeros<int32_t>(workspace, count);
    cells_ = AllocateZeros<int64_t>(workspace, count);
    if (ends_ == nullptr || rows_ == nullptr || cells_ == nullptr) return false;
    int64_t n = 0;
    for (int64_t j = 0; j < size_; ++j) {
      const int64_t group = j / pattern.width;
      for (int64_t t = pattern.offsets[group]; t < pattern.offsets[group + 1];
           ++t) {
        const int64_t cell = t * pattern.width + j % pattern.width;
        if (is_entry[cell] == 0) continue;
        rows_[n] = pattern.rows[t];
        cells_[n++] = cell;
      }
      ends_[j] = n;
    }
    return true;
  }

  int64_t size_ = 0;
  int64_t num_cells_ = 0;
  bool is_split_ = false;    // sums of even and of odd steps
  int64_t* ends_ = nullptr;  // [size]
  int32_t* rows_ = nullptr;
  int64_t* cells_ = nullptr;
  LongSum<PerModel> exits_;
  LongSum<PerModel> stays_;  // the diagonal of G
  LongSum<PerModel> entries_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_LANE_PRODUCTS_H_
