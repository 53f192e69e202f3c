#include "native/kernel/fuzz/values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "native/kernel/fuzz/work.h"

namespace phasic {
namespace fuzz {
namespace {

// About one in this many calls may have so many steps that the kernel must
// refuse it.
constexpr int32_t kHardEvery = 200;

class ModelFiller {
 public:
  ModelFiller(ByteSource* bytes, CallCase* c)
      : case_(*c),
        random_(bytes->Word()),
        spread_(kSpreads[bytes->Below(6)]),
        density_(kDensities[bytes->Below(5)]),
        ordered_(bytes->Flag()),
        exit_density_(bytes->OneIn(4) ? 0.1 : 0.7),
        log2_scale_(bytes->OneIn(4) ? 8.0 * (bytes->Below(81) - 40) / 10 : 0.0),
        num_phases_(c->inputs[0].dims.back()) {}

  void FillInitialProbs() {
    std::vector<double>& values = case_.inputs[0].values;
    const size_t p = static_cast<size_t>(num_phases_);
    for (size_t start = 0; start < values.size(); start += p) {
      double sum = 0.0;
      for (size_t i = 0; i < p; ++i) {
        values[start + i] = random_.Chance(0.5) ? Spread(0.5) : 0.0;
        sum += values[start + i];
      }
      if (random_.Chance(0.3)) sum /= random_.Uniform();
      for (size_t i = 0; sum > 0.0 && i < p; ++i) values[start + i] /= sum;
    }
  }

  // Fills the rates with random numbers; returns a bound on them.
  double FillRates() {
    return case_.edges.empty() ? FillDenseRates() : FillEdgeRates();
  }

  void FillAtoms() {
    for (double& atom : case_.inputs[3].values) {
      atom = random_.Chance(0.5) ? random_.Uniform() : 0.0;
    }
  }

  // Converts the rates to one-step probabilities.
  void MakeSteps(const std::vector<int64_t>& batch) {
    if (case_.edges.empty()) return MakeDenseSteps();
    const double largest = LargestLeavingRate(batch, case_);
    if (!(largest > 0.0)) return;
    const double share = random_.Chance(0.3) ? 1.0 : random_.Uniform();
    for (double& x : case_.edges[1].values) x *= share / largest;
    for (double& x : case_.inputs[1].values) x *= share / largest;
  }

  void FillTimes(double log2_steps, double rate_bound) {
    const double scale =
        std::exp2(log2_steps) / (rate_bound > 0.0 ? rate_bound : 1.0);
    for (double& time : case_.inputs[4].values) {
      time = scale * std::exp2(-12.0 * random_.Uniform() * random_.Uniform());
      if (random_.Chance(0.05)) time = 0.0;
      const bool is_count = case_.call.discrete && !random_.Chance(0.05);
      if (is_count) time = std::ceil(time);
    }
    if (!case_.kinds.empty() && random_.Chance(0.8)) SortTimes();
  }

  // Chooses random kinds for the times. An interval needs two adjacent times.
  void FillKinds() {
    for (Array& array : case_.kinds) {
      const auto n = static_cast<size_t>(array.dims.back());
      for (size_t i = 0; i < array.values.size(); ++i) {
        array.values[i] = static_cast<double>(2 * Below(3));
        if (random_.Chance(0.1)) array.values[i] = 7.0;
        if (i % n + 1 == n || random_.Chance(0.6)) continue;
        array.values[i] = 6.0;
        array.values[++i] = 7.0;
      }
    }
  }

  // Fills tangents with numbers of either sign that are about as large as the
  // operand.
  void FillTangents() {
    for (size_t i = kNumOperands; i < NumArrays(case_); ++i) {
      const std::vector<double>& values = case_.inputs[i % kNumOperands].values;
      const bool zero = random_.Chance(0.3);
      for (double& tangent : case_.inputs[i].values) {
        const double size =
            values[static_cast<size_t>(random_.Next()) % values.size()];
        tangent = zero ? 0.0 : random_.Uniform(-1.0, 1.0) * size;
      }
    }
  }

