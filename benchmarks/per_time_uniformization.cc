// The baseline method of the benchmarks: every time point runs its own
// uniformization, and gradients are central differences in the parameters.
//
// It is optimized, so that the comparison is about the method: rows of the
// transposed chain are compressed, so that a step gathers and never scatters;
// Poisson weights are computed by recursion from the mode; work is shared
// within an evaluation wherever possible; a time point allocates no memory.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(PHASIC_NO_CLONES)
#define PHASIC_CLONES \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PHASIC_CLONES
#endif

namespace {

// The truncation error of the Poisson sum.
constexpr double kTail = 1e-16;

// A model whose rates are linear in d parameters. Edge e leads from sources[e]
// to the phase whose row contains e.
struct Model {
  int64_t num_phases;
  int64_t num_parameters;
  const int64_t* offsets;       // [p + 1], rows by target phase
  const int32_t* sources;       // [m]
  const double* coefficients;   // [m, d]
  const double* exits;          // [p, d]
  const double* initial_probs;  // [p]
};

// The uniformized chain at one value of the parameters.
struct Chain {
  double q;
  std::vector<double> weights;  // [m], rate / q
  std::vector<double> stay;     // [p]
  std::vector<double> exits;    // [p]
};

double Dot(const double* x, const double* y, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

void Uniformize(const Model& model, const double* theta, Chain* chain) {
  const int64_t p = model.num_phases;
  const int64_t d = model.num_parameters;
  const int64_t m = model.offsets[p];
  chain->weights.resize(m);
  chain->exits.resize(p);
  chain->stay.resize(p);
  for (int64_t i = 0; i < p; ++i) {
    chain->exits[i] = Dot(model.exits + i * d, theta, d);
    chain->stay[i] = chain->exits[i];
  }
  for (int64_t e = 0; e < m; ++e) {
    chain->weights[e] = Dot(model.coefficients + e * d, theta, d);
    chain->stay[model.sources[e]] += chain->weights[e];
  }
  chain->q = *std::max_element(chain->stay.begin(), chain->stay.end());
  for (double& x : chain->weights) x /= chain->q;
  for (double& x : chain->stay) x = 1.0 - x / chain->q;
}

// Computes the weights[k] from the first to the last that is not negligible,
// relative to the weight at the mode. Returns the index of the last one.
int64_t PoissonWeights(double x, std::vector<double>* weights) {
  const int64_t mode = static_cast<int64_t>(x);
  weights->assign(mode + 1, 0.0);
  double* w = weights->data();
  w[mode] = std::exp(mode * std::log(x > 0.0 ? x : 1.0) - x -
                     std::lgamma(static_cast<double>(mode) + 1.0));
  for (int64_t k = mode; k > 0 && w[k] > 1e-300; --k) {
    w[k - 1] = w[k] * (static_cast<double>(k) / x);
  }
  int64_t k = mode;
  double next = w[mode];
  while (next > kTail || k < mode + 2) {
    ++k;
    next *= x / static_cast<double>(k);
    weights->push_back(next);
  }
  return k;
}

PHASIC_CLONES
void Step(const int64_t* offsets, const int32_t* sources, const double* weights,
          const double* stay, int64_t p, const double* __restrict__ v,
          double* __restrict__ next) {
  for (int64_t j = 0; j < p; ++j) {
    double sum = stay[j] * v[j];
    for (int64_t e = offsets[j]; e < offsets[j + 1]; ++e) {
      sum += weights[e] * v[sources[e]];
    }
    next[j] = sum;
  }
}

void LogDensity(const Model& model, const double* theta, const double* times,
                int64_t num_times, double* result) {
  const int64_t p = model.num_phases;
  Chain chain;
  Uniformize(model, theta, &chain);
  std::vector<double> v(p), next(p), weights;
  for (int64_t i = 0; i < num_times; ++i) {
    const int64_t last = PoissonWeights(chain.q * times[i], &weights);
    v.assign(model.initial_probs, model.initial_probs + p);
    double density = 0.0;
    for (int64_t k = 0; k <= last; ++k) {
      if (weights[k] > 0.0) {
        density += weights[k] * Dot(v.data(), chain.exits.data(), p);
      }
      if (k == last) break;
      Step(model.offsets, model.sources, chain.weights.data(),
           chain.stay.data(), p, v.data(), next.data());
      v.swap(next);
    }
    result[i] = std::log(density);
  }
}

}  // namespace

#define PHASIC_EXPORT extern "C" __attribute__((visibility("default")))

// Computes log f at all times: result [n].
PHASIC_EXPORT void per_time_log_density(
    int64_t num_phases, int64_t num_parameters, const int64_t* offsets,
    const int32_t* sources, const double* coefficients, const double* exits,
    const double* initial_probs, const double* theta, const double* times,
    int64_t num_times, double* result) {
  const Model model = {num_phases,   num_parameters, offsets,      sources,
                       coefficients, exits,          initial_probs};
  LogDensity(model, theta, times, num_times, result);
}

// Writes sum_i log f(t_i) into result[0], and its central differences with step
// `epsilon` into result[1 ... d]: 2 d + 1 evaluations.
PHASIC_EXPORT void per_time_value_and_gradient(
    int64_t num_phases, int64_t num_parameters, const int64_t* offsets,
    const int32_t* sources, const double* coefficients, const double* exits,
    const double* initial_probs, const double* theta, const double* times,
    int64_t num_times, double epsilon, double* result) {
  const Model model = {num_phases,   num_parameters, offsets,      sources,
                       coefficients, exits,          initial_probs};
  std::vector<double> values(num_times);
  const auto evaluate = [&](const double* at) {
    LogDensity(model, at, times, num_times, values.data());
    double sum = 0.0;
    for (const double x : values) sum += x;
    return sum;
  };
  result[0] = evaluate(theta);
  std::vector<double> moved(theta, theta + num_parameters);
  for (int64_t j = 0; j < num_parameters; ++j) {
    moved[j] = theta[j] + epsilon;
    const double above = evaluate(moved.data());
    moved[j] = theta[j] - epsilon;
    const double below = evaluate(moved.data());
    moved[j] = theta[j];
    result[j + 1] = (above - below) / (2.0 * epsilon);
  }
}
