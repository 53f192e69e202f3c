#include "native/elimination/moments/moments_layout.h"

namespace phasic {
namespace {

// With more phases a matrix has more edges than an elimination may have, 2^29.
constexpr int64_t kMaxPhases = 23169;

}  // namespace

const char* MomentsLayout::Check(const MomentsCall& call,
                                 const MomentResults& mean,
                                 const MomentResults& variance) {
  has_matrix_ = call.weights.shape.rank == call.initial.shape.rank + 1;
  const int32_t weight_rank = has_matrix_ ? 2 : 1;
  const char* error = Begin("weights", call.weights.shape, weight_rank);
  const auto merge = [&](int operand, const char* name, const Input& input,
                         int32_t event_rank) {
    if (error == nullptr) {
      error = Merge(operand, name, input.shape, event_rank);
    }
  };
  merge(kIndices, "indices", call.indices, 2);
  merge(kWeights, "weights", call.weights, weight_rank);
  merge(kExits, "exits", call.exits, 1);
  merge(kInitial, "initial", call.initial, 1);
  merge(kAtom, "atom", call.atom, 1);
  merge(kStay, "stay", call.stay, 1);
  if (error != nullptr) return error;
  num_phases_ = call.initial.shape.dims[rank_];
  const int64_t atoms = call.atom.shape.dims[rank_];
  const int64_t stays = call.stay.shape.dims[rank_];
  num_edges_ = has_matrix_ ? 0 : call.weights.shape.dims[rank_];
  error = CheckIndices(call.indices.shape);
  if (error != nullptr) return error;
  if (num_phases_ < 1) return "initial: there are no phases";
  error = CheckExits(call.weights.shape, call.exits.shape);
  if (error != nullptr) return error;
  if (atoms != 0 && atoms != 1) return "atom: must be [1] or [0]";
  if (stays != 0 &&
      (stays != num_phases_ || !call.is_discrete || has_matrix_)) {
    return "stay: must be [p] or [0]; in continuous time and with a matrix it "
           "must be [0]";
  }
  has_atom_ = atoms != 0;
  has_stay_ = stays != 0;
  has_exits_ = call.exits.shape.dims[rank_] != 0;
  error = End(2.0 * (static_cast<double>(num_phases_) +
                     static_cast<double>(num_edges_) + 1.0));
  if (error != nullptr) return error;
  const bool fits =
      Fits(call, mean) && (!call.wants_variance || Fits(call, variance));
  return fits ? nullptr : "moments: a result must have the batch's shape";
}

const char* MomentsLayout::CheckExits(const Shape& weights,
                                      const Shape& exits) {
  const int64_t p = num_phases_;
  const int64_t count = exits.dims[rank_];
  if (!has_matrix_) {
    return count == 0 ? nullptr : "exits: must be [0] beside edges";
  }
  if (weights.dims[rank_] != p || weights.dims[rank_ + 1] != p) {
    return "weights: a matrix must be [p, p]";
  }
  if (p > kMaxPhases) {
    return "weights: the matrix has too many phases for an elimination";
  }
  num_edges_ = p * (p + 1);
  return count == 0 || count == p ? nullptr : "exits: must be [p] or [0]";
}

bool MomentsLayout::Fits(const MomentsCall& call,
                         const MomentResults& results) const {
  if (!Fits(results.value.shape, {})) return false;
  if (!call.wants_gradients) return true;
  const int64_t p = num_phases_;
  const Shape& of_weights = results.of_weights.shape;
  return (has_matrix_ ? Fits(of_weights, {p, p})
                      : Fits(of_weights, {num_edges_})) &&
         Fits(results.of_exits.shape, {has_exits_ ? p : 0}) &&
         Fits(results.of_initial.shape, {p});
}

}  // namespace phasic
