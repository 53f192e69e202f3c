// The shapes of a call for moments, after checks.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_

#include "native/elimination/api/moments.h"
#include "native/elimination/batch/batch_layout.h"

namespace phasic {

class MomentsLayout : public BatchLayout {
 public:
  enum Operand {
    kWeights = kIndices + 1,
    kInitial,
    kAtom,
    kStay,
  };

  // Returns nullptr or a message.
  const char* Check(const MomentsCall& call, const MomentResults& mean,
                    const MomentResults& variance);

  bool has_atom() const { return has_atom_; }
  bool has_stay() const { return has_stay_; }

 private:
  using BatchLayout::Fits;
  bool Fits(const MomentsCall& call, const MomentResults& results) const;

  bool has_atom_ = false;
  bool has_stay_ = false;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_
