#include "native/elimination/moments/moments_layout.h"

namespace phasic {

const char* MomentsLayout::Check(const MomentsCall& call,
                                 const MomentResults& mean,
                                 const MomentResults& variance) {
  const char* error = Begin("parameters", call.parameters.shape, 1);
  const auto merge = [&](int operand, const char* name, const Input& input,
                         int32_t event_rank) {
    if (error == nullptr) {
      error = Merge(operand, name, input.shape, event_rank);
    }
  };
  merge(kIndices, "indices", call.indices, 2);
  merge(kParameters, "parameters", call.parameters, 1);
  merge(kCoefficients, "coefficients", call.coefficients, 2);
  merge(kConstants, "constants", call.constants, 1);
  merge(kInitial, "initial", call.initial, 1);
  merge(kAtom, "atom", call.atom, 1);
  merge(kStay, "stay", call.stay, 1);
  if (error != nullptr) return error;
  const int64_t* coefficients = call.coefficients.shape.dims + rank_;
  const int64_t constants = call.constants.shape.dims[rank_];
  num_edges_ = coefficients[0];
  num_parameters_ = call.parameters.shape.dims[rank_];
  num_phases_ = call.initial.shape.dims[rank_];
  const int64_t atoms = call.atom.shape.dims[rank_];
  const int64_t stays = call.stay.shape.dims[rank_];
  error = CheckIndices(call.indices.shape);
  if (error != nullptr) return error;
  if (coefficients[1] != num_parameters_ &&
      (coefficients[1] != 0 || num_parameters_ != num_edges_)) {
    return "coefficients: must be [m, d], or [m, 0] with m parameters";
  }
  if (constants != 0 && constants != num_edges_) {
    return "constants: must be [m] or [0]";
  }
  has_coefficients_ = coefficients[1] != 0;
  has_constants_ = constants != 0;
  if (num_phases_ < 1) return "initial: there are no phases";
  if (atoms != 0 && atoms != 1) return "atom: must be [1] or [0]";
  if (stays != 0 && (stays != num_phases_ || !call.is_discrete)) {
    return "stay: must be [p] or [0], in continuous time [0]";
  }
  has_atom_ = atoms != 0;
  has_stay_ = stays != 0;
  error = End(2.0 * (static_cast<double>(num_phases_) +
                     static_cast<double>(num_edges_) +
                     static_cast<double>(num_parameters_) + 1.0));
  if (error != nullptr) return error;
  const bool fits =
      Fits(call, mean) && (!call.wants_variance || Fits(call, variance));
  return fits ? nullptr : "moments: a result's shape does not fit";
}

bool MomentsLayout::Fits(const MomentsCall& call,
                         const MomentResults& results) const {
  return Fits(results.value.shape, {}) &&
         (!call.wants_gradients ||
          (Fits(results.of_parameters.shape, {num_parameters_}) &&
           Fits(results.of_initial.shape, {num_phases_})));
}

}  // namespace phasic
