#include "native/kernel/matrix/operator.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "native/kernel/matrix/tiles.h"
#include "native/kernel/matrix/weight_planes.h"
#include "native/kernel/numbers/dual.h"
#include "native/kernel/runtime/workspace.h"

namespace phasic {
namespace PHASIC_ISA {
namespace {

using Number = Dual<double>;

// A dense matrix with tangents, and vectors for its steps.
class DenseOperator {
 public:
  explicit DenseOperator(int64_t size) : random_(1) {
    const auto stride = static_cast<size_t>(PaddedSize(size));
    offsets_ = {0};
    for (int64_t j = 0; j < PaddedSize(size); ++j) {
      for (int64_t i = 0; i < size && j < size; ++i) {
        if (i == j) continue;
        rows_.push_back(static_cast<int32_t>(i));
        weights_.push_back(Draw());
      }
      offsets_.push_back(static_cast<int64_t>(rows_.size()));
    }
    planes_.assign(static_cast<size_t>(WeightPlanes::Count(size)), 0.0);
    for (int64_t j = 0; j < size; ++j) {
      for (int64_t t = offsets_[j]; t < offsets_[j + 1]; ++t) {
        const auto place =
            static_cast<size_t>(WeightPlanes::Place(size, rows_[t], j));
        planes_[place] = weights_[t].value;
        planes_[place + 8] = weights_[t].tangent;
      }
    }
    for (auto* vector : {&share_, &leaving_, &input_, &low_, &source_}) {
      vector->assign(stride, Number(0.0));
      for (int64_t i = 0; i < size; ++i) (*vector)[i] = Draw();
    }
    base_.assign(stride, 1.0);
    leaving_low_.assign(stride, 1e-17);
    operator_.size = size;
    operator_.stride = static_cast<int64_t>(stride);
    operator_.staying = {share_.data(), base_.data(), leaving_.data(),
                         leaving_low_.data()};
    operator_.pattern = {1, operator_.stride, offsets_.data(), rows_.data()};
    operator_.weights = weights_.data();
  }

  // Returns the results of three steps of a block, and their rounding errors.
  std::vector<Number> Run(int64_t block, bool has_source, bool has_planes) {
    constexpr int kSteps = 3;
    operator_.planes = has_planes ? planes_.data() : nullptr;
    std::vector<Number> out(kSteps * input_.size(), Number(7.0));
    std::vector<Number> low = low_;
    const Number factors[kSteps] = {Draw(), Draw(), Draw()};
    const Steps<Number> steps = {kSteps, input_.data(), low.data(), out.data(),
                                 operator_.stride};
    if (has_source) {
      Apply(operator_, block, factors, source_.data(), steps);
    } else {
      Apply(operator_, block, steps);
    }
    out.insert(out.end(), low.begin(), low.end());
    return out;
  }
  void Restart() { random_.seed(2); }

 private:
  Number Draw() {
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    const double value = uniform(random_);
    return {value, uniform(random_) - 0.5};
  }

  std::mt19937_64 random_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> rows_;
  std::vector<Number> weights_;
  std::vector<double> planes_;
  std::vector<Number> share_;
  std::vector<double> base_;
  std::vector<Number> leaving_;
  std::vector<double> leaving_low_;
  std::vector<Number> input_;
  std::vector<Number> low_;
  std::vector<Number> source_;
  Operator<Number> operator_;
};

// Numbers with a tangent have the same bits with planes as without.
TEST(OperatorTest, PlanesHaveTheSameBits) {
  for (const int64_t size : {9, 16, 23, 41}) {
    DenseOperator dense(size);
    for (const int64_t block : {int64_t{0}, kPlainBlocks}) {
      for (const bool has_source : {false, true}) {
        dense.Restart();
        const std::vector<Number> one = dense.Run(block, has_source, false);
        dense.Restart();
        const std::vector<Number> other = dense.Run(block, has_source, true);
        for (size_t i = 0; i < one.size(); ++i) {
          ASSERT_EQ(one[i].value, other[i].value) << size << " " << i;
          ASSERT_EQ(one[i].tangent, other[i].tangent) << size << " " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace PHASIC_ISA
}  // namespace phasic
