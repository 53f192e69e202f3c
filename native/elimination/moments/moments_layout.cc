#include "native/elimination/moments/moments_layout.h"

namespace phasic {

const char* MomentsLayout::Check(const MomentsCall& call,
                                 const MomentResults& mean,
                                 const MomentResults& variance) {
  const char* error = Begin("weights", call.weights.shape, 1);
  const auto merge = [&](int operand, const char* name, const Input& input,
                         int32_t event_rank) {
    if (error == nullptr) {
      error = Merge(operand, name, input.shape, event_rank);
    }
  };
  merge(kIndices, "indices", call.indices, 2);
  merge(kWeights, "weights", call.weights, 1);
  merge(kInitial, "initial", call.initial, 1);
  merge(kAtom, "atom", call.atom, 1);
  merge(kStay, "stay", call.stay, 1);
  if (error != nullptr) return error;
  num_edges_ = call.weights.shape.dims[rank_];
  num_phases_ = call.initial.shape.dims[rank_];
  const int64_t atoms = call.atom.shape.dims[rank_];
  const int64_t stays = call.stay.shape.dims[rank_];
  error = CheckIndices(call.indices.shape);
  if (error != nullptr) return error;
  if (num_phases_ < 1) return "initial: there are no phases";
  if (atoms != 0 && atoms != 1) return "atom: must be [1] or [0]";
  if (stays != 0 && (stays != num_phases_ || !call.is_discrete)) {
    return "stay: must be [p] or [0], in continuous time [0]";
  }
  has_atom_ = atoms != 0;
  has_stay_ = stays != 0;
  error = End(2.0 * (static_cast<double>(num_phases_) +
                     static_cast<double>(num_edges_) + 1.0));
  if (error != nullptr) return error;
  const bool fits =
      Fits(call, mean) && (!call.wants_variance || Fits(call, variance));
  return fits ? nullptr : "moments: a result's shape does not fit";
}

bool MomentsLayout::Fits(const MomentsCall& call,
                         const MomentResults& results) const {
  return Fits(results.value.shape, {}) &&
         (!call.wants_gradients ||
          (Fits(results.of_weights.shape, {num_edges_}) &&
           Fits(results.of_initial.shape, {num_phases_})));
}

}  // namespace phasic
