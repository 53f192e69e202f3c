// The entry point for libFuzzer: checks one input, and aborts if a property
// fails.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "native/kernel/fuzz/checks.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string failure = phasic::fuzz::CheckBytes(data, size);
  if (!failure.empty()) {
    std::fprintf(stderr, "check failed: %s\n", failure.c_str());
    std::abort();
  }
  return 0;
}