  void FillCotangents() {
    const bool positive = random_.Chance(0.5);
    for (double& cotangent : case_.inputs.back().values) {
      cotangent = random_.Uniform(positive ? 0.0 : -1.0, 1.0);
      if (random_.Chance(0.2)) cotangent = 0.0;
    }
  }

 private:
  static constexpr double kSpreads[] = {0.0, 1.0, 4.0, 20.0, 40.0, 300.0};
  static constexpr double kDensities[] = {0.3, 0.0, 0.1, 0.7, 1.0};

  // Fills off-diagonal rates and exits, and sets the diagonal to minus their
  // sum. Returns a bound on the rates.
  double FillDenseRates() {
    std::vector<double>& rates = case_.inputs[1].values;
    const size_t p = static_cast<size_t>(num_phases_);
    const bool derived = case_.inputs[2].values.empty();
    double largest = 0.0;
    for (size_t row = 0; row < rates.size() / p; ++row) {
      double sum = derived && random_.Chance(exit_density_) ? Rate() : 0.0;
      for (size_t j = 0; j < p; ++j) {
        const bool present =
            j != row % p && (!ordered_ || j > row % p) &&
            (random_.Chance(density_) || (ordered_ && j == row % p + 1));
        if (!present) continue;
        rates[row * p + j] = Rate();
        sum += rates[row * p + j];
      }
      rates[row * p + row % p] = -sum;
      largest = std::max(largest, sum);
    }
    double largest_exit = 0.0;
    for (double& exit : case_.inputs[2].values) {
      exit = random_.Chance(exit_density_) ? Rate() : 0.0;
      largest_exit = std::max(largest_exit, exit);
    }
    return largest + largest_exit;
  }

  // Converts the rows of a dense model and its exits to probabilities. The exit
  // of a phase is the same in the whole batch: if rows and exits are broadcast
  // along different axes, one row is combined with several exits, and must sum
  // to one with each of them.
  void MakeDenseSteps() {
    std::vector<double>& rows = case_.inputs[1].values;
    std::vector<double>& exits = case_.inputs[2].values;
    const size_t p = static_cast<size_t>(num_phases_);
    std::vector<double> left(p, 1.0);
    for (size_t i = 0; i < p && !exits.empty(); ++i) {
      const double exit = random_.Chance(exit_density_) ? random_.Uniform() : 0;
      for (size_t at = i; at < exits.size(); at += p) exits[at] = exit;
      left[i] = 1.0 - exit;
    }
    for (size_t row = 0; row < rows.size() / p; ++row) {
      double* probs = rows.data() + row * p;
      const double leaving = -probs[row % p];  // includes derived exits
      probs[row % p] = random_.Chance(0.5) ? Rate() : 0.0;
      const double total = leaving + probs[row % p];
      if (!(total > 0.0)) probs[row % p] = 1.0;
      const double scale = left[row % p] / (total > 0.0 ? total : 1.0);
      for (size_t j = 0; j < p; ++j) probs[j] *= scale;
    }
  }

  void SortTimes() {
    std::vector<double>& times = case_.inputs[4].values;
    const int64_t n = case_.inputs[4].dims.back();
    for (auto row = times.begin(); row != times.end(); row += n) {
      std::sort(row, row + n);
    }
  }

  // Fills the edges and their rates; returns a bound on the rates. In an
  // ordered model every edge leads to a later phase; some edges lead to
  // absorption.
  double FillEdgeRates() {
    const int64_t m = case_.edges[0].dims.back();
    std::vector<double>& indices = case_.edges[0].values;
    for (size_t first = 0; first < indices.size();
         first += static_cast<size_t>(2 * m)) {
      for (size_t e = first; e < first + static_cast<size_t>(m); ++e) {
        const int64_t source = Below(num_phases_);
        const int64_t next = ordered_ ? source + 1 : 0;
        const bool exits = random_.Chance(0.2 * exit_density_);
        indices[e] = static_cast<double>(source);
        indices[e + static_cast<size_t>(m)] = static_cast<double>(
            exits ? num_phases_ : next + Below(num_phases_ + 1 - next));
      }
    }
    double constant = 0.0;
    for (double& x : case_.edges[1].values) {
      x = random_.Chance(0.7) ? Rate() : 0.0;
      constant = std::max(constant, x);
    }
    double coefficient = case_.edges[2].dims.back() == 0 ? 1.0 : 0.0;
    for (double& x : case_.edges[2].values) {
      x = random_.Chance(0.5) ? Spread(0.5) : 0.0;
      coefficient = std::max(coefficient, x);
    }
    double parameter = 0.0;
    for (double& x : case_.inputs[1].values) {
      x = random_.Chance(0.9) ? Rate() : 0.0;
      parameter = std::max(parameter, x);
    }
    return 4.0 * (constant + coefficient * parameter);
  }

