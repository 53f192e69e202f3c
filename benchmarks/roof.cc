// Measures the peak performance of one core: fused multiply-adds, and loads
// from the cache level that holds a buffer of some size. Vectors have the
// machine's width, which is chosen at run time.

#include <cstdint>

namespace {

// Independent sums: enough to hide the latency of two units of depth five.
constexpr int kSums = 12;

// A macro, because target attributes do not apply inside templates.
#define ROOFS(NAME, TARGET, WIDTH)                                           \
  TARGET double NAME##Fma(int64_t rounds) {                                  \
    typedef double Vector __attribute__((vector_size(8 * WIDTH)));           \
    volatile double source = 0.999;                                          \
    const Vector factor = Vector{} + source;                                 \
    Vector sums[kSums];                                                      \
    for (int l = 0; l < kSums; ++l) sums[l] = Vector{} + source * l;         \
    for (int64_t k = 0; k < rounds; ++k) {                                   \
      for (int l = 0; l < kSums; ++l) sums[l] = sums[l] * factor + factor;   \
    }                                                                        \
    Vector sum = sums[0];                                                    \
    for (int l = 1; l < kSums; ++l) sum += sums[l];                          \
    double result = 0.0;                                                     \
    for (int l = 0; l < WIDTH; ++l) result += sum[l];                        \
    return result;                                                           \
  }                                                                          \
  TARGET double NAME##Load(const double* data, int64_t count,                \
                           int64_t rounds) {                                 \
    typedef double Vector                                                    \
        __attribute__((vector_size(8 * WIDTH), aligned(8), may_alias));      \
    Vector sums[8] = {};                                                     \
    for (int64_t k = 0; k < rounds; ++k) {                                   \
      for (int64_t i = 0; i + 8 * WIDTH <= count; i += 8 * WIDTH) {          \
        for (int l = 0; l < 8; ++l) {                                        \
          sums[l] += *reinterpret_cast<const Vector*>(data + i + l * WIDTH); \
        }                                                                    \
      }                                                                      \
      /* The compiler must not see that passes read the same. */             \
      __asm__ volatile("" : "+r"(data));                                     \
    }                                                                        \
    Vector sum = sums[0];                                                    \
    for (int l = 1; l < 8; ++l) sum += sums[l];                              \
    double result = 0.0;                                                     \
    for (int l = 0; l < WIDTH; ++l) result += sum[l];                        \
    return result;                                                           \
  }

ROOFS(Plain, , 2)
#if defined(__x86_64__)
ROOFS(V3, __attribute__((target("avx2,fma"))), 4)
ROOFS(V4, __attribute__((target("avx512f"))), 8)
#endif

}  // namespace

#define ROOF_EXPORT extern "C" __attribute__((visibility("default")))

// Returns the number of doubles in the widest vector of this processor.
ROOF_EXPORT int32_t roof_width() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return 8;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return 4;
#endif
  return 2;
}

// Returns the number of scalar multiply-adds in a round of roof_fma.
ROOF_EXPORT int32_t roof_fma_per_round() { return kSums * roof_width(); }

ROOF_EXPORT double roof_fma(int64_t rounds) {
#if defined(__x86_64__)
  if (roof_width() == 8) return V4Fma(rounds);
  if (roof_width() == 4) return V3Fma(rounds);
#endif
  return PlainFma(rounds);
}

// Reads `count` doubles, a multiple of 64, `rounds` times.
ROOF_EXPORT double roof_load(const double* data, int64_t count,
                             int64_t rounds) {
#if defined(__x86_64__)
  if (roof_width() == 8) return V4Load(data, count, rounds);
  if (roof_width() == 4) return V3Load(data, count, rounds);
#endif
  return PlainLoad(data, count, rounds);
}
