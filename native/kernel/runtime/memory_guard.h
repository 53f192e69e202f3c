// Marks unused parts of a memory block as inaccessible for AddressSanitizer.
// Without it both functions do nothing.

#ifndef PHASIC_NATIVE_KERNEL_RUNTIME_MEMORY_GUARD_H_
#define PHASIC_NATIVE_KERNEL_RUNTIME_MEMORY_GUARD_H_

#include <cstddef>
#include <cstring>

#if defined(__SANITIZE_ADDRESS__)
#define PHASIC_GUARDS_MEMORY
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PHASIC_GUARDS_MEMORY
#endif
#endif

#if defined(PHASIC_GUARDS_MEMORY)
#include <sanitizer/asan_interface.h>
#endif

namespace phasic {

#if defined(PHASIC_GUARDS_MEMORY)
constexpr bool kGuardsMemory = true;

// Forbids access to the memory until OpenMemory allows it.
inline void CloseMemory(void* start, size_t bytes) {
  __asan_poison_memory_region(start, bytes);
}
// Allows access to the memory and fills it with a pattern that changes with
// each call, so that results which depend on uninitialized memory are not
// reproducible.
inline void OpenMemory(void* start, size_t bytes) {
  static thread_local unsigned char pattern = 0;
  __asan_unpoison_memory_region(start, bytes);
  std::memset(start, pattern += 37, bytes);
}
#else
constexpr bool kGuardsMemory = false;

inline void CloseMemory(void*, size_t) {}
inline void OpenMemory(void*, size_t) {}
#endif

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_RUNTIME_MEMORY_GUARD_H_
