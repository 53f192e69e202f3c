// Tests the cost of calls, in counted multiply-adds. The cost must not jump
// when q t doubles, and derivatives must cost only a few times as much as
// values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "native/kernel/methods/many_times/node_sums.h"
#include "native/kernel/methods/many_times/node_values.h"
#include "native/kernel/methods/squaring/squaring_adjoint.h"
#include "native/kernel/methods/squaring/squaring_points.h"
#include "native/kernel/methods/squaring/squaring_starts.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/numbers/work_count.h"
#include "native/kernel/runtime/workspace.h"
#include "native/kernel/sweeps/adjoint.h"
#include "native/kernel/sweeps/forward.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

// Returns the input for the log density of a model. The tangent of the rates is
// equal to the rates.
SweepInput InputOf(int64_t size, const std::vector<double>& initial,
                   const std::vector<double>& rates) {
  SweepInput in = {};
  in.num_phases = size;
  in.kind = Kind::kLogDensity;
  in.epsilon = 0x1p-52;
  in.initial_probs.value = initial.data();
  in.subgenerator.value = rates.data();
  in.subgenerator.tangents[0] = rates.data();
  return in;
}

// A model with a dense subgenerator, whose largest rate is one.
struct TestModel {
  explicit TestModel(int64_t p)
      : size(p), initial(p, 0.0), rates(p * p, 0.0), exits(p, 0.0) {
    initial[0] = 1.0;
  }
  double& Rate(int64_t i, int64_t j) { return rates[i * size + j]; }
  SweepInput Input() const {
    SweepInput in = InputOf(size, initial, rates);
    in.has_exit_rates = true;
    in.exit_rates.value = exits.data();
    in.exit_rates.tangents[0] = exits.data();
    return in;
  }

  int64_t size;
  std::vector<double> initial;
  std::vector<double> rates;
  std::vector<double> exits;
};

// A model of edges; target `p` is absorption.
struct EdgeModel {
  explicit EdgeModel(int64_t p) : size(p), initial(p, 0.0) { initial[0] = 1.0; }
  void Add(int64_t source, int64_t target, double rate) {
    sources.push_back(static_cast<int32_t>(source));
    targets.push_back(static_cast<int32_t>(target));
    rates.push_back(rate);
  }
  SweepInput Input() const {
    SweepInput in = InputOf(size, initial, rates);
    in.edges.count = static_cast<int64_t>(rates.size());
    in.edges.sources = sources.data();
    in.edges.targets = targets.data();
    in.edges.num_parameters = in.edges.count;
    return in;
  }

  int64_t size;
  std::vector<double> initial;
  std::vector<int32_t> sources;
  std::vector<int32_t> targets;
  std::vector<double> rates;
};

TestModel Erlang(int64_t p) {
  TestModel model(p);
  for (int64_t i = 0; i + 1 < p; ++i) model.Rate(i, i + 1) = 1.0;
  model.exits[p - 1] = 1.0;
  return model;
}

TestModel Hypoexponential(int64_t p) {
  TestModel model(p);
  const auto count = static_cast<double>(p);
  for (int64_t i = 0; i + 1 < p; ++i) {
    model.Rate(i, i + 1) = static_cast<double>(i + 1) / count;
  }
  model.exits[p - 1] = 1.0;
  return model;
}

// Returns stages in such an order that the slowest of them is not the first.
TestModel ShuffledStages(int64_t p) {
  TestModel model(p);
  const auto count = static_cast<double>(p);
  for (int64_t i = 0; i < p; ++i) {
    const double rate = static_cast<double>((i * 7 + 3) % p + 1) / count;
    if (i + 1 < p) {
      model.Rate(i, i + 1) = rate;
    } else {
      model.exits[i] = rate;
    }
  }
  return model;
}

// Returns stages whose rates are just below a power of two. Their power
// sequence decays by a factor of a million in a step.
TestModel NearErlang(int64_t p) {
  TestModel model = Erlang(p);
  for (double& rate : model.rates) rate *= 1.0 - 1e-6;
  for (double& rate : model.exits) rate *= 1.0 - 1e-6;
  return model;
}

