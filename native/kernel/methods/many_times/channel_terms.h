// The terms of a series with tangents as separate sequences of doubles (values,
// tangents, sizes of tangents), for node_terms.h.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_CHANNEL_TERMS_H_
#define PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_CHANNEL_TERMS_H_

#include <cmath>
#include <cstdint>

#include "native/kernel/numbers/dual.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"

namespace phasic {
namespace PHASIC_ISA {

enum class TermPart { kValue, kTangent, kTangentSize };

class ChannelTerms {
 public:
  ChannelTerms(Channels<Dual<double>>* channels, int channel, TermPart part)
      : channels_(channels), channel_(channel), part_(part) {}

  bool Reserve(int64_t block) {
    StatusCode status = kOk;
    return channels_->Get(block, &status) != nullptr;
  }
  double Term(int64_t block, int j) const {
    const ChannelBlock<Dual<double>>& source = *channels_->Find(block);
    const Dual<double>& term = source.channels[channel_][j];
    const double part = part_ == TermPart::kValue ? term.value : term.tangent;
    const double plain = part / source.poisson->table[j];
    return part_ == TermPart::kTangentSize ? std::fabs(plain) : plain;
  }
  int64_t Exponent(int64_t block) const {
    return channels_->Find(block)->exponent;
  }

 private:
  Channels<Dual<double>>* channels_;
  int channel_;
  TermPart part_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_MANY_TIMES_CHANNEL_TERMS_H_
