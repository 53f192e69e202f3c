// The random number generator Threefry-2x32 with 20 rounds, as JAX uses it.
//
// Reference: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel
//   random numbers: as easy as 1, 2, 3, SC 2011.

#ifndef PHASIC_NATIVE_XLA_THREEFRY_H_
#define PHASIC_NATIVE_XLA_THREEFRY_H_

#include <cstdint>

namespace phasic {

// A key, a counter or a block of random bits: the higher word, then the lower
// one.
struct Words {
  uint32_t high;
  uint32_t low;
};

inline uint32_t RotateLeft(uint32_t x, int count) {
  return x << count | x >> (32 - count);
}

// Returns the random bits of a counter.
inline Words Threefry(Words key, Words counter) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t keys[3] = {key.high, key.low,
                            key.high ^ key.low ^ 0x1BD11BDAU};
  uint32_t x = counter.high + keys[0];
  uint32_t y = counter.low + keys[1];
  for (uint32_t i = 0; i < 5; ++i) {
    for (const int rotation : kRotations[i % 2]) {
      x += y;
      y = RotateLeft(y, rotation) ^ x;
    }
    x += keys[(i + 1) % 3];
    y += keys[(i + 2) % 3] + i + 1;
  }
  return {x, y};
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_XLA_THREEFRY_H_