TestModel Ring(int64_t p) {
  TestModel model(p);
  for (int64_t i = 0; i < p; ++i) {
    model.Rate(i, (i + 1) % p) = 0.99;
    model.exits[i] = 0.01;
  }
  return model;
}

TestModel BirthDeath(int64_t p) {
  TestModel model(p);
  for (int64_t i = 0; i + 1 < p; ++i) {
    model.Rate(i, i + 1) = 0.5;
    model.Rate(i + 1, i) = 0.4;
  }
  model.exits[0] = 0.1;
  return model;
}

TestModel Coalescent(int64_t p) {
  TestModel model(p);
  const auto n = static_cast<double>(p + 1);
  for (int64_t i = 0; i < p; ++i) {
    const double k = n - static_cast<double>(i);
    const double rate = k * (k - 1.0) / (n * (n - 1.0));
    if (i + 1 < p) {
      model.Rate(i, i + 1) = rate;
    } else {
      model.exits[i] = rate;
    }
  }
  return model;
}

// Returns a model of two halves. Each half mixes fast, and the rates from one
// half to the other are small.
TestModel Metastable(int64_t p) {
  TestModel model(p);
  const double rest = 1.0 / static_cast<double>(p);
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      const bool together = (2 * i < p) == (2 * j < p);
      if (i != j) model.Rate(i, j) = together ? rest : 1e-6 * rest;
    }
  }
  model.exits[p - 1] = 1e-5;
  return model;
}

TestModel Dense(int64_t p) {
  TestModel model(p);
  const double rest = 1.0 / static_cast<double>(p);
  for (int64_t i = 0; i < p; ++i) {
    for (int64_t j = 0; j < p; ++j) {
      const auto n = static_cast<double>(1 + (3 * i + 5 * j) % 7);
      if (i != j) model.Rate(i, j) = n * rest / 8.0;
    }
    model.exits[i] = rest * static_cast<double>(1 + i % 4) / 8.0;
  }
  return model;
}

EdgeModel LargeErlang(int64_t p) {
  EdgeModel model(p);
  for (int64_t i = 0; i < p; ++i) model.Add(i, i + 1, 1.0);
  return model;
}

EdgeModel LargeHypoexponential(int64_t p) {
  EdgeModel model(p);
  const auto count = static_cast<double>(p);
  for (int64_t i = 0; i < p; ++i) {
    model.Add(i, i + 1, static_cast<double>(i + 1) / count);
  }
  return model;
}

EdgeModel LargeRing(int64_t p) {
  EdgeModel model(p);
  for (int64_t i = 0; i < p; ++i) {
    model.Add(i, (i + 1) % p, 0.99);
    model.Add(i, p, 0.01);
  }
  return model;
}

EdgeModel LargeBirthDeath(int64_t p) {
  EdgeModel model(p);
  model.initial[0] = 0.0;
  model.initial[p / 2] = 1.0;
  for (int64_t i = 0; i + 1 < p; ++i) {
    model.Add(i, i + 1, 0.5);
    model.Add(i + 1, i, 0.4);
  }
  for (int64_t i = 0; i < p; ++i) model.Add(i, p, 0.1);
  return model;
}

// Evaluates another model, at almost no cost, so that no work of earlier calls
// is kept.
void ForgetKeptModel(Workspace* workspace) {
  const EdgeModel other = LargeErlang(kLeastKeptPhases);
  const double time = 1e-3;
  const double zero = 0.0;
  double value;
  SweepInput in = other.Input();
  in.num_times = 1;
  in.times.value = &time;
  in.prob_zero.value = &zero;
  SweepOutput out = {};
  out.values = &value;
  ForwardSweep<double>(in, out, workspace);
  workspace->Reset();
}

struct Work {
  double value;
  double gradient;
  double jvp;
};

