// Compares batches with calls on single entries, bit by bit. The entries of a
// batch differ in their tangents, and in some tests also in operands.

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/runtime/thread_pool.h"

namespace phasic {
namespace {

constexpr int64_t kPhases = 5;
constexpr int64_t kModels = 3;
constexpr int64_t kDirections = 11;

struct Array {
  std::vector<int64_t> dims;
  std::vector<double> data;
};

class DirectionBatchesTest : public testing::Test {
 protected:
  Array Random(bool by_model, bool by_direction, std::vector<int64_t> event,
               double low) {
    Array result;
    result.dims = {by_model ? kModels : 1, by_direction ? kDirections : 1};
    result.dims.insert(result.dims.end(), event.begin(), event.end());
    int64_t size = 1;
    for (const int64_t dim : result.dims) size *= dim;
    std::uniform_real_distribution<> uniform(low, 1.0);
    for (int64_t i = 0; i < size; ++i) result.data.push_back(uniform(random_));
    return result;
  }

  // Returns the array of one entry of a batch.
  static Array Entry(const Array& x, int64_t model, int64_t direction) {
    Array result = {x.dims, {}};
    result.dims[0] = result.dims[1] = 1;
    const int64_t size =
        static_cast<int64_t>(x.data.size()) / (x.dims[0] * x.dims[1]);
    const int64_t place = (x.dims[0] > 1 ? model : 0) * x.dims[1] +
                          (x.dims[1] > 1 ? direction : 0);
    result.data.assign(x.data.begin() + place * size,
                       x.data.begin() + (place + 1) * size);
    return result;
  }

  template <class F>
  static std::vector<F> Forward(const Call& call,
                                const std::vector<Array>& arrays) {
    std::vector<std::vector<F>> data;
    std::vector<Input> inputs;
    std::vector<Shape> shapes;
    for (const Array& array : arrays) {
      data.emplace_back(array.data.begin(), array.data.end());
    }
    for (size_t i = 0; i < arrays.size(); ++i) {
      const auto rank = static_cast<int32_t>(arrays[i].dims.size());
      shapes.push_back({arrays[i].dims.data(), rank});
      inputs.push_back({data[i].data(), shapes[i]});
    }
    int64_t dims[kMaxRank];
    int32_t rank = 0;
    const auto count = static_cast<int32_t>(inputs.size());
    const char* error = ForwardShape(call, shapes.data(), count, dims, &rank);
    EXPECT_EQ(error, nullptr) << error;
    int64_t size = 1;
    for (int32_t axis = 0; axis < rank; ++axis) size *= dims[axis];
    std::vector<F> result(size);
    error = phasic::Forward(call, inputs.data(), count,
                            {result.data(), {dims, rank}}, OwnThreads());
    EXPECT_EQ(error, nullptr) << error;
    return result;
  }

  template <class F>
  void Compare(Precision precision, uint32_t by_model, uint32_t by_direction) {
    const std::vector<int64_t> events[] = {
        {kPhases}, {kPhases, kPhases}, {kPhases}, {1}, {num_times_}};
    std::vector<Array> arrays;
    for (int i = 0; i < kNumOperands; ++i) {
      arrays.push_back(Random((by_model >> i & 1) != 0,
                              (by_direction >> i & 1) != 0, events[i], 0.1));
    }
    for (double& x : arrays[0].data) x /= kPhases;
    for (double& x : arrays[4].data) x *= 4.0;
    for (int i = 0; i < kNumOperands; ++i) {
      arrays.push_back(Random(true, true, events[i], -1.0));
      if (has_any_size_) ScaleDirections(&arrays.back().data);
    }
    const Call call = {static_cast<int32_t>(by_direction % kNumKinds), 1, 2,
                       precision};
    const std::vector<F> together = Forward<F>(call, arrays);
    for (int64_t m = 0; m < kModels; ++m) {
      for (int64_t l = 0; l < kDirections; ++l) {
        std::vector<Array> entry;
        for (const Array& array : arrays) entry.push_back(Entry(array, m, l));
        const std::vector<F> alone = Forward<F>(call, entry);
        const F* row = together.data() + (m * kDirections + l) * num_times_;
        ASSERT_EQ(std::memcmp(row, alone.data(), num_times_ * sizeof(F)), 0)
            << "model " << m << ", direction " << l;
        for (const F x : alone) ASSERT_TRUE(std::isfinite(x));
      }
    }
  }

