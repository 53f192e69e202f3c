// Computes the state alpha exp(S x / q) at one time by scaling and squaring,
// with one squared power for each bit of x / x_0 and a short step for the
// remainder. In a discrete chain computes alpha T^x.

#ifndef PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_PATH_H_
#define PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_PATH_H_

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "native/kernel/matrix/dense_product.h"
#include "native/kernel/matrix/operator.h"
#include "native/kernel/methods/squaring/squared_powers.h"
#include "native/kernel/numbers/scaled.h"
#include "native/kernel/simd/float_environment.h"
#include "native/kernel/simd/isa.h"
#include "native/kernel/uniformization/channels.h"
#include "native/kernel/uniformization/step_weights.h"

namespace phasic {
namespace PHASIC_ISA {

// Scales x by a power of two so that its largest entry is in [1, 2). Returns
// the exponent by which it was scaled down since before it was scaled up by
// 2^headroom.
template <class T>
inline int64_t NormalizeVector(T* x, int64_t stride, int64_t headroom = 0) {
  const double size = LargestSize(x, stride);
  if (!(size > 0.0)) return 0;
  const int64_t e = size < HUGE_VAL ? ExponentOf(size) : 0;
  for (int64_t i = 0; e != 0 && i < stride; ++i) x[i] = ScaleBy(x[i], -e);
  return e - headroom;
}

// Normalized vectors are scaled up by this power of two before they are
// multiplied by a squared power, as results may be far smaller. Tangents have
// no bound, and are not scaled.
template <class T>
constexpr int64_t kHeadroom = Depth<T>::kValue == 0 ? 900 : 0;

// The state vector between two factors of the path.
template <class T>
struct SquaringState {
  T* entries;  // [stride], relative to 2^exponent
  int64_t exponent;
  double loss;      // error of the sum of entries, in kLossUnit
  int64_t squared;  // number of the next power; -1 if none
  double step;
};

// A part of the path: one shorter step followed by 2^shift * `count` steps of
// the maximal length, which need `num_squared` squared powers.
struct SquaringLeg {
  double step;
  int64_t count;
  int64_t shift;
  int64_t num_squared;

  // Returns whether power j is one of the factors.
  bool Takes(int64_t j) const {
    return j >= shift && ((count >> (j - shift)) & 1) != 0;
  }
};

template <class T>
class SquaringPath {
 public:
  SquaringPath(SquaredPowers<T>* squared_powers, int num_channels,
               Workspace* workspace)
      : squared_powers_(*squared_powers),
        model_(squared_powers->model()),
        num_channels_(num_channels),
        workspace_(workspace) {
    squared_powers->AddSlopes(num_channels - 1);
  }

  SquaredPowers<T>* squared_powers() const { return &squared_powers_; }
  int num_channels() const { return num_channels_; }
  // Return the number of states on the last path and the k-th of them; the
  // first one is alpha.
  int64_t num_states() const { return num_states_; }
  const SquaringState<T>& state(int64_t k) const { return states_[k]; }
  // Returns whether absorption after state k is part of the computed mass.
  bool counts_absorbed(int64_t k) const { return k >= first_counted_; }
  int64_t num_squared() const { return num_squared_; }  // powers for the path

  // Returns the path to x.
  SquaringLeg LegOf(double x) const {
    if (model_.discrete) x = ScaleBy(x, kLog2LongestStep);  // no step is left
    // The count of steps has at most 53 bits before zeros.
    const int64_t shift =
        std::max<int64_t>(ExponentOf(x) - kLog2LongestStep - 52, 0);
    const auto count =
        static_cast<int64_t>(ScaleBy(x, -kLog2LongestStep - shift));
    const double whole =
        ScaleBy(static_cast<double>(count), kLog2LongestStep + shift);
    SquaringLeg leg = {x - whole, count, shift, 0};  // exact
    while (count >> leg.num_squared != 0) ++leg.num_squared;
    leg.num_squared += shift;
    return leg;
  }

  StatusCode Follow(Base base, double x) {
    const StatusCode status = Start(base, x);
    if (status == kOk) Climb(leg_);
    return status;
  }

  // Follow in parts, see squaring_paths.h: Start takes the short step, then
  // Arrive applies each squared power for which Takes is true, from the highest
  // to the lowest, given the product of the state and its matrix, and whether
  // that underflowed.
  StatusCode Start(Base base, double x) {
    leg_ = LegOf(x);
    const StatusCode status = Prepare(leg_.num_squared, leg_.num_squared + 2);
    if (status != kOk) return status;
    first_counted_ = base == Base::kCdf ? 0 : INT64_MAX;
    absorbed_ = Normalized(Scaled<T>{model_.prob_zero, 0});
    if (!model_.discrete) TakeStep(leg_.step);
    states_[num_states_ - 1].squared = -1;
    return kOk;
  }
  bool Takes(int64_t j) const { return leg_.Takes(j); }
  // Copies the last state, scaled up for a product.
  void CopyScaled(T* state) const {
    std::copy(end().entries, end().entries + squared_powers_.stride(), state);
    ScaleAllBy(state, squared_powers_.stride(), kHeadroom<T>);
  }
  void Arrive(int64_t j, const T* product, bool underflowed) {
    Leave(j);
    std::copy(product, product + squared_powers_.stride(),
              next_state()->entries);
    if (underflowed) FloatEnvironment::NoteUnderflow();
    End(j);
  }

