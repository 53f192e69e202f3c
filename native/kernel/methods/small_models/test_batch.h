// Batches of small models for tests; some of the models have numbers or
// structures that the sweeps for small models cannot handle.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_TEST_BATCH_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_TEST_BATCH_H_

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace phasic {

constexpr int64_t kModels = 21;

enum class Form { kExitsGiven, kExitsDerived, kEdges, kParameters };

// The property that makes some of the models exceptional.
enum class Odd {
  kNothing,
  kLong,
  kTimes,
  kRates,
  kSizes,
  kStructure,
  kStarts,
  kCotangents
};

struct Batch {
  Form form;
  int64_t phases;
  int64_t row;  // times of a model
  bool has_atom;
  std::vector<double> starts, rates, exits, atoms, times, cotangents;
  std::vector<int32_t> kinds;    // [row] of all models; empty: one for all
  std::vector<int32_t> indices;  // of edges
  std::vector<double> coefficients;

  int64_t num_edges() const { return static_cast<int64_t>(indices.size()) / 2; }
  int64_t num_rates() const {
    return form == Form::kParameters ? 3
           : form == Form::kEdges    ? num_edges()
                                     : phases * phases;
  }
  int64_t num_exits() const { return form == Form::kExitsGiven ? phases : 0; }
};

inline double OddRate(int64_t m, double rate) {
  const double odd[] = {NAN, -1.0, HUGE_VAL, 1e-310, 0.0, -0.0, 1e-12};
  return m % 3 == 1 ? odd[m / 3 % 7] : rate;
}

inline double OddTime(int64_t m, double time) {
  const double odd[] = {0.0,  NAN,   HUGE_VAL, -1.0,      1e-300, 1e-310, 1e-19,
                        1e-9, 40.0,  200.0,    5e3,       1e7,    -0.0,   1e-3,
                        80.0, 600.0, 1e300,    -HUGE_VAL, 0x1p-4, 8.0,    20.0};
  return m % 4 == 3 ? time : odd[m % 21];
}

// Draws rates between all pairs of phases of each model. The rates of a chain
// through all phases are never zero.
inline void MakeRates(Odd odd, std::mt19937* random, Batch* b) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const int64_t p = b->phases;
  for (int64_t m = 0; m < kModels; ++m) {
    double speed = 1.0;
    if (odd == Odd::kSizes) {
      speed = std::pow(10.0, static_cast<double>(m - 10) * (m % 2 ? 3 : 20));
    }
    std::vector<double> matrix(p * p);
    std::vector<double> exits(p);
    for (int64_t i = 0; i < p; ++i) {
      double sum = 0.0;
      const bool is_trap = odd == Odd::kStructure && m % 4 == 1 && i == p - 1;
      for (int64_t j = 0; j < p; ++j) {
        if (i == j) continue;
        double rate = speed * (0.1 + uniform(*random));
        if (odd == Odd::kStructure && (m % 4 == 0 ? j != i + 1 : i + j == m)) {
          rate = 0.0;
        }
        if (odd == Odd::kStructure && m % 4 == 2) rate *= 1e-6 * rate;
        if (odd == Odd::kStructure && m % 4 == 3 && i == 0) rate *= 1e5;
        if (odd == Odd::kRates && i + j == 2) rate = OddRate(m, rate);
        if (is_trap) rate = 0.0;
        matrix[i * p + j] = rate;
        sum += rate;
      }
      exits[i] = speed * uniform(*random);
      if (odd == Odd::kStructure && (m % 2 == 0 ? i + 1 < p : i > 0)) {
        exits[i] = 0.0;
      }
      if (odd == Odd::kRates && i == 0 && m % 2 == 0) {
        exits[i] = OddRate(m, exits[i]);
      }
      matrix[i * p + i] = -(sum + exits[i]);
      // With a row sum of exactly a power of two, the probability of staying,
      // or a derived exit, is zero.
      if (odd == Odd::kRates && m % 7 == 5) matrix[i * p + i] = -8.0;
    }
    if (b->form == Form::kEdges) {
      for (int64_t e = 0; e < b->num_edges(); ++e) {
        const int32_t i = b->indices[e];
        const int32_t j = b->indices[e + b->num_edges()];
        b->rates.push_back(j == p ? exits[i] : std::fabs(matrix[i * p + j]));
      }
    } else if (b->form == Form::kParameters) {
      for (int c = 0; c < 3; ++c) b->rates.push_back(matrix[p > 1 ? 1 : 0]);
      b->rates.back() = speed;
    } else {
      b->rates.insert(b->rates.end(), matrix.begin(), matrix.end());
    }
    if (b->form == Form::kExitsGiven) {
      b->exits.insert(b->exits.end(), exits.begin(), exits.end());
    }
  }
}

