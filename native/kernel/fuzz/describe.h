// Describes a call as text from which it can be reproduced.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_DESCRIBE_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_DESCRIBE_H_

#include <string>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns a text with the call's arguments, and each input as `name [dims] =
// {values}`.
std::string Describe(const CallCase& c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_DESCRIBE_H_