  // Computes the path to the lower end and onward by `width`. Only absorption
  // after the lower end is counted.
  StatusCode FollowInterval(double lower, double width) {
    const SquaringLeg first = LegOf(lower);
    const SquaringLeg second = LegOf(width);
    const StatusCode status =
        Prepare(std::max(first.num_squared, second.num_squared),
                first.num_squared + second.num_squared + 3);
    if (status != kOk) return status;
    first_counted_ = INT64_MAX;
    absorbed_ = Scaled<T>{};
    Lead(first);
    first_counted_ = num_states_ - 1;
    Lead(second);
    return kOk;
  }

  // Applies all squared powers on the path to x except the highest, and sets
  // `top` to the number of that one.
  StatusCode FollowBelowTop(double x, int64_t* top) {
    SquaringLeg leg = LegOf(x);
    *top = --leg.num_squared;
    leg.count -= int64_t{1} << (*top - leg.shift);
    const StatusCode status = Prepare(leg.num_squared, leg.num_squared + 2);
    if (status != kOk) return status;
    first_counted_ = INT64_MAX;
    Lead(leg);
    return kOk;
  }

  const SquaringState<T>& end() const { return states_[num_states_ - 1]; }
  const Scaled<T>& absorbed() const { return absorbed_; }
  const Scaled<double>& lost_absorbed() const { return lost_absorbed_; }

  // Returns the unit u = 2^e of exits. It is q if that is tiny: products of
  // states with exits near the smallest double underflow, those with s / q do
  // not.
  int64_t log2_exit_unit() const {
    constexpr int64_t kTiny = -500;
    return model_.log2_q < kTiny ? model_.log2_q : 0;
  }
  double exit_unit() const { return PowerOfTwo(log2_exit_unit()); }

  // Computes terms[r] = v P^r s / u for r < count, where v is the state at the
  // end of the path, without its exponent.
  void EndTerms(int count, T* terms) {
    std::copy(end().entries, end().entries + model_.stride, power_);
    for (int r = 0; r < count; ++r) {
      if (r > 0) NextPower();
      terms[r] = Dot(power_, exits_, model_.stride);
    }
  }

  // Returns a bound on the sum of the entries of a normalized state.
  double Mass() const { return 2.0 * static_cast<double>(model_.size); }
  // Returns a bound on the flushing error of one product with a power; zero if
  // nothing underflowed since the start of the path.
  double NewLoss() const {
    const double p = static_cast<double>(model_.size) + 2.0;
    return FloatEnvironment::Underflowed() ? 2.0 * kStepTerms * p * p * kFlushed
                                           : 0.0;
  }

 private:
  // Computes the squared powers that are needed, allocates memory for the
  // states, and starts a path at alpha.
  StatusCode Prepare(int64_t num_squared, int64_t most_states) {
    num_squared_ = num_squared;
    StatusCode status = squared_powers_.Reach(num_squared);
    if (status == kOk) status = Allocate(most_states);
    if (status != kOk) return status;
    FloatEnvironment::ClearUnderflow();
    lost_absorbed_ = Scaled<double>{};
    T* start = states_[0].entries;
    std::copy(model_.initial, model_.initial + model_.stride, start);
    states_[0].exponent = NormalizeVector(start, model_.stride);
    states_[0].loss = 0.0;
    remaining_ = {Mass(), states_[0].exponent};
    num_states_ = 1;
    return kOk;
  }

  void Lead(const SquaringLeg& leg) {
    if (!model_.discrete) TakeStep(leg.step);
    Climb(leg);
  }
  void Climb(const SquaringLeg& leg) {
    for (int64_t j = leg.num_squared - 1; j >= 0; --j) {
      if (!leg.Takes(j)) continue;
      Leave(j);
      T* entries = next_state()->entries;
      std::fill(entries, entries + squared_powers_.stride(), T(0.0));
      CopyScaled(power_);
      AddRowTimes(power_, squared_powers_.squared(j).matrix,
                  squared_powers_.stride(), entries);
      End(j);
    }
    states_[num_states_ - 1].squared = -1;
  }

