// Checks the shapes of a call that computes moments, and stores its sizes.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_

#include "native/elimination/api/moments.h"
#include "native/elimination/batch/batch_layout.h"

namespace phasic {

class MomentsLayout : public BatchLayout {
 public:
  enum Operand {
    kWeights = kIndices + 1,
    kExits,
    kInitial,
    kAtom,
    kStay,
  };

  // Checks the shapes of all operands and results. A matrix has an edge between
  // every two phases, row by row, and then one from each phase to absorption.
  // Returns nullptr or an error message.
  const char* Check(const MomentsCall& call, const MomentResults& mean,
                    const MomentResults& variance);

  bool has_matrix() const { return has_matrix_; }
  bool has_exits() const { return has_exits_; }
  bool has_atom() const { return has_atom_; }
  bool has_stay() const { return has_stay_; }

 private:
  using BatchLayout::Fits;
  const char* CheckExits(const Shape& weights, const Shape& exits);
  bool Fits(const MomentsCall& call, const MomentResults& results) const;

  bool has_matrix_ = false;
  bool has_exits_ = false;
  bool has_atom_ = false;
  bool has_stay_ = false;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_
