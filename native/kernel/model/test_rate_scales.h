// Models for tests, with rates of any size, and calls that compute all their
// derivatives.

#ifndef PHASIC_NATIVE_KERNEL_MODEL_TEST_RATE_SCALES_H_
#define PHASIC_NATIVE_KERNEL_MODEL_TEST_RATE_SCALES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "native/kernel/api/phase_type.h"
#include "native/kernel/api/shapes.h"

namespace phasic {

struct Array {
  std::vector<int64_t> dims;
  std::vector<double> data;
};
using Arrays = std::vector<Array>;
using Numbers = std::vector<double>;

enum class Form { kExitsGiven, kExitsDerived, kEdges, kParameters };

// Models that share their structure, and calls on them.
struct Models {
  Form form;
  int64_t phases;
  int64_t count;
  int64_t times;
  Arrays operands;
  std::vector<int32_t> indices;  // of edges
  Numbers constants;
  Numbers coefficients;
  std::vector<int32_t> kinds;

  int64_t num_edges() const { return static_cast<int64_t>(indices.size()) / 2; }
};

// Returns `count` random models with the same edges: from each phase to the
// next one, and to some of the other phases. Rates are from 2^-spread to one.
inline Models Draw(Form form, int64_t p, int64_t count, int64_t times,
                   double spread) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Models m = {form, p, count, times, {}, {}, {}, {}, {}};
  const bool has_edges = form == Form::kEdges || form == Form::kParameters;
  std::vector<bool> is_edge(p * (p + 1));
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j <= p; ++j) {
      is_edge[i * (p + 1) + j] =
          j == i + 1 || (j != i && uniform(random) < 0.3);
    }
  }
  for (int row = 0; has_edges && row < 2; ++row) {
    for (int64_t e = 0; e < p * (p + 1); ++e) {
      if (!is_edge[e]) continue;
      m.indices.push_back(
          static_cast<int32_t>(row == 0 ? e / (p + 1) : e % (p + 1)));
    }
  }
  Array starts = {{count, p}, {}};
  Array rates = {{count, p, p}, {}};
  Array exits = {{count, p}, {}};
  Array ends = {{count, times}, {}};
  for (int64_t l = 0; l < count; ++l) {
    for (int64_t i = 0; i < p; ++i) {
      starts.data.push_back(0.5 * uniform(random) / static_cast<double>(p));
      double sum = 0.0;
      for (int64_t j = 0; j <= p; ++j) {
        const double rate = is_edge[i * (p + 1) + j]
                                ? std::exp2(-spread * uniform(random))
                                : 0.0;
        sum += rate;
        (j == p ? exits : rates).data.push_back(rate);
      }
      if (form == Form::kExitsDerived) rates.data[(l * p + i) * p + i] = -sum;
    }
    Numbers row;
    for (int64_t n = 0; n < times; ++n) {
      row.push_back(std::exp2(12.0 * uniform(random) - 8.0));
    }
    std::sort(row.begin(), row.end());
    ends.data.insert(ends.data.end(), row.begin(), row.end());
  }
  if (has_edges) {
    rates = {{count, form == Form::kEdges ? m.num_edges() : 2}, {}};
    exits = {{count, 0}, {}};
    for (int64_t n = 0; n < count * rates.dims[1]; ++n) {
      rates.data.push_back(std::exp2(-spread * uniform(random)));
    }
    for (int64_t e = 0; form == Form::kParameters && e < m.num_edges(); ++e) {
      m.constants.push_back(0.1);
      for (int c = 0; c < 2; ++c) m.coefficients.push_back(uniform(random));
    }
  } else if (form == Form::kExitsDerived) {
    exits = {{count, 0}, {}};
  }
  m.operands = {starts,
                rates,
                exits,
                {{count, 1}, Numbers(static_cast<size_t>(count), 0.25)},
                ends};
  return m;
}

// Multiplies rates by 2^exponent and divides times by it.
inline void ScaleOperands(int exponent, Arrays* arrays) {
  for (size_t n = 0; n < arrays->size(); ++n) {
    const int operand = static_cast<int>(n) % kNumOperands;
    const int sign = operand == kSubgenerator || operand == kExitRates ? 1
                     : operand == kTimes                               ? -1
                                                                       : 0;
    for (double& x : (*arrays)[n].data) x = std::ldexp(x, sign * exponent);
  }
}
inline Models Scaled(Models m, int exponent) {
  ScaleOperands(exponent, &m.operands);
  for (double& x : m.constants) x = std::ldexp(x, exponent);
  return m;
}

// Computes derivatives of one function of the models, given by its kind.
class Calls {
 public:
  Calls(const Models& models, Kind kind) : models_(models), kind_(kind) {}

