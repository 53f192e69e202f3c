// The arrays that cross the interface of a library, as plain data.

#ifndef PHASIC_OP_BUFFER_H_
#define PHASIC_OP_BUFFER_H_

#include <complex>
#include <cstdint>

#if defined(__CUDACC__)
#define PHASIC_HOST_DEVICE __host__ __device__
#else
#define PHASIC_HOST_DEVICE
#endif

namespace phasic {

// The numbers are part of the interface: Python uses the same numbers.
enum class Type : int32_t {
  kNone = 0,
  kBool = 1,
  kInt8 = 2,
  kInt16 = 3,
  kInt32 = 4,
  kInt64 = 5,
  kUint8 = 6,
  kUint16 = 7,
  kUint32 = 8,
  kUint64 = 9,
  kFloat16 = 10,
  kBfloat16 = 11,
  kFloat32 = 12,
  kFloat64 = 13,
  kComplex64 = 14,
  kComplex128 = 15,
};

inline constexpr const char* kTypeNames[] = {
    "none",    "bool",    "int8",      "int16",     "int32",   "int64",
    "uint8",   "uint16",  "uint32",    "uint64",    "float16", "bfloat16",
    "float32", "float64", "complex64", "complex128"};
inline constexpr int kNumTypes = 16;

inline const char* TypeName(Type type) {
  const auto index = static_cast<int32_t>(type);
  return kTypeNames[index >= 0 && index < kNumTypes ? index : 0];
}

// The Type of a C++ type. Half precision is represented by the bits in a
// uint16_t, as C++17 has no type for it.
template <class T>
inline constexpr Type kTypeOf = Type::kNone;
template <>
inline constexpr Type kTypeOf<bool> = Type::kBool;
template <>
inline constexpr Type kTypeOf<int8_t> = Type::kInt8;
template <>
inline constexpr Type kTypeOf<int16_t> = Type::kInt16;
template <>
inline constexpr Type kTypeOf<int32_t> = Type::kInt32;
template <>
inline constexpr Type kTypeOf<int64_t> = Type::kInt64;
template <>
inline constexpr Type kTypeOf<uint8_t> = Type::kUint8;
template <>
inline constexpr Type kTypeOf<uint16_t> = Type::kUint16;
template <>
inline constexpr Type kTypeOf<uint32_t> = Type::kUint32;
template <>
inline constexpr Type kTypeOf<uint64_t> = Type::kUint64;
template <>
inline constexpr Type kTypeOf<float> = Type::kFloat32;
template <>
inline constexpr Type kTypeOf<double> = Type::kFloat64;
template <>
inline constexpr Type kTypeOf<std::complex<float>> = Type::kComplex64;
template <>
inline constexpr Type kTypeOf<std::complex<double>> = Type::kComplex128;

// A dense array in row-major order. The layout is part of the interface.
struct Buffer {
  void* data;
  const int64_t* dims;
  int32_t rank;
  Type type;
};

inline constexpr int kMaxOperands = 24;  // inputs, and also outputs
inline constexpr int kMaxBatchRank = 8;
inline constexpr int kMaxDims = 24;  // names of dimensions in a declaration

// The positions in the inputs of a batch's elements, called examples, for loops
// other than ForEach and for GPUs. Sizes are those of the broadcast batch;
// strides count elements of an array, and are 0 where an input is broadcast.
struct Layout {
  int32_t rank;
  int32_t num_inputs;
  int64_t num_examples;
  int64_t sizes[kMaxBatchRank];
  int64_t strides[kMaxOperands][kMaxBatchRank];

  // Returns the offset of an example in an input. Examples of outputs are
  // contiguous.
  PHASIC_HOST_DEVICE int64_t InputOffset(int input, int64_t example) const {
    int64_t offset = 0;
    for (int axis = rank - 1; axis >= 0; --axis) {
      offset += (example % sizes[axis]) * strides[input][axis];
      example /= sizes[axis];
    }
    return offset;
  }
};

}  // namespace phasic

#endif  // PHASIC_OP_BUFFER_H_