// Counts the work of a value, a jvp and a gradient of the log density, at
// `num_times` times up to `x`. The largest rate is one.
Work Measure(SweepInput in, double x, int64_t num_times,
             bool wants_jvp = true) {
  const auto p = static_cast<size_t>(in.num_phases);
  const auto n = static_cast<size_t>(num_times);
  std::vector<double> times(n);
  for (size_t i = 0; i < n; ++i) {
    times[i] = x * static_cast<double>(i + 1) / static_cast<double>(n);
  }
  const std::vector<double> zeros(std::max(n, p), 0.0);
  in.num_times = num_times;
  in.prob_zero.value = zeros.data();
  in.times.value = times.data();
  in.initial_probs.tangents[0] = zeros.data();
  in.prob_zero.tangents[0] = zeros.data();
  in.times.tangents[0] = zeros.data();
  const std::vector<double> cotangents(n, 1.0);
  in.cotangent = cotangents.data();

  Workspace workspace{size_t{1} << 30};
  std::vector<double> values(n);
  SweepOutput out = {};
  out.values = values.data();
  const auto count = [&](Sweep sweep) {
    counted_work = 0.0;
    sweep(in, out, &workspace);
    workspace.Reset();
    return counted_work;
  };
  Work work = {};
  ForgetKeptModel(&workspace);
  work.value = count(ForwardSweep<double>);
  for (const double value : values) EXPECT_TRUE(std::isfinite(value));
  if (wants_jvp) work.jvp = count(ForwardSweep<Dual<double>>);
  std::vector<double> initial(p);
  std::vector<double> rates(in.has_edges() ? static_cast<size_t>(in.edges.count)
                                           : p * p);
  std::vector<double> exits(p);
  out = {};
  out.initial_probs = initial.data();
  out.subgenerator = rates.data();
  if (!in.has_edges()) out.exit_rates = exits.data();
  work.gradient = count(AdjointSweep<double>);
  return work;
}

// The largest ratio of the cost of a gradient to the cost of a value, for
// models of few phases. The ratio is larger for more phases, as the gradient
// has p^2 entries for the rates. It is far larger if the value needs only a few
// terms of its series.
constexpr double kFewValues = 16.0;
// The largest ratio of these costs for a large model of edges. At early times
// the value needs few steps, but derivatives with respect to the rates of
// phases that are hardly reached need many.
constexpr double kLargeValues = 40.0;
constexpr double kManyValues = 100.0;

// Checks the costs of a model for the given numbers of times, from q t = 1 to
// 2^last in factors of two.
template <class Model>
void ExpectNoCliffs(const std::string& name, const Model& model, int last,
                    double most_values,
                    const std::vector<int64_t>& numbers_of_times = {1, 150}) {
  // `floor` is added to all bounds, since the ratios of small amounts of work
  // may be larger.
  const SweepInput in = model.Input();
  const auto p = static_cast<double>(model.size);
  const double floor = 6e5 + (in.has_edges() ? 1e2 * p : 2e3 * p * p);
  for (const int64_t num_times : numbers_of_times) {
    Work before = {};
    for (int e = 0; e <= last; ++e) {
      const Work work = Measure(in, std::ldexp(1.0, e), num_times);
      SCOPED_TRACE(name + ", " + std::to_string(model.size) + " phases, " +
                   std::to_string(num_times) + " times, q t = 2^" +
                   std::to_string(e));
      if (e > 0) {
        EXPECT_LE(work.value, 2.5 * before.value + floor);
        EXPECT_LE(work.gradient, 2.5 * before.gradient + floor);
        EXPECT_LE(work.jvp, 2.5 * before.jvp + floor);
      }
      EXPECT_LE(work.gradient, most_values * work.value + floor);
      EXPECT_LE(work.jvp, most_values * work.value + floor);
      before = work;
    }
  }
}

TEST(CountedWorkTest, Erlang) {
  ExpectNoCliffs("Erlang", Erlang(2), 20, kFewValues);
  ExpectNoCliffs("Erlang", Erlang(10), 20, kFewValues);
}

