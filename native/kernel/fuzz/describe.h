// Describes a case in text that reproduces it.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_DESCRIBE_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_DESCRIBE_H_

#include <string>

#include "native/kernel/fuzz/call_case.h"

namespace phasic {
namespace fuzz {

// Returns the call, and each input as `name [dims] = {values}`.
std::string Describe(const CallCase& c);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_DESCRIBE_H_
