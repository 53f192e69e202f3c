// Compares moments and gradients with those computed by other methods, and
// tests which calls are refused.

#include "native/elimination/api/moments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "native/elimination/moments/test_models.h"

namespace phasic {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The mean and variance that ByIteration computes by iterating x = 1 + P x, in
// long doubles.
struct Moments {
  long double mean = 0.0L;
  long double variance = 0.0L;
};

Moments ByIteration(const Model& model) {
  const auto p = static_cast<size_t>(model.num_phases);
  std::vector<long double> leaving(p, 0.0L);
  for (size_t e = 0; e < model.sources.size(); ++e) {
    if (model.sources[e] == model.targets[e]) continue;
    leaving[static_cast<size_t>(model.sources[e])] +=
        static_cast<long double>(model.weights[e]);
  }
  const auto solve = [&](const std::vector<long double>& b) {
    std::vector<long double> x(p + 1, 0.0L);
    for (int step = 0; step < 4000; ++step) {
      std::vector<long double> sums(b);
      for (size_t e = 0; e < model.sources.size(); ++e) {
        if (model.sources[e] == model.targets[e]) continue;
        sums[static_cast<size_t>(model.sources[e])] +=
            static_cast<long double>(model.weights[e]) *
            x[static_cast<size_t>(model.targets[e])];
      }
      for (size_t i = 0; i < p; ++i) x[i] = sums[i] / leaving[i];
    }
    return x;
  };
  const auto first = solve(std::vector<long double>(p, 1.0L));
  std::vector<long double> b(p);
  for (size_t i = 0; i < p; ++i) {
    b[i] = 2.0L * first[i] - (model.is_discrete ? 1.0L : 0.0L);
  }
  const auto second = solve(b);
  Moments found;
  for (size_t i = 0; i < p; ++i) {
    const auto alpha = static_cast<long double>(model.initial[i]);
    found.mean += alpha * first[i];
    found.variance += alpha * second[i];
  }
  found.variance -= found.mean * found.mean;
  return found;
}

void ExpectNear(double value, long double exact, double tolerance) {
  EXPECT_NEAR(value, static_cast<double>(exact),
              tolerance * std::fabs(static_cast<double>(exact)));
}

TEST(MomentsTest, AgreeWithIterationAndItsDifferences) {
  for (const bool is_discrete : {false, true}) {
    const Model model = RandomModel(12, is_discrete, 3);
    const Found found = Compute(model);
    ASSERT_EQ(found.error, "");
    const Moments exact = ByIteration(model);
    ExpectNear(found.mean[0], exact.mean, 1e-14);
    ExpectNear(found.variance[0], exact.variance, 1e-13);
    const double h = 0x1p-20;
    const auto slope = [&](auto member, size_t index) {
      Model more = model;
      Model less = model;
      (more.*member)[index] += h;
      (less.*member)[index] -= h;
      const Moments a = ByIteration(more);
      const Moments b = ByIteration(less);
      const auto width = static_cast<long double>(2.0 * h);
      return Moments{(a.mean - b.mean) / width,
                     (a.variance - b.variance) / width};
    };
    for (size_t e = 0; e < model.weights.size(); e += 5) {
      const Moments s = slope(&Model::weights, e);
      EXPECT_NEAR(found.mean_of_weights[e], static_cast<double>(s.mean), 1e-9);
      EXPECT_NEAR(found.variance_of_weights[e], static_cast<double>(s.variance),
                  1e-7);
    }
    for (size_t i = 0; i < model.initial.size(); i += 5) {
      const Moments s = slope(&Model::initial, i);
      EXPECT_NEAR(found.mean_of_initial[i], static_cast<double>(s.mean), 1e-9);
      EXPECT_NEAR(found.variance_of_initial[i], static_cast<double>(s.variance),
                  1e-7);
    }
  }
}

TEST(MomentsTest, SideBySideIsAsAlone) {
  for (const bool is_discrete : {false, true}) {
    const Model model = RandomModel(9, is_discrete, 5);
    const size_t m = model.weights.size();
    constexpr int64_t kBatch = 13;
    Model all = model;
    std::vector<Found> alone;
    all.weights.clear();
    for (int64_t n = 0; n < kBatch; ++n) {
      Model one = model;
      for (double& w : one.weights) w *= 1.0 - static_cast<double>(n) / 16.0;
      // One model is invalid, and another one reaches a trap. Neither affects
      // the other models.
      if (n == 4) one.weights[0] = -1.0;
      if (n == 6) {
        for (size_t e = 0; e < m; ++e) {
          if (one.sources[e] == 2) one.weights[e] = 0.0;
        }
      }
      all.weights.insert(all.weights.end(), one.weights.begin(),
                         one.weights.end());
      alone.push_back(Compute(one));
    }
    const Found found = Compute(all, kBatch);
    ASSERT_EQ(found.error, "");
    for (size_t n = 0; n < kBatch; ++n) {
      const auto expect = [](double a, double b) {
        EXPECT_TRUE(a == b || (std::isnan(a) && std::isnan(b)))
            << a << " " << b;
      };
      expect(found.mean[n], alone[n].mean[0]);
      expect(found.variance[n], alone[n].variance[0]);
      for (size_t e = 0; e < m; ++e) {
        expect(found.variance_of_weights[n * m + e],
               alone[n].variance_of_weights[e]);
      }
    }
    EXPECT_TRUE(std::isnan(found.mean[4]));
    EXPECT_EQ(found.mean[6], kInfinity);
    EXPECT_EQ(found.variance[6], kInfinity);
    EXPECT_TRUE(std::isnan(found.mean_of_weights[6 * m]));
  }
}

Model Exponential(double rate) {
  Model model;
  model.num_phases = 1;
  model.initial = {1.0};
  model.Add(0, 1, rate);
  return model;
}

// Tests that memory which a thread keeps does not affect the next model.
TEST(MomentsTest, CallsDoNotDependOnTheOnesBefore) {
  const Model one = Exponential(2.0);
  Model three = one;
  for (const double rate : {1.0, 0.0, -1.0, 1.0}) {
    three.weights = {rate, 2.0, 4.0};
    const Found found = Compute(three, 3);
    if (rate >= 0.0) {
      EXPECT_EQ(found.mean[0], 1.0 / rate);
    } else {
      EXPECT_TRUE(std::isnan(found.mean[0]));
    }
    EXPECT_EQ(found.mean[1], 0.5);
    EXPECT_EQ(found.mean[2], 0.25);
    const Found alone = Compute(one);
    EXPECT_EQ(alone.mean[0], 0.5);
    EXPECT_EQ(alone.variance[0], 0.25);
    EXPECT_EQ(alone.mean_of_weights[0], -0.25);
  }
}

TEST(MomentsTest, RootsAreRightWhereVariancesOverflow) {
  for (const double rate : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    const Found found = Compute(Exponential(rate), 1, true);
    ExpectNear(found.mean[0], 1.0L / static_cast<long double>(rate), 1e-15);
    ExpectNear(found.variance[0], 1.0L / static_cast<long double>(rate), 1e-15);
  }
  EXPECT_EQ(Compute(Exponential(1e-160)).variance[0], kInfinity);
  const Found found = Compute(Exponential(4.0), 1, true);
  ExpectNear(found.variance_of_weights[0], -1.0L / 16.0L, 1e-15);
}

TEST(MomentsTest, TermsOutOfRangeAreSummed) {
  // The second phase is rarely entered, but for a long time.
  Model model;
  model.num_phases = 2;
  model.initial = {1.0, 0.0};
  model.Add(0, 2, 1.0);
  model.Add(0, 1, 1e-300);
  model.Add(1, 2, 1e-200);
  const Found found = Compute(model);
  ExpectNear(found.mean[0], 1.0L, 1e-15);
  ExpectNear(found.variance[0], 2e100L, 1e-14);
}

TEST(MomentsTest, TrapsThatAreNotReachedAreAbsorption) {
  Model model = Exponential(0.5);
  model.num_phases = 4;
  model.initial = {1.0, 0.0, 0.0, 0.0};
  model.targets[0] = 4;
  model.Add(1, 0, 1.0);
  model.Add(1, 2, 3.0);
  model.Add(2, 3, 1.0);  // 2 and 3 are a trap
  model.Add(3, 2, 2.0);
  const Found found = Compute(model);
  ExpectNear(found.mean[0], 2.0L, 1e-15);
  ExpectNear(found.variance[0], 4.0L, 1e-15);
  ExpectNear(found.mean_of_initial[1], 0.75L, 1e-15);
  for (size_t e = 0; e < model.weights.size(); ++e) {
    const bool is_used = e == 0;
    EXPECT_EQ(found.mean_of_weights[e], is_used ? -4.0 : 0.0);
    EXPECT_EQ(found.variance_of_weights[e], is_used ? -16.0 : 0.0);
  }
}

TEST(MomentsTest, ValuesThatBreakARuleAreNan) {
  const auto expect_nan = [](const Model& model) {
    const Found found = Compute(model);
    EXPECT_EQ(found.error, "");
    EXPECT_TRUE(std::isnan(found.mean[0]));
    EXPECT_TRUE(std::isnan(found.variance[0]));
    EXPECT_TRUE(std::isnan(found.variance_of_weights[0]));
    EXPECT_TRUE(std::isnan(found.mean_of_initial[0]));
  };
  for (const double bad : {-1.0, kInfinity, std::nan("")}) {
    expect_nan(Exponential(bad));
    Model model = Exponential(1.0);
    model.initial[0] = bad;
    expect_nan(model);
    model = Exponential(1.0);
    model.atom = {bad};
    expect_nan(model);
  }
  Model model = Exponential(1.0);
  model.initial[0] = 1.0 + 8.0 * kEpsilon;
  expect_nan(model);
  model.initial[0] = 1.0 + 4.0 * kEpsilon;
  EXPECT_EQ(Compute(model).mean[0], model.initial[0]);
  model = Exponential(1.5);
  model.is_discrete = true;
  expect_nan(model);
}

TEST(MomentsTest, RefusesWhatDoesNotFit) {
  const auto expect_error = [](const Model& model, const std::string& text) {
    EXPECT_NE(Compute(model).error.find(text), std::string::npos)
        << Compute(model).error;
  };
  Model model = Exponential(1.0);
  model.sources[0] = -1;
  expect_error(model, "-1");
  model = Exponential(1.0);
  model.targets[0] = 2;
  expect_error(model, "2");
  model = Exponential(1.0);
  model.atom = {0.0, 0.0};
  expect_error(model, "atom");
  model = Exponential(1.0);
  model.stay = {0.5};
  expect_error(model, "stay");
  model.is_discrete = true;
  EXPECT_EQ(Compute(model).error, "");
  model.stay = {0.5, 0.5};
  expect_error(model, "stay");
  model = Exponential(1.0);
  model.initial.clear();
  expect_error(model, "no phases");
}

TEST(MomentsTest, RefusesResultsThatDoNotFit) {
  const int32_t indices[] = {0, 1};
  const double one = 1.0;
  const int64_t index_dims[] = {2, 1};
  const int64_t dims[] = {1};
  const int64_t none[] = {0};
  MomentsCall call;
  call.indices = {indices, {index_dims, 2}};
  call.weights = call.initial = {&one, {dims, 1}};
  call.exits = call.atom = call.stay = {nullptr, {none, 1}};
  double value = 0.0;
  const Output scalar = {&value, {dims, 0}};
  const Output wrong = {&value, {dims, 1}};
  const Output empty = {nullptr, {none, 1}};
  EXPECT_EQ(ComputeMoments(call, {scalar, {}, {}, {}}, {}), nullptr);
  EXPECT_EQ(value, 1.0);
  EXPECT_NE(ComputeMoments(call, {wrong, {}, {}, {}}, {}), nullptr);
  call.wants_gradients = true;
  EXPECT_NE(ComputeMoments(call, {scalar, scalar, empty, wrong}, {}), nullptr);
  EXPECT_NE(ComputeMoments(call, {scalar, wrong, wrong, wrong}, {}), nullptr);
  EXPECT_EQ(ComputeMoments(call, {scalar, wrong, empty, wrong}, {}), nullptr);
  const double weights[] = {0.5, 1.0};
  const int64_t two[] = {2};
  call.weights = {weights, {two, 1}};
  EXPECT_NE(ComputeMoments(call, {scalar, wrong, empty, wrong}, {}), nullptr);
}

}  // namespace
}  // namespace phasic