// Beyond q t = 2^19 cotangents exceed the range of doubles, and the sweeps over
// extended doubles take over.
TEST(CountedWorkTest, LongErlang) {
  ExpectNoCliffs("Erlang", Erlang(41), 19, kFewValues);
}

// Tests that the time of a gradient is bounded if the cotangents of the initial
// probabilities differ by more than the range of doubles: only they are
// computed again, with extended doubles. At earlier times, which are not
// tested, other cotangents differ by as much, too.
void ExpectBoundedGradients(const EdgeModel& model, int first, int last) {
  for (int e = first; e <= last; ++e) {
    SCOPED_TRACE("q t = 2^" + std::to_string(e));
    const Work work = Measure(model.Input(), std::ldexp(1.0, e), 1, false);
    EXPECT_LE(work.gradient, 4.0 * kFewValues * work.value);
  }
}

TEST(CountedWorkTest, LongChains) {
  ExpectBoundedGradients(LargeErlang(626), 7, 11);
  ExpectBoundedGradients(LargeHypoexponential(626), 8, 12);
}

TEST(CountedWorkTest, Hypoexponential) {
  ExpectNoCliffs("hypoexponential", Hypoexponential(10), 20, kFewValues);
  ExpectNoCliffs("hypoexponential", Hypoexponential(41), 16, kFewValues, {1});
  ExpectNoCliffs("hypoexponential", Hypoexponential(41), 16, kManyValues,
                 {150});
}

// Checks that derivatives at one time cost only a few times as much as a value,
// for any q t, and that their cost does not jump when q t doubles. Derivatives
// are computed by squaring where this is cheaper than steps. With few steps,
// most of the work of a gradient is one product for each pair of phases in each
// step.
void ExpectCheapDerivatives(const TestModel& model, int last,
                            double most_values, double most_values_of_jvp) {
  const auto p = static_cast<double>(model.size);
  const double floor = 3e3 * p * p;
  Work before = {};
  for (int e = 0; e <= last; ++e) {
    SCOPED_TRACE(std::to_string(model.size) + " phases, q t = 2^" +
                 std::to_string(e));
    const Work work = Measure(model.Input(), std::ldexp(1.0, e), 1);
    EXPECT_LE(work.gradient, most_values * work.value + floor);
    EXPECT_LE(work.jvp, most_values_of_jvp * work.value + 5e5);
    if (e > 0) {
      EXPECT_LE(work.gradient, 2.5 * before.gradient);
      EXPECT_LE(work.jvp, 3.0 * before.jvp);
    }
    before = work;
  }
}

TEST(CountedWorkTest, DerivativesOfChains) {
  ExpectCheapDerivatives(Hypoexponential(41), 20, 8.0, 4.0);
  ExpectCheapDerivatives(Hypoexponential(100), 20, 8.0, 4.0);
  ExpectCheapDerivatives(Erlang(41), 19, 8.0, 4.0);
}

// The value of a model that mixes fast is extrapolated from a thousand steps
// (see tail_closure.h). The derivatives are not.
TEST(CountedWorkTest, DerivativesOfDenseModels) {
  ExpectCheapDerivatives(Dense(41), 18, 8.0, 8.0);
  ExpectCheapDerivatives(Metastable(41), 18, 8.0, 4.0);
}

TEST(CountedWorkTest, DerivativesWhereDoublesUnderflow) {
  ExpectNoCliffs("shuffled stages", ShuffledStages(10), 20, kFewValues);
  ExpectNoCliffs("shuffled stages", ShuffledStages(41), 20, kFewValues, {1});
  ExpectNoCliffs("shuffled stages", ShuffledStages(41), 17, kManyValues, {150});
  ExpectNoCliffs("near Erlang", NearErlang(10), 20, kFewValues, {1});
}