  StatusCode Allocate(int64_t num_states) {
    const int64_t stride = squared_powers_.stride();
    for (; num_allocated_ < num_states; ++num_allocated_) {
      T* entries = AllocateZeros<T>(workspace_, stride);
      if (entries == nullptr) return kMemoryLimit;
      states_[num_allocated_].entries = entries;
    }
    for (T** power : {&power_, &next_}) {
      if (*power == nullptr) *power = AllocateZeros<T>(workspace_, stride);
      if (*power == nullptr) return kMemoryLimit;
    }
    if (exits_ != nullptr) return kOk;
    T* exits = AllocateZeros<T>(workspace_, stride);
    if (exits == nullptr) return kMemoryLimit;
    for (int64_t i = 0; i < model_.size; ++i) {
      exits[i] = (1.0 / exit_unit()) * model_.exits[i];  // exact
    }
    exits_ = exits;
    return kOk;
  }

  void TakeStep(double step) {
    const StepWeights weights(step);
    SquaringState<T>* from = &states_[num_states_ - 1];
    SquaringState<T>* to = &states_[num_states_];
    from->squared = -1;
    from->step = step;
    std::copy(from->entries, from->entries + model_.stride, power_);
    std::fill(to->entries, to->entries + model_.stride, T(0.0));
    T absorbed = T(0.0);
    for (int k = 0; k < kStepTerms; ++k) {
      AddMultiple(T(weights.at[k]), power_, model_.stride, to->entries);
      absorbed += (weights.above[k] * (exit_unit() / model_.q)) *
                  Dot(power_, exits_, model_.stride);
      NextPower();
    }
    // The flushing error of a product with the exits is divided by q / u
    // afterwards.
    const double of_products = NewLoss() * (exit_unit() / model_.q);
    Absorb(absorbed, *from, model_.q < 1.0 ? of_products : 0.0);
    to->exponent = from->exponent;
    to->loss = from->loss + NewLoss();
    ++num_states_;
    Normalize(to);
  }

  SquaringState<T>* next_state() { return &states_[num_states_]; }

  // Prepares the state for power j.
  void Leave(int64_t j) {
    SquaringState<T>* from = &states_[num_states_ - 1];
    const SquaredPower<T>& squared = squared_powers_.squared(j);
    from->squared = j;
    Absorb(Dot(from->entries, squared.absorbed, squared_powers_.stride()),
           *from, squared.absorbed_loss);
  }
  // Completes the next state, whose entries are the product of power j and the
  // state that CopyScaled wrote.
  void End(int64_t j) {
    const SquaredPower<T>& squared = squared_powers_.squared(j);
    const SquaringState<T>& from = end();
    SquaringState<T>* to = next_state();
    const int64_t e =
        NormalizeVector(to->entries, squared_powers_.stride(), kHeadroom<T>);
    to->exponent = from.exponent + squared.exponent + e;
    to->loss = ScaleBy(from.loss + Mass() * squared.row_loss + NewLoss(), -e);
    to->squared = -1;
    ++num_states_;
  }

  static void Normalize(SquaringState<T>* state, int64_t stride) {
    const int64_t e = NormalizeVector(state->entries, stride);
    state->exponent += e;
    state->loss = ScaleBy(state->loss, -e);
  }
  void Normalize(SquaringState<T>* state) const {
    Normalize(state, squared_powers_.stride());
  }

  void Absorb(const T& mass, const SquaringState<T>& state,
              double squared_loss) {
    if (!counts_absorbed(num_states_ - 1)) return;
    Add(&absorbed_, Scaled<T>{mass, state.exponent});
    const double loss = state.loss + Mass() * squared_loss + NewLoss();
    if (loss < HUGE_VAL) {
      Add(&lost_absorbed_,
          Scaled<double>{loss, state.exponent + kLossExponent});
      remaining_ = {Mass() + loss * kLossUnit, state.exponent};
    } else {
      // Mass that is absorbed after this point was part of the remaining mass,
      // which bounds the loss.
      Add(&lost_absorbed_, remaining_);
    }
  }

  void NextPower() {
    Apply(model_.forward, 0, power_, static_cast<T*>(nullptr), next_);
    std::swap(power_, next_);
  }

  SquaredPowers<T>& squared_powers_;
  const Model<T>& model_;
  const int num_channels_;
  Workspace* workspace_;
  SquaringState<T> states_[2 * kMaxPowers + 3];
  SquaringLeg leg_ = {};
  int64_t num_squared_ = 0;
  int64_t num_states_ = 0;
  int64_t num_allocated_ = 0;
  const T* exits_ = nullptr;  // [stride], s / u
  T* power_ = nullptr;
  T* next_ = nullptr;
  int64_t first_counted_ = 0;
  Scaled<T> absorbed_;
  Scaled<double> lost_absorbed_;
  // A bound on the remaining mass at the time when the bound on losses was last
  // finite.
  Scaled<double> remaining_;
};

}  // namespace PHASIC_ISA
}  // namespace phasic

#endif  // PHASIC_NATIVE_KERNEL_METHODS_SQUARING_SQUARING_PATH_H_