inline void MakeEdges(std::mt19937* random, Batch* b) {
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  const auto p = static_cast<int32_t>(b->phases);
  std::vector<int32_t> sources;
  std::vector<int32_t> targets;
  for (int32_t i = 0; i < p; ++i) {
    for (int32_t j = 0; j <= p; ++j) {
      const int copies = j == i + 1 ? 2 : uniform(*random) < 0.3;
      sources.insert(sources.end(), copies, i);
      targets.insert(targets.end(), copies, j);
    }
  }
  b->indices = sources;
  b->indices.insert(b->indices.end(), targets.begin(), targets.end());
  for (int64_t e = 0; b->form == Form::kParameters && e < b->num_edges(); ++e) {
    for (int64_t c = 0; c < 3; ++c) {
      b->coefficients.push_back((e + c) % 3 == 0 ? 0.0 : uniform(*random));
    }
  }
}

inline Batch MakeBatch(Form form, int64_t phases, Odd odd, bool has_atom,
                       int seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  Batch b = {form, phases, 1, has_atom, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  if (form == Form::kEdges || form == Form::kParameters) MakeEdges(&random, &b);
  MakeRates(odd, &random, &b);
  for (int64_t m = 0; m < kModels; ++m) {
    for (int64_t i = 0; i < phases; ++i) {
      double start = (has_atom ? 0.5 : 0.999) / static_cast<double>(phases);
      if (odd == Odd::kStarts && i > 0 && m % 3 == 0) start = 0.0;
      if (odd == Odd::kStarts && i == 0 && m % 5 == 1) {
        start = OddRate(m, start);
      }
      if (odd == Odd::kStarts && m % 5 == 2) start = 3.0;
      if (odd == Odd::kStarts && m % 5 == 3) start = 0.0;
      if (odd == Odd::kStarts && m % 5 == 4) {
        start = 1.0 /
                static_cast<double>(phases);  // the atom is zero up to rounding
      }
      b.starts.push_back(start);
    }
    double atom = 0.5 * uniform(random);
    if (odd == Odd::kStarts && m % 4 == 1) atom = OddRate(m, atom);
    if (has_atom) b.atoms.push_back(atom);
    const double time = 10.0 * uniform(random);
    b.times.push_back(odd == Odd::kTimes ? OddTime(m, time) : time);
    if (odd == Odd::kLong) b.times.back() *= std::exp2(2.0 + m % 9);
    if (odd == Odd::kSizes) {
      b.times.back() *=
          std::pow(10.0, static_cast<double>(10 - m) * (m % 2 ? 3 : 20));
    }
    double cotangent = uniform(random) - 0.5;
    if (odd == Odd::kCotangents) {
      const double odd_cotangents[] = {0.0, NAN, HUGE_VAL, 1e-200, 1e200, 1.0};
      cotangent = odd_cotangents[m % 6];
    }
    b.cotangents.push_back(cotangent);
  }
  return b;
}

// Returns the batch with these kinds of times for each model: additional times
// of kind kNothing, or observations.
inline Batch WithKinds(const Batch& b, const std::vector<int32_t>& kinds) {
  Batch result = b;
  result.row = static_cast<int64_t>(kinds.size());
  result.kinds = kinds;
  result.times.clear();
  result.cotangents.clear();
  for (int64_t m = 0; m < kModels; ++m) {
    for (int64_t i = 0; i < result.row; ++i) {
      double time = b.times[m];
      const bool is_upper = i > 0 && kinds[i - 1] == 8;
      if (is_upper && m % 4 == 1) time = HUGE_VAL;
      if (is_upper && m % 4 == 2) time *= 1.5;
      if (kinds[i] == 8 && m % 4 == 3) time = -1.0;
      result.times.push_back(time);
      result.cotangents.push_back(b.cotangents[m]);
    }
  }
  return result;
}

// Returns the parameters of tests of every kind of batch: its form, its odd
// numbers, and whether it has an atom.
inline auto EveryKindOfBatch() {
  return testing::Combine(
      testing::Values(Form::kExitsGiven, Form::kExitsDerived, Form::kEdges,
                      Form::kParameters),
      testing::Values(Odd::kNothing, Odd::kLong, Odd::kTimes, Odd::kRates,
                      Odd::kSizes, Odd::kStructure, Odd::kStarts,
                      Odd::kCotangents),
      testing::Bool());
}

}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SMALL_MODELS_TEST_BATCH_H_
