// The shapes of a call for moments, once they have been checked.

#ifndef PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_
#define PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_

#include "native/elimination/api/moments.h"
#include "native/elimination/batch/batch_layout.h"

namespace phasic {

class MomentsLayout : public BatchLayout {
 public:
  enum Operand {
    kParameters = kIndices + 1,
    kCoefficients,
    kConstants,
    kInitial,
    kAtom,
    kStay,
  };

  // Returns nullptr or a message.
  const char* Check(const MomentsCall& call, const MomentResults& mean,
                    const MomentResults& variance);

  int64_t num_parameters() const { return num_parameters_; }
  bool has_coefficients() const { return has_coefficients_; }
  bool has_constants() const { return has_constants_; }
  bool has_atom() const { return has_atom_; }
  bool has_stay() const { return has_stay_; }

 private:
  using BatchLayout::Fits;
  bool Fits(const MomentsCall& call, const MomentResults& results) const;

  int64_t num_parameters_ = 0;
  bool has_coefficients_ = false;
  bool has_constants_ = false;
  bool has_atom_ = false;
  bool has_stay_ = false;
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_MOMENTS_MOMENTS_LAYOUT_H_