  // Multiplies the tangents of each direction by a different power of two.
  static void ScaleDirections(std::vector<double>* tangents) {
    const int64_t size =
        static_cast<int64_t>(tangents->size()) / (kModels * kDirections);
    for (int64_t i = 0; i < kModels * kDirections * size; ++i) {
      const int64_t direction = i / size % kDirections;
      (*tangents)[i] =
          std::ldexp((*tangents)[i], static_cast<int>(150 * (direction - 5)));
    }
  }

  std::mt19937 random_{1};
  int64_t num_times_ = 7;
  bool has_any_size_ = false;
};

TEST_F(DirectionBatchesTest, EveryMappingOfOperands) {
  constexpr uint32_t kAll = 1U << kNumOperands;
  for (uint32_t by_direction = 0; by_direction < kAll; ++by_direction) {
    for (const uint32_t by_model : {0U, kAll - 1, by_direction ^ (kAll - 1)}) {
      SCOPED_TRACE(std::to_string(by_model) + ", " +
                   std::to_string(by_direction));
      Compare<double>(Precision::kFloat64, by_model, by_direction);
      Compare<float>(Precision::kFloat32, by_model, by_direction);
    }
  }
}

// Small models with one time each are evaluated in lanes.
TEST_F(DirectionBatchesTest, OneTime) {
  num_times_ = 1;
  constexpr uint32_t kAll = 1U << kNumOperands;
  for (uint32_t by_direction = 0; by_direction < kAll; ++by_direction) {
    SCOPED_TRACE(by_direction);
    Compare<double>(Precision::kFloat64, 0, by_direction);
    Compare<float>(Precision::kFloat32, kAll - 1, by_direction);
  }
}

TEST_F(DirectionBatchesTest, DirectionsOfAnySize) {
  has_any_size_ = true;
  for (uint32_t kind = 0; kind < kNumKinds; ++kind) {
    Compare<double>(Precision::kFloat64, 0, kind);
  }
  num_times_ = 700;
  Compare<double>(Precision::kFloat64, 0, 0);
}

// With this many times, most are evaluated with shared expansion points, and
// then for one direction at a time.
TEST_F(DirectionBatchesTest, ManyTimes) {
  num_times_ = 700;
  Compare<double>(Precision::kFloat64, 0, 0);
  for (uint32_t kind = 0; kind < kNumKinds; ++kind) {
    Compare<double>(Precision::kFloat64, 0, kind);
  }
}

TEST_F(DirectionBatchesTest, Threads) {
  const int before = MaxThreads();
  ASSERT_TRUE(SetMaxThreads(3));
  Compare<double>(Precision::kFloat64, 0, 0);
  Compare<double>(Precision::kFloat64, kAllOperands, 0);
  EXPECT_TRUE(SetMaxThreads(before));
}

// Checks the derivative of log(rate exp(-rate t)) with respect to the rate,
// times each direction's tangent.
TEST_F(DirectionBatchesTest, AnExponentialTime) {
  const double rate = 1.5;
  std::vector<Array> arrays = {{{1, 1}, {1.0}},
                               {{1, 1, 1}, {-rate}},
                               {{1, 0}, {}},
                               {{1, 0}, {}},
                               {{1, 2}, {0.25, 3.0}}};
  const std::vector<double> zeros(2 * kDirections, 0.0);
  Array tangents = {{kDirections, 1, 1}, {}};
  for (int64_t l = 0; l < kDirections; ++l) {
    tangents.data.push_back(-static_cast<double>(l));
  }
  arrays.push_back({{kDirections, 1}, {zeros.begin(), zeros.begin() + 11}});
  arrays.push_back(tangents);
  arrays.push_back({{kDirections, 0}, {}});
  arrays.push_back({{kDirections, 0}, {}});
  arrays.push_back({{kDirections, 2}, zeros});
  const Call call = {static_cast<int32_t>(Kind::kLogDensity), 1, 1,
                     Precision::kFloat64};
  const std::vector<double> slopes = Forward<double>(call, arrays);
  for (int64_t l = 0; l < kDirections; ++l) {
    for (int i = 0; i < 2; ++i) {
      const double truth = 1.0 / rate - arrays[4].data[i];
      EXPECT_NEAR(slopes[2 * l + i], static_cast<double>(l) * truth, 1e-13);
    }
  }
}

}  // namespace
}  // namespace phasic
