#include "native/kernel/matrix/accurate_product.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/tangent_product.h"
#include "native/kernel/runtime/parallel.h"
#include "native/kernel/runtime/thread_pool.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

using Integers = std::vector<int64_t>;

// Returns a matrix of random integers below 2^bits. Some rows and entries are
// zero.
Integers RandomIntegers(int64_t stride, int bits, uint64_t seed) {
  std::mt19937_64 random(seed);
  Integers result(static_cast<size_t>(stride * stride));
  for (size_t i = 0; i < result.size(); ++i) {
    const bool is_zero =
        random() % 4 == 0 || static_cast<int64_t>(i) / stride % 5 == 1;
    result[i] = is_zero ? 0 : static_cast<int64_t>(random() >> (64 - bits));
  }
  return result;
}

// Returns the matrix with zeros where is_zero(row, column) is true.
template <class IsZero>
Integers Without(Integers matrix, int64_t stride, const IsZero& is_zero) {
  for (int64_t i = 0; i < stride; ++i) {
    for (int64_t j = 0; j < stride; ++j) {
      if (is_zero(i, j)) matrix[static_cast<size_t>(i * stride + j)] = 0;
    }
  }
  return matrix;
}
Integers Upper(const Integers& matrix, int64_t stride) {
  return Without(matrix, stride, [](int64_t i, int64_t j) { return i > j; });
}
Integers Lower(const Integers& matrix, int64_t stride) {
  return Without(matrix, stride, [](int64_t i, int64_t j) { return i < j; });
}
Integers Band(const Integers& matrix, int64_t stride) {
  return Without(matrix, stride, [](int64_t i, int64_t j) {
    return j < i || j > i + 4 || i == 20;
  });
}

// Returns the threads that may help with a product: those of the pool if the
// product is large, otherwise none.
Executor* HelpersFor(int64_t stride) {
  return stride > 100 ? OwnThreads() : nullptr;
}

__int128 EntryOfProduct(const Integers& a, const Integers& b, int64_t stride,
                        int64_t i, int64_t j) {
  __int128 sum = 0;
  for (int64_t k = 0; k < stride; ++k) {
    sum += static_cast<__int128>(a[static_cast<size_t>(i * stride + k)]) *
           b[static_cast<size_t>(k * stride + j)];
  }
  return sum;
}

TEST(DenseProductTest, AddsTheProduct) {
  for (const int64_t stride : {16, 48, 112, 144}) {
    const Integers a = RandomIntegers(stride, 20, 1);
    const Integers b = RandomIntegers(stride, 20, 2);
    const std::vector<double> x(a.begin(), a.end());
    const std::vector<double> y(b.begin(), b.end());
    std::vector<double> sum(x.size(), 0.5);
    Workspace workspace(size_t{1} << 26);
    workspace.SetHelpers(HelpersFor(stride));
    DenseProduct<double> product;
    ASSERT_TRUE(product.Allocate(stride, &workspace));
    product.Add(x.data(), y.data(), sum.data());
    for (int64_t i = 0; i < stride; ++i) {
      for (int64_t j = 0; j < stride; ++j) {
        const auto exact =
            static_cast<double>(EntryOfProduct(a, b, stride, i, j));
        ASSERT_EQ(sum[static_cast<size_t>(i * stride + j)], exact + 0.5);
      }
    }
  }
}

// The products skip zero rows at the top and at the bottom of a panel of B.
TEST(DenseProductTest, SkipsZeros) {
  for (const int64_t stride : {8, 48, 112}) {
    const Integers a = RandomIntegers(stride, 20, 5);
    const Integers b = RandomIntegers(stride, 20, 6);
    const Integers zero(a.size(), 0);
    const Integers lefts[] = {a, Upper(a, stride), Lower(a, stride)};
    const Integers rights[] = {Upper(b, stride), Lower(b, stride),
                               Band(b, stride), zero};
    for (const Integers& left : lefts) {
      for (const Integers& right : rights) {
        const std::vector<double> x(left.begin(), left.end());
        const std::vector<double> y(right.begin(), right.end());
        std::vector<double> sum(x.size(), 0.5);
        Workspace workspace(size_t{1} << 26);
        DenseProduct<double> product;
        AccurateProduct accurate;
        ASSERT_TRUE(product.Allocate(stride, &workspace));
        ASSERT_TRUE(accurate.Allocate(stride, &workspace));
        product.Add(x.data(), y.data(), sum.data());
        AccurateNumbers numbers[3];
        for (AccurateNumbers& n : numbers) {
          ASSERT_TRUE(n.Allocate(stride * stride, &workspace));
        }
        std::copy(x.begin(), x.end(), numbers[0].high);
        std::copy(y.begin(), y.end(), numbers[1].high);
        // The product must overwrite these numbers.
        std::fill(numbers[2].high, numbers[2].high + stride * stride, 3.0);
        std::fill(numbers[2].low, numbers[2].low + stride * stride, 3.0);
        accurate.Multiply(numbers[0], numbers[1], numbers[2]);
        for (int64_t i = 0; i < stride; ++i) {
          for (int64_t j = 0; j < stride; ++j) {
            const auto exact =
                static_cast<double>(EntryOfProduct(left, right, stride, i, j));
            const auto cell = static_cast<size_t>(i * stride + j);
            ASSERT_EQ(sum[cell], exact + 0.5);
            ASSERT_EQ(numbers[2].high[cell], exact);
            ASSERT_EQ(numbers[2].low[cell], 0.0);
          }
        }
      }
    }
  }
}

