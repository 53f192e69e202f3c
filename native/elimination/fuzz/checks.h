// Checks properties that hold for every call of the elimination.

#ifndef PHASIC_NATIVE_ELIMINATION_FUZZ_CHECKS_H_
#define PHASIC_NATIVE_ELIMINATION_FUZZ_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace phasic {
namespace fuzz {

// Runs the call that the bytes describe in several ways. Returns a description
// of the property that fails, with the call, or "" if none fails.
std::string CheckSystemBytes(const uint8_t* data, size_t size);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FUZZ_CHECKS_H_