// Phases from which no path leads to a weight have cotangents of zero, for
// which a sweep must not be repeated.
TEST(CountedWorkTest, PhasesWithoutPathToWeights) {
  constexpr int64_t kPhases = 20;
  EdgeModel model(kPhases);
  for (int64_t i = 0; i + 1 < kPhases; ++i) model.Add(i, i + 1, 0.7);
  std::vector<double> weights(kPhases, 1.0);
  SweepInput in = model.Input();
  in.has_exit_rates = true;
  in.exit_rates.value = weights.data();
  for (const int64_t num_times : {1, 150, 600}) {
    SCOPED_TRACE(num_times);
    std::fill(weights.begin(), weights.end(), 1.0);
    const Work all = Measure(in, 16.0, num_times, false);
    std::fill(weights.begin() + 3, weights.end(), 0.0);
    const Work first = Measure(in, 16.0, num_times, false);
    EXPECT_LE(first.gradient, 1.25 * all.gradient);
  }
}

TEST(CountedWorkTest, Rings) {
  ExpectNoCliffs("ring", Ring(10), 20, kFewValues);
  ExpectNoCliffs("ring", Ring(41), 20, kManyValues);
}

TEST(CountedWorkTest, BirthDeath) {
  ExpectNoCliffs("birth and death", BirthDeath(10), 20, kFewValues);
  ExpectNoCliffs("birth and death", BirthDeath(41), 20, kManyValues);
}

TEST(CountedWorkTest, Coalescent) {
  ExpectNoCliffs("coalescent", Coalescent(41), 20, kManyValues);
}

TEST(CountedWorkTest, Metastable) {
  ExpectNoCliffs("metastable", Metastable(10), 20, kFewValues);
  ExpectNoCliffs("metastable", Metastable(41), 20, kManyValues);
}

// Tests q t up to 2^11, as larger values take too long. The gradient has an
// entry for each pair of phases, including those without a rate.
TEST(CountedWorkTest, ManyPhases) {
  ExpectNoCliffs("ring", Ring(626), 11, HUGE_VAL, {1});
  ExpectNoCliffs("birth and death", BirthDeath(626), 11, HUGE_VAL, {1});
  ExpectNoCliffs("coalescent", Coalescent(626), 11, HUGE_VAL, {1});
}

TEST(CountedWorkTest, LargeModels) {
  for (EdgeModel model : {LargeRing(5000), LargeBirthDeath(5000)}) {
    std::fill(model.initial.begin(), model.initial.end(), 1.0 / 5000.0);
    ExpectNoCliffs("from all phases", model, 8, kLargeValues, {1, 20});
  }
}

// Phases that are not reached yet cost nothing. Only the cotangents of alpha
// need all phases.
TEST(CountedWorkTest, LargeModelsFromOnePhase) {
  for (const EdgeModel& one : {LargeRing(5000), LargeBirthDeath(5000)}) {
    ExpectNoCliffs("from one phase", one, 8, HUGE_VAL, {1, 20});
    EdgeModel all = one;
    std::fill(all.initial.begin(), all.initial.end(), 1.0 / 5000.0);
    for (int e = 0; e <= 8; ++e) {
      SCOPED_TRACE("q t = 2^" + std::to_string(e));
      const double x = std::ldexp(1.0, e);
      const Work few = Measure(one.Input(), x, 20);
      const Work many = Measure(all.Input(), x, 20);
      EXPECT_LE(few.value, 0.25 * many.value);
      EXPECT_LE(few.jvp, 0.5 * many.jvp);
      EXPECT_LE(few.gradient, kLargeValues * many.value);
    }
  }
}

// Tests far tails. State entries that were flushed to zero at early steps are
// negligible in a far tail, as they would have decayed as much as the value.
TEST(CountedWorkTest, FarTailsOfRings) {
  const EdgeModel model = LargeRing(626);
  const Work before = Measure(model.Input(), 0x1p15, 1, false);
  const Work after = Measure(model.Input(), 0x1p16, 1, false);
  EXPECT_LE(after.value, 4.0 * before.value);  // including the bounds on decay
  EXPECT_LE(after.gradient, 3.0 * before.gradient);
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
