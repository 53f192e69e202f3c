// Up to eight models with the same edges as one model whose numbers have a lane
// for each.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_PACKED_MODEL_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_PACKED_MODEL_H_

#include <algorithm>
#include <cstdint>

#include "native/kernel/matrix/tiles.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/simd/isa.h"

namespace phasic {
namespace PHASIC_ISA {

class ModelPacker {
 public:
  // Entries of `models` are nullptr for unused lanes. The others share a
  // structure with tiles of width one.
  ModelPacker(const Model<double>* const* models, Workspace* workspace)
      : models_(models), workspace_(workspace) {
    for (int l = 0; l < kModels; ++l) {
      if (models[l] != nullptr) first_ = models[l];
    }
  }

  // Packs the models, with their backward operators if `is_adjoint`. Returns
  // false if memory does not suffice.
  bool Pack(bool is_adjoint, Model<PerModel>* packed) const {
    packed->size = first_->size;
    // An odd multiple of four spreads rows over the processor's cache.
    packed->stride = (first_->size + 3) / 8 * 8 + 4;
    packed->log2_q = first_->log2_q;
    for (int l = 0; l < kModels; ++l) {
      if (models_[l] == nullptr) continue;
      packed->log2_q = std::max(packed->log2_q, models_[l]->log2_q);
    }
    packed->products = first_->products;
    packed->initial = Lanes(*packed, [](const auto& m) { return m.initial; });
    packed->exits = Lanes(*packed, [](const auto& m) { return m.exits; });
    return packed->initial != nullptr && packed->exits != nullptr &&
           ListExits(packed) &&
           PackOperator(
               *packed, [](const auto& m) -> auto& { return m.forward; },
               &packed->forward) &&
           (!is_adjoint ||
            PackOperator(
                *packed, [](const auto& m) -> auto& { return m.backward; },
                &packed->backward));
  }

 private:
  // Returns the vectors that get(model) returns for each model, side by side
  // and padded with zeros; nullptr if memory does not suffice.
  template <class Get>
  PerModel* Lanes(const Model<PerModel>& packed, const Get& get) const {
    PerModel* result = AllocateZeros<PerModel>(workspace_, packed.stride);
    if (result != nullptr) Copy(get, packed.size, result);
    return result;
  }

  template <class Get>
  void Copy(const Get& get, int64_t count, PerModel* result) const {
    for (int64_t i = 0; i < count; ++i) {
      result[i] = SideBySide([&](int l) {
        return models_[l] != nullptr ? get(*models_[l])[i] : 0.0;
      });
    }
  }

  bool ListExits(Model<PerModel>* packed) const {
    int32_t* phases = AllocateRoom<int32_t>(workspace_, packed->size);
    for (int64_t i = 0; phases != nullptr && i < packed->size; ++i) {
      phases[packed->num_exiting] = static_cast<int32_t>(i);
      packed->num_exiting += LargestSize(packed->exits + i, 1) > 0.0;
    }
    packed->exiting_phases = phases;
    return phases != nullptr;
  }

  template <class Get>
  bool PackOperator(const Model<PerModel>& packed, const Get& get,
                    Operator<PerModel>* m) const {
    m->size = packed.size;
    m->stride = packed.stride;
    m->pattern = get(*first_).pattern;
    PerModel* weights =
        AllocateRoom<PerModel>(workspace_, m->pattern.num_cells());
    if (weights == nullptr) return false;
    Copy([&](const auto& model) { return get(model).weights; },
         m->pattern.num_cells(), weights);
    m->weights = weights;
    const auto of_staying = [&](auto member) {
      return Lanes(packed, [&](const auto& model) {
        return get(model).staying.*member;
      });
    };
    m->staying = {of_staying(&Staying<double>::share),
                  of_staying(&Staying<double>::base),
                  of_staying(&Staying<double>::leaving),
                  of_staying(&Staying<double>::leaving_low)};
    return m->staying.share && m->staying.base && m->staying.leaving &&
           m->staying.leaving_low;
  }

  const Model<double>* const* models_;
  Workspace* workspace_;
  const Model<double>* first_ = nullptr;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_MODELS_PACKED_MODEL_H_