  // Returns random tangents: each is its operand times a number from -1 to 1.
  Arrays Tangents(int seed) const {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    Arrays tangents = models_.operands;
    for (Array& x : tangents) {
      for (double& number : x.data) number *= uniform(random);
    }
    return tangents;
  }
  Numbers Forward(int32_t order) {
    Numbers result(static_cast<size_t>(models_.count * models_.times));
    const int64_t dims[] = {models_.count, models_.times};
    const Arrays arrays = WithTangents(order);
    const std::vector<Input> inputs = AsInputs(arrays);
    const char* error = phasic::Forward(MakeCall(order), inputs.data(),
                                        static_cast<int32_t>(inputs.size()),
                                        {result.data(), {dims, 2}});
    EXPECT_EQ(error, nullptr) << error;
    return result;
  }
  std::vector<Numbers> Adjoint(int32_t order) {
    Arrays arrays = WithTangents(order - 1);
    arrays.push_back(Weights());
    Arrays results(arrays.begin(), arrays.begin() + kNumOperands);
    const std::vector<Input> inputs = AsInputs(arrays);
    const std::vector<Output> outputs = AsOutputs(&results);
    const char* error = phasic::Adjoint(MakeCall(order), inputs.data(),
                                        static_cast<int32_t>(inputs.size()),
                                        outputs.data(), kNumOperands);
    EXPECT_EQ(error, nullptr) << error;
    return DataOf(results);
  }
  std::vector<Numbers> Statistics() {
    Arrays arrays = models_.operands;
    arrays.push_back(Weights());
    const int64_t p = models_.phases;
    const int64_t count = models_.count;
    Arrays results = {{{count, p}, {}},
                      {{count, p}, {}},
                      {{count, p, p}, {}},
                      {{count, p}, {}},
                      {{count, 1}, {}}};
    if (models_.num_edges() > 0) results[2].dims = {count, models_.num_edges()};
    for (Array& x : results) {
      int64_t size = 1;
      for (const int64_t dim : x.dims) size *= dim;
      x.data.resize(static_cast<size_t>(size));
    }
    const std::vector<Input> inputs = AsInputs(arrays);
    const std::vector<Output> outputs = AsOutputs(&results);
    const char* error = phasic::Statistics(MakeCall(1), inputs.data(),
                                           static_cast<int32_t>(inputs.size()),
                                           outputs.data(), kNumStatistics);
    EXPECT_EQ(error, nullptr) << error;
    return DataOf(results);
  }

 private:
  static std::vector<Input> AsInputs(const Arrays& arrays) {
    std::vector<Input> inputs;
    for (const Array& x : arrays) {
      inputs.push_back({x.data.data(),
                        {x.dims.data(), static_cast<int32_t>(x.dims.size())}});
    }
    return inputs;
  }
  static std::vector<Output> AsOutputs(Arrays* arrays) {
    std::vector<Output> outputs;
    for (Array& x : *arrays) {
      outputs.push_back({x.data.data(),
                         {x.dims.data(), static_cast<int32_t>(x.dims.size())}});
    }
    return outputs;
  }
  static std::vector<Numbers> DataOf(const Arrays& arrays) {
    std::vector<Numbers> data;
    for (const Array& x : arrays) data.push_back(x.data);
    return data;
  }
  Arrays WithTangents(int32_t order) const {
    Arrays arrays = models_.operands;
    for (int32_t n = 0; n < order; ++n) {
      const Arrays tangents = Tangents(n);
      arrays.insert(arrays.end(), tangents.begin(), tangents.end());
    }
    return arrays;
  }
  Array Weights() const {
    Array weights = models_.operands[kTimes];
    for (size_t i = 0; i < weights.data.size(); ++i) {
      weights.data[i] = 0.5 + static_cast<double>(i % 7);
    }
    return weights;
  }
  Call MakeCall(int32_t order) {
    Call call = {static_cast<int32_t>(kind_), order, 0, Precision::kFloat64};
    if (models_.num_edges() > 0) {
      const auto of = [](const double* data, const int64_t* dims, int rank) {
        return Input{data, {dims, rank}};
      };
      const int64_t m = models_.num_edges();
      const int64_t d = models_.coefficients.empty() ? 0 : 2;
      for (const int64_t x : {int64_t{1}, int64_t{2}, m}) dims_.push_back(x);
      for (const int64_t x : {int64_t{1}, d > 0 ? m : 0}) dims_.push_back(x);
      for (const int64_t x : {int64_t{1}, m, d}) dims_.push_back(x);
      edges_ = {{models_.indices.data(), {dims_.data(), 3}},
                of(models_.constants.data(), dims_.data() + 3, 2),
                of(models_.coefficients.data(), dims_.data() + 5, 3)};
      call.edges = &edges_;
    }
    if (!models_.kinds.empty()) {
      kind_dims_ = {1, models_.times};
      kinds_ = {models_.kinds.data(), {kind_dims_.data(), 2}};
      call.kinds = &kinds_;
    }
    return call;
  }

  const Models& models_;
  const Kind kind_;
  std::vector<int64_t> dims_;
  std::vector<int64_t> kind_dims_;
  Edges edges_ = {};
  Input kinds_ = {};
};

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_MODEL_TEST_RATE_SCALES_H_