TEST(DenseProductTest, ComputesSomeRows) {
  constexpr int64_t kStride = 48;
  const Integers a = RandomIntegers(kStride, 20, 1);
  const Integers b = RandomIntegers(kStride, 20, 2);
  const std::vector<double> x(a.begin(), a.end());
  const std::vector<double> y(b.begin(), b.end());
  std::vector<double> sum(x.size(), 0.0);
  Workspace workspace(size_t{1} << 26);
  DenseProduct<double> product;
  ASSERT_TRUE(product.Allocate(kStride, &workspace));
  product.AddRows(8, x.data(), y.data(), sum.data());
  for (int64_t i = 0; i < kStride; ++i) {
    for (int64_t j = 0; j < kStride; ++j) {
      const auto exact =
          static_cast<double>(EntryOfProduct(a, b, kStride, i, j));
      ASSERT_EQ(sum[static_cast<size_t>(i * kStride + j)], i < 8 ? exact : 0.0);
    }
  }
}

TEST(DenseProductTest, AddsTheProductAndItsTangents) {
  for (const int64_t stride : {16, 112}) {
    const Integers values[] = {RandomIntegers(stride, 20, 1),
                               RandomIntegers(stride, 20, 2)};
    const Integers tangents[] = {RandomIntegers(stride, 20, 3),
                                 RandomIntegers(stride, 20, 4)};
    std::vector<Dual<double>> factors[2];
    for (int f = 0; f < 2; ++f) {
      for (size_t i = 0; i < values[f].size(); ++i) {
        factors[f].emplace_back(static_cast<double>(values[f][i]),
                                static_cast<double>(tangents[f][i]));
      }
    }
    std::vector<Dual<double>> sum(factors[0].size(), {0.5, 0.25});
    Workspace workspace(size_t{1} << 26);
    workspace.SetHelpers(HelpersFor(stride));
    DenseProduct<Dual<double>> product;
    ASSERT_TRUE(product.Allocate(stride, &workspace));
    product.Add(factors[0].data(), factors[1].data(), sum.data());
    for (int64_t i = 0; i < stride; ++i) {
      for (int64_t j = 0; j < stride; ++j) {
        const Dual<double>& entry = sum[static_cast<size_t>(i * stride + j)];
        const auto exact = [&](const Integers& a, const Integers& b) {
          return static_cast<double>(EntryOfProduct(a, b, stride, i, j));
        };
        ASSERT_EQ(entry.value, 0.5 + exact(values[0], values[1]));
        ASSERT_EQ(entry.tangent, 0.25 + exact(tangents[0], values[1]) +
                                     exact(values[0], tangents[1]));
      }
    }
  }
}

TEST(DenseProductTest, NaNReachesItsOwnRowAlone) {
  constexpr int64_t kStride = 16;
  std::vector<Dual<double>> a(kStride * kStride, 1.0);
  const std::vector<Dual<double>> b(kStride * kStride, 1.0);
  std::vector<Dual<double>> sum(kStride * kStride, 0.0);
  a[2 * kStride + 3].tangent = std::nan("");
  Workspace workspace(size_t{1} << 26);
  DenseProduct<Dual<double>> product;
  ASSERT_TRUE(product.Allocate(kStride, &workspace));
  product.Add(a.data(), b.data(), sum.data());
  for (int64_t i = 0; i < kStride * kStride; ++i) {
    const auto cell = static_cast<size_t>(i);
    ASSERT_EQ(sum[cell].value, kStride);
    ASSERT_EQ(std::isnan(sum[cell].tangent), i / kStride == 2);
  }
}

TEST(AccurateProductTest, HasTwiceTheWorkingPrecision) {
  for (const int64_t stride : {16, 48, 112}) {
    // The entries have 60 bits, so that each is the sum of two doubles. Entries
    // of the product are below 2^127.
    const Integers a = RandomIntegers(stride, 60, 3);
    const Integers b = RandomIntegers(stride, 60, 4);
    Workspace workspace(size_t{1} << 26);
    workspace.SetHelpers(HelpersFor(stride));
    const int64_t count = stride * stride;
    AccurateNumbers x;
    AccurateNumbers y;
    AccurateNumbers z;
    AccurateProduct product;
    ASSERT_TRUE(x.Allocate(count, &workspace));
    ASSERT_TRUE(y.Allocate(count, &workspace));
    ASSERT_TRUE(z.Allocate(count, &workspace));
    ASSERT_TRUE(product.Allocate(stride, &workspace));
    const auto split = [](int64_t value, double* high, double* low) {
      *high = static_cast<double>(value);
      *low = static_cast<double>(value - static_cast<int64_t>(*high));
    };
    for (int64_t i = 0; i < count; ++i) {
      split(a[static_cast<size_t>(i)], x.high + i, x.low + i);
      split(b[static_cast<size_t>(i)], y.high + i, y.low + i);
    }
    product.Multiply(x, y, z);
    for (int64_t i = 0; i < stride; ++i) {
      for (int64_t j = 0; j < stride; ++j) {
        const __int128 exact = EntryOfProduct(a, b, stride, i, j);
        const int64_t cell = i * stride + j;
        const __int128 rest = exact - static_cast<__int128>(z.high[cell]) -
                              static_cast<__int128>(z.low[cell]);
        // The error of an entry must be at most 2^-99 of the entry.
        const double error = static_cast<double>(rest < 0 ? -rest : rest);
        ASSERT_LE(error, 0x1p-99 * static_cast<double>(exact));
        // The first of the two doubles must be the rounded sum.
        ASSERT_EQ(z.high[cell], z.high[cell] + z.low[cell]);
      }
    }
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