  int64_t Below(int64_t limit) {
    return static_cast<int64_t>(random_.Next() % static_cast<uint64_t>(limit));
  }

  // Returns 2^x for a random x from -spread_ * share to spread_ * share. In
  // half of the cases x is an integer.
  double Spread(double share) {
    const double exponent = random_.Uniform(-1.0, 1.0) * spread_ * share;
    return std::exp2(random_.Chance(0.5) ? std::round(exponent) : exponent);
  }
  double Rate() { return std::exp2(log2_scale_) * Spread(1.0); }

  CallCase& case_;
  Generator random_;
  const double spread_;
  const double density_;
  const bool ordered_;
  const double exit_density_;
  const double log2_scale_;
  const int64_t num_phases_;
};

// Returns log2 of the number of steps, the largest rate times the largest time.
double DecodeLog2Steps(ByteSource* bytes, int64_t num_models, bool is_long,
                       const CallCase& c) {
  if (is_long && !c.call.discrete) return 12.0 + 41.0 * bytes->Byte() / 255.0;
  double largest = MaxLog2Steps(num_models, c);
  if (bytes->OneIn(kHardEvery)) largest = 80.0;
  if (bytes->OneIn(8)) return -120.0 * bytes->Byte() / 255.0;
  return (largest + 6.0) * bytes->Byte() / 255.0 - 6.0;
}

}  // namespace

void FillValues(ByteSource* bytes, const std::vector<int64_t>& batch,
                bool is_long, CallCase* c) {
  const int64_t num_models = std::max<int64_t>(NumItems(batch), 1);
  const double log2_steps = DecodeLog2Steps(bytes, num_models, is_long, *c);
  ModelFiller filler(bytes, c);
  filler.FillInitialProbs();
  double rate_bound = filler.FillRates();
  if (c->call.discrete) {
    filler.MakeSteps(batch);
    rate_bound = 1.0;
  }
  filler.FillAtoms();
  filler.FillTimes(log2_steps, rate_bound);
  filler.FillTangents();
  if (c->adjoint) filler.FillCotangents();
  filler.FillKinds();
}

void EditValues(ByteSource* bytes, CallCase* c) {
  using Limits = std::numeric_limits<double>;
  constexpr double kValues[] = {0.0,
                                -0.0,
                                1.0,
                                -1.0,
                                0.5,
                                Limits::denorm_min(),
                                -Limits::denorm_min(),
                                1e-310,
                                Limits::min(),
                                1e-300,
                                1e-40,
                                1.2e-38,
                                1e-17,
                                1e-9,
                                1e12,
                                -1e12,
                                1e38,
                                3.5e38,
                                1e300,
                                Limits::max(),
                                -Limits::max(),
                                Limits::infinity(),
                                -Limits::infinity(),
                                Limits::quiet_NaN()};
  constexpr int32_t kNumValues = sizeof(kValues) / sizeof(kValues[0]);
  const std::vector<Array*> arrays = Arrays(c);
  while (!bytes->empty()) {
    std::vector<double>& values =
        arrays[static_cast<size_t>(bytes->Byte()) % arrays.size()]->values;
    const size_t index = static_cast<size_t>(bytes->Byte()) |
                         static_cast<size_t>(bytes->Byte()) << 8;
    const int32_t choice = bytes->Below(kNumValues + 8);
    double value = kValues[std::min(choice, kNumValues - 1)];
    if (choice >= kNumValues) {
      const uint64_t bits = bytes->Word();
      std::memcpy(&value, &bits, sizeof(value));
    }
    if (!values.empty()) values[index % values.size()] = value;
  }
}

}  // namespace fuzz
}  // namespace phasic
