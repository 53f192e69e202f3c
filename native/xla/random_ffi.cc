// The XLA FFI handler that draws exponential random numbers, for JAX on CPU.
//
// The operand is a batch of Threefry keys, uint32 [batch..., 2]. The attribute
// `path` has the integers that are folded into each key first, in their order.
// The result, [batch..., n], has the numbers that jax.random.exponential draws
// for these keys, up to the rounding of the logarithm. JAX compiles its own
// generator for most of a second, and a call of this handler in milliseconds.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "native/kernel/runtime/parallel.h"
#include "native/xla/buffers.h"
#include "native/xla/targets.h"
#include "native/xla/threefry.h"
#include "native/xla/xla_threads.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;
using phasic::Threefry;
using phasic::ToError;
using phasic::Words;

// Returns a number in [0, 1) from a block of random bits, as JAX does.
double Uniform(Words bits, double /*like*/) {
  const uint64_t all = uint64_t{bits.high} << 32 | bits.low;
  const uint64_t one = 0x3FF0000000000000;
  const uint64_t image = all >> 12 | one;
  double x;
  std::memcpy(&x, &image, sizeof(x));
  return x - 1.0;
}
float Uniform(Words bits, float /*like*/) {
  const uint32_t all = bits.high ^ bits.low;
  const uint32_t image = all >> 9 | 0x3F800000U;
  float x;
  std::memcpy(&x, &image, sizeof(x));
  return x - 1.0F;
}

template <class F>
void Draw(Words key, int64_t first, int64_t last, F* results) {
  for (int64_t i = first; i < last; ++i) {
    const auto number = static_cast<uint64_t>(i);
    const Words counter = {static_cast<uint32_t>(number >> 32),
                           static_cast<uint32_t>(number)};
    results[i] = -std::log1p(-Uniform(Threefry(key, counter), F()));
  }
}

ffi::Error Exponential(ffi::ThreadPool pool, ffi::Span<const int64_t> path,
                       ffi::Buffer<ffi::DataType::U32> keys,
                       ffi::Result<ffi::AnyBuffer> result) {
  const auto key_dims = keys.dimensions();
  const auto dims = result->dimensions();
  if (key_dims.size() == 0 || key_dims.size() != dims.size() ||
      key_dims.back() != 2 ||
      !std::equal(key_dims.begin(), key_dims.end() - 1, dims.begin())) {
    return ToError(
        "exponential: keys must be [batch..., 2] for results "
        "[batch..., n]");
  }
  const bool is_single = result->element_type() == ffi::DataType::F32;
  if (!is_single && result->element_type() != ffi::DataType::F64) {
    return ToError("exponential: results are neither float32 nor float64");
  }
  const auto count = static_cast<int64_t>(keys.element_count() / 2);
  const int64_t n = dims.back();
  const uint32_t* words = keys.typed_data();
  // Numbers are drawn in chunks, which threads share.
  constexpr int64_t kChunk = int64_t{1} << 14;
  const int64_t chunks = (n + kChunk - 1) / kChunk;
  phasic::XlaThreads threads(pool);
  const auto draw = [&](int64_t chunk) -> const char* {
    const int64_t row = chunk / chunks;
    const int64_t first = chunk % chunks * kChunk;
    const int64_t last = std::min(n, first + kChunk);
    Words key = {words[2 * row], words[2 * row + 1]};
    for (const int64_t data : path) {
      key = Threefry(key, {0, static_cast<uint32_t>(data)});
    }
    if (is_single) {
      Draw(key, first, last,
           static_cast<float*>(result->untyped_data()) + row * n);
    } else {
      Draw(key, first, last,
           static_cast<double*>(result->untyped_data()) + row * n);
    }
    return nullptr;
  };
  const int64_t all = count * chunks;
  if (all > 1 && count * n >= kChunk) {
    return ToError(phasic::ParallelFor(&threads, all, draw));
  }
  for (int64_t chunk = 0; chunk < all; ++chunk) draw(chunk);
  return ffi::Error::Success();
}

XLA_FFI_DEFINE_HANDLER(kExponential, Exponential,
                       ffi::Ffi::Bind()
                           .Ctx<ffi::ThreadPool>()
                           .Attr<ffi::Span<const int64_t>>("path")
                           .Arg<ffi::Buffer<ffi::DataType::U32>>()
                           .Ret<ffi::AnyBuffer>());

const phasic::FfiRegistration kRegisteredExponential("phasic_exponential",
                                                     kExponential);

}  // namespace
