// Computes steps of the power sequences of eight models with the same edges at
// once. Each number is a register with one SIMD lane per model. Every sum is
// computed in the same order as for a single model in operator.h, so that
// results have the same bits.

#ifndef PHASIC_NATIVE_KERNEL_MATRIX_LANE_OPERATOR_H_
#define PHASIC_NATIVE_KERNEL_MATRIX_LANE_OPERATOR_H_

#include <cstdint>

#include "native/kernel/matrix/operator.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/simd/pack.h"

namespace phasic {
namespace PHASIC_ISA {

constexpr int kModels = 8;
using PerModel = Pack<kModels>;

// Returns a register with get(l) in lane l, for example entry i of the vector
// of model l.
template <class Get>
inline PerModel SideBySide(const Get& get) {
  double numbers[kModels];
  for (int l = 0; l < kModels; ++l) numbers[l] = get(l);
  return PerModel::Load(numbers);
}
inline PerModel SideBySide(const double* const* models, int64_t i) {
  return SideBySide(
      [&](int l) { return models[l] != nullptr ? models[l][i] : 0.0; });
}
inline PerModel* AllSideBySide(const double* const* models, int64_t count,
                               Workspace* workspace) {
  PerModel* all = static_cast<PerModel*>(
      workspace->Allocate(static_cast<size_t>(count), sizeof(PerModel)));
  for (int64_t i = 0; all != nullptr && i < count; ++i) {
    all[i] = SideBySide(models, i);
  }
  return all;
}

inline bool HasAny(const PerModel& x) {
  bool any = false;
  for (int l = 0; l < kModels; ++l) any = any || x[l] != 0.0;
  return any;
}

// The transition matrices of eight models. Entries that are zero in all models
// are omitted.
struct LaneOperator {
  int64_t size = 0;
  // The number of partial sums per column, as in operator.h: one for tiles of
  // width one, otherwise two. With two, tiles with even index add to the first
  // sum, and tiles with odd index to the second.
  int num_sums = 1;
  const int64_t* ends = nullptr;  // [size * num_sums], ends of the sums
  const int32_t* rows = nullptr;
  const PerModel* weights = nullptr;
  const PerModel* share = nullptr;  // as in Staying
  const PerModel* base = nullptr;
  const PerModel* leaving = nullptr;
  const PerModel* leaving_low = nullptr;
};

// Builds a LaneOperator from the operators of up to eight models with the same
// pattern. A null pointer stands for an unused lane. Build returns false if
// memory does not suffice.
class LaneOperatorBuilder {
 public:
  LaneOperatorBuilder(const Operator<double>* const* models,
                      Workspace* workspace)
      : workspace_(workspace) {
    for (int l = 0; l < kModels; ++l) {
      if (models[l] == nullptr) continue;
      first_ = models[l];
      weights_[l] = models[l]->weights;
      share_[l] = models[l]->staying.share;
      base_[l] = models[l]->staying.base;
      leaving_[l] = models[l]->staying.leaving;
      leaving_low_[l] = models[l]->staying.leaving_low;
    }
  }

  bool Build(LaneOperator* m) {
    m->size = first_->size;
    m->num_sums = first_->pattern.width == 1 ? 1 : 2;
    m->share = AllSideBySide(share_, m->size, workspace_);
    m->base = AllSideBySide(base_, m->size, workspace_);
    m->leaving = AllSideBySide(leaving_, m->size, workspace_);
    m->leaving_low = AllSideBySide(leaving_low_, m->size, workspace_);
    return m->share && m->base && m->leaving && m->leaving_low &&
           BuildEntries(m);
  }

 private:
  bool BuildEntries(LaneOperator* m) {
    const TilePattern& pattern = first_->pattern;
    const auto cells = static_cast<size_t>(pattern.num_cells());
    int64_t* ends = AllocateZeros<int64_t>(workspace_, m->size * m->num_sums);
    int32_t* rows =
        static_cast<int32_t*>(workspace_->Allocate(cells, sizeof(int32_t)));
    PerModel* weights =
        static_cast<PerModel*>(workspace_->Allocate(cells, sizeof(PerModel)));
    if (ends == nullptr || rows == nullptr || weights == nullptr) return false;
    int64_t count = 0;
    for (int64_t j = 0; j < m->size; ++j) {
      const int64_t group = j / pattern.width;
      for (int s = 0; s < m->num_sums; ++s) {
        for (int64_t t = pattern.offsets[group] + s;
             t < pattern.offsets[group + 1]; t += m->num_sums) {
          rows[count] = pattern.rows[t];
          weights[count] =
              SideBySide(weights_, t * pattern.width + j % pattern.width);
          if (HasAny(weights[count])) ++count;
        }
        *ends++ = count;
      }
    }
    m->ends = ends - m->size * m->num_sums;
    m->rows = rows;
    m->weights = weights;
    return true;
  }

