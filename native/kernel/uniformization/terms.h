// Computes the terms a_k = v_k . s and b_k = v_k . 1 of a power sequence v_k,
// block by block, where s are the exit rates.

#ifndef PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TERMS_H_
#define PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TERMS_H_

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "native/kernel/matrix/operator.h"
#include "native/kernel/matrix/power_block.h"
#include "native/kernel/model/model.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/per_model.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/power_walk.h"

namespace phasic {
namespace PHASIC_ISA {

// The terms of one block, relative to 2^exponent.
template <class T>
struct Terms {
  T a[kBlock];
  T b[kBlock];  // only if requested
  int64_t exponent;
  typename WithoutTangents<T>::Type mass;  // sum of the first state's values
  double tangent_mass;  // sum of that state's absolute first-order tangents
};

// The first term a_k of a block, relative to 2^exponent, and the mass of its
// state.
template <class T>
struct Front {
  T a;
  int64_t exponent;
  typename WithoutTangents<T>::Type mass;
};

// Returns the rate of absorption from a state.
template <class T>
T Absorption(const Model<T>& model, const T* state) {
  return Dot(state, model.exits, model.stride);
}
inline PerModel Absorption(const Model<PerModel>& model,
                           const PerModel* state) {
  PerModel sum(0.0);
  for (int64_t n = 0; n < model.num_exiting; ++n) {
    sum.AddProduct(state[model.exiting_phases[n]],
                   model.exits[model.exiting_phases[n]]);
  }
  return sum;
}

template <class T>
Front<T> FrontOf(const Model<T>& model, const PowerWalk<T>& walk) {
  return {Absorption(model, walk.state()), walk.exponent(),
          Primal(Sum(walk.state(), model.stride))};
}

template <class T>
double TangentMass(const T* state, int64_t stride) {
  double sum = 0.0;
  if constexpr (std::is_same<T, Dual<double>>::value) {
    for (int64_t i = 0; i < stride; ++i) sum += std::fabs(state[i].tangent);
  }
  return sum;
}

// Steps through a block and computes the terms of its states. If `states` is
// not null, stores the states in its rows.
template <class T>
void MakeTerms(const Model<T>& model, bool wants_b, int64_t block,
               PowerWalk<T>* walk, T* states, Terms<T>* terms) {
  terms->exponent = walk->exponent();
  terms->mass = Primal(Sum(walk->state(), model.stride));
  terms->tangent_mass = TangentMass(walk->state(), model.stride);
  walk->StepBlock(model.forward, block, states, [&](int j, const T* state) {
    terms->a[j] = Absorption(model, state);
    if (wants_b) terms->b[j] = Sum(state, model.stride);
  });
}

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_UNIFORMIZATION_TERMS_H_
