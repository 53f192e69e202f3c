// Decodes a fuzzer's bytes as choices.

#ifndef PHASIC_NATIVE_KERNEL_FUZZ_BYTE_SOURCE_H_
#define PHASIC_NATIVE_KERNEL_FUZZ_BYTE_SOURCE_H_

#include <cstddef>
#include <cstdint>

namespace phasic {
namespace fuzz {

// Reads the bytes of an input one by one, and returns zeros after the last
// byte. So the byte zero should stand for the simplest choice.
class ByteSource {
 public:
  ByteSource(const uint8_t* data, size_t size) : data_(data), size_(size) {}

  bool empty() const { return used_ >= size_; }
  uint8_t Byte() { return empty() ? 0 : data_[used_++]; }
  bool Flag() { return Byte() % 2 == 1; }

  // Returns true with probability of about 1 / count for a random byte, and
  // false for the byte zero.
  bool OneIn(int count) { return Byte() % count == count - 1; }

  // Returns an integer from 0 to limit - 1, for limits up to 256.
  int32_t Below(int32_t limit) { return Byte() % limit; }

  uint64_t Word() {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= uint64_t{Byte()} << (8 * i);
    return word;
  }

 private:
  const uint8_t* data_;
  size_t size_;
  size_t used_ = 0;
};

// The random number generator SplitMix64 of G. L. Steele, D. Lea, C. H. Flood,
// Fast splittable pseudorandom number generators, OOPSLA 2014. It fills arrays
// from one seed, so that a short input defines a whole model.
class Generator {
 public:
  explicit Generator(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
  }
  // Returns a uniform random number in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  double Uniform(double low, double high) {
    return low + (high - low) * Uniform();
  }
  bool Chance(double probability) { return Uniform() < probability; }

 private:
  uint64_t state_;
};

}  // namespace fuzz
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_FUZZ_BYTE_SOURCE_H_
