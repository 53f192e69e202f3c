// Checks properties that hold for every call of the elimination.

#ifndef PHASIC_NATIVE_ELIMINATION_FUZZ_CHECKS_H_
#define PHASIC_NATIVE_ELIMINATION_FUZZ_CHECKS_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace phasic {
namespace fuzz {

// Decodes a call from the bytes and checks its results. Returns a description
// of the property that fails, followed by the call, or "" if all properties
// hold.
std::string CheckSystemBytes(const uint8_t* data, size_t size);

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_ELIMINATION_FUZZ_CHECKS_H_