  Workspace* workspace_;
  const Operator<double>* first_ = nullptr;
  const double* weights_[kModels] = {};
  const double* share_[kModels] = {};
  const double* base_[kModels] = {};
  const double* leaving_[kModels] = {};
  const double* leaving_low_[kModels] = {};
};

// Computes out = in M for eight models, and adds a multiple of a vector if
// kHasSource. With kSums = 1, terms are added in the order of ApplyTiles; with
// kSums = 2, in the order of ApplyWideTiles.
template <Rounding kRounding, bool kHasSource, int kSums>
inline void ApplyLanes(const LaneOperator& m, const Source<PerModel>& source,
                       const PerModel* __restrict in, PerModel* __restrict low,
                       PerModel* __restrict out) {
  constexpr bool kPlain = kRounding == Rounding::kPlain;
  const int32_t* row = m.rows;
  const PerModel* weight = m.weights;
  const int64_t* end = m.ends;
  const auto add = [&](PerModel* sum) {
    for (const int32_t* last = m.rows + *end++; row != last; ++row, ++weight) {
      sum->AddProduct(in[*row], *weight);
    }
  };
  for (int64_t j = 0; j < m.size; ++j) {
    PerModel sum(0.0);
    if (kPlain && kSums == 2) sum = m.share[j] * in[j];
    if (kHasSource && kSums == 1) sum = source.factor * source.vector[j];
    add(&sum);
    if (kSums == 2) {
      PerModel second(0.0);
      if (kHasSource) second.AddProduct(source.factor, source.vector[j]);
      add(&second);
      sum = sum + second;
    } else if (kPlain) {
      sum.AddProduct(m.share[j], in[j]);
    }
    for (int l = 0; !kPlain && l < PerModel::kParts; ++l) {
      sum.parts[l] = AddCompensated(
          sum.parts[l], in[j].parts[l], m.base[j].parts[l],
          m.leaving[j].parts[l], m.leaving_low[j].parts[l], &low[j].parts[l]);
    }
    out[j] = sum;
  }
}
// Computes out = in M with the operator's number of partial sums. Not inlined,
// because each inlined copy might round differently, and all callers must get
// the same bits; see PowerWalk::Step.
template <Rounding kRounding, bool kHasSource>
[[gnu::noinline]] inline void ApplyLanes(const LaneOperator& m,
                                         const Source<PerModel>& source,
                                         const PerModel* in, PerModel* low,
                                         PerModel* out) {
  if (m.num_sums == 2) {
    ApplyLanes<kRounding, kHasSource, 2>(m, source, in, low, out);
  } else {
    ApplyLanes<kRounding, kHasSource, 1>(m, source, in, low, out);
  }
}
inline void Apply(const LaneOperator& m, int64_t block, const PerModel* in,
                  PerModel* low, PerModel* out) {
  const Source<PerModel> none = {PerModel(0.0), nullptr};
  if (block < kPlainBlocks) {
    ApplyLanes<Rounding::kPlain, false>(m, none, in, low, out);
  } else {
    ApplyLanes<Rounding::kCompensated, false>(m, none, in, low, out);
  }
}
inline void Apply(const LaneOperator& m, int64_t block,
                  const Source<PerModel>& source, const PerModel* in,
                  PerModel* low, PerModel* out) {
  if (block < kPlainBlocks) {
    ApplyLanes<Rounding::kPlain, true>(m, source, in, low, out);
  } else {
    ApplyLanes<Rounding::kCompensated, true>(m, source, in, low, out);
  }
}

// Multiplies the numbers of model l by 2^e.
inline void ScaleLane(int l, int64_t e, int64_t count, PerModel* x) {
  for (int64_t i = 0; i < count; ++i) {
    double numbers[kModels];
    x[i].Store(numbers);
    numbers[l] = ScaleBy(numbers[l], e);
    x[i] = PerModel::Load(numbers);
  }
}

inline PerModel LargestSizes(const PerModel* x, int64_t count) {
  PerModel sizes(0.0);
  for (int64_t i = 0; i < count; ++i) sizes = PerModel::LargerSize(sizes, x[i]);
  return sizes;
}

// Returns the total of eight partial sums, added in the order of
// Pack<8>::Total. sums[l] is the sum over all entries whose index is l modulo
// eight.
inline PerModel Total(const PerModel* sums) {
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
         ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}
inline PerModel Sum(const PerModel* x, int64_t size) {
  PerModel sums[8];
  for (PerModel& sum : sums) sum = PerModel(0.0);
  int64_t i = 0;
  for (; i + 8 <= size; i += 8) {
    for (int64_t l = 0; l < 8; ++l) sums[l] = sums[l] + x[i + l];
  }
  for (; i < size; ++i) sums[i % 8] = sums[i % 8] + x[i];
  return Total(sums);
}

// The vectors of eight models, side by side. Entries that are zero in all
// models are omitted.
class LaneVector {
 public:
  bool Build(const double* const* models, int64_t size, Workspace* workspace) {
    rows_ = static_cast<int32_t*>(
        workspace->Allocate(static_cast<size_t>(size), sizeof(int32_t)));
    values_ = static_cast<PerModel*>(
        workspace->Allocate(static_cast<size_t>(size), sizeof(PerModel)));
    if (rows_ == nullptr || values_ == nullptr) return false;
    int64_t count = 0;
    for (int64_t s = 0; s < 8; ++s) {
      for (int64_t i = s; i < size; i += 8) {
        rows_[count] = static_cast<int32_t>(i);
        values_[count] = SideBySide(models, i);
        if (HasAny(values_[count])) ++count;
      }
      ends_[s] = count;
    }
    return true;
  }

  // Returns the dot product sum_i x[i] y[i], where x is this vector.
  PerModel Dot(const PerModel* y) const {
    PerModel sums[8];
    int64_t n = 0;
    for (int s = 0; s < 8; ++s) {
      PerModel sum(0.0);
      for (; n < ends_[s]; ++n) sum.AddProduct(y[rows_[n]], values_[n]);
      sums[s] = sum;
    }
    return Total(sums);
  }

 private:
  int32_t* rows_ = nullptr;  // in groups by remainder modulo eight
  PerModel* values_ = nullptr;
  int64_t ends_[8];
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MATRIX_LANE_OPERATOR_H_
