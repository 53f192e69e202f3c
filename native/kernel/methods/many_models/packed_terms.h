// The cotangents of the terms of up to eight models side by side, for one
// adjoint sweep over all of them.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_PACKED_TERMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_PACKED_TERMS_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/cotangents/cotangent_writer.h"
#include "native/kernel/matrix/power_block.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/sweeps/term_adjoints.h"

namespace phasic {
namespace PHASIC_ISA {

// See TermAdjoints for its functions.
class PackedTerms {
 public:
  // Entries of `terms` are nullptr for unused lanes.
  explicit PackedTerms(TermAdjoints<double>* const* terms) : terms_(terms) {
    for (int l = 0; l < kModels; ++l) {
      if (terms[l] == nullptr) continue;
      last_block_ = std::max(last_block_, terms[l]->last_block());
      has_survival_ = has_survival_ || terms[l]->has_survival();
    }
  }

  int64_t last_block() const { return last_block_; }
  bool has_survival() const { return has_survival_; }

  bool HasLosses(int64_t b) const {
    return std::any_of(terms_, terms_ + kModels, [b](const auto* terms) {
      return terms != nullptr && terms->HasLosses(b);
    });
  }

  int64_t Get(int64_t b, PerModel* a_bar, PerModel* b_bar) {
    double a[kModels][kBlock] = {};
    double c[kModels][kBlock] = {};
    int64_t exponents[kModels];
    int64_t exponent = INT64_MIN / 4;
    for (int l = 0; l < kModels; ++l) {
      exponents[l] = INT64_MIN / 4;
      if (terms_[l] == nullptr || b > terms_[l]->last_block()) continue;
      exponents[l] = terms_[l]->Get(b, a[l], c[l]);
      exponent = std::max(exponent, exponents[l]);
    }
    for (int k = 0; k < kBlock; ++k) {
      const auto scaled = [&](const double (*bars)[kBlock]) {
        return SideBySide([&](int l) {
          return ScaleBy(bars[l][k], exponents[l] - exponent);
        });
      };
      a_bar[k] = scaled(a);
      b_bar[k] = scaled(c);
    }
    return exponent;
  }

 private:
  TermAdjoints<double>* const* terms_;
  int64_t last_block_ = -1;
  bool has_survival_ = false;
};

// Copies the sums of model l to new arrays; returns false if memory does not
// suffice.
inline bool CopyModel(const AdjointSums<PerModel>& packed, int l,
                      const Model<double>& model, Workspace* workspace,
                      AdjointSums<double>* sums) {
  bool fits = true;
  const auto copy = [&](const PerModel* from, int64_t count) {
    double* to = AllocateZeros<double>(workspace, count);
    fits = fits && to != nullptr;
    for (int64_t i = 0; fits && i < count; ++i) to[i] = from[i][l];
    return to;
  };
  sums->starts = copy(packed.starts, model.size);
  sums->exits = copy(packed.exits, model.size);
  sums->stays = copy(packed.stays, model.size);
  sums->products = copy(packed.products, model.products.num_cells());
  sums->exponent = packed.exponent;
  sums->start_loss = packed.start_loss;
  sums->row_loss = packed.row_loss;
  sums->weight_loss = packed.weight_loss;
  return fits;
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_PACKED_TERMS_H_
