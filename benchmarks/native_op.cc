// The smallest native op made with PHASIC_OP, which returns its array.

#include <algorithm>
#include <cstdint>

#include "phasic/op.h"

namespace {

void PassOn(phasic::Call& call) {
  const auto x = call.Input<double>(0);
  const auto y = call.Output<double>(0);
  const int64_t n = call.Dim("n");
  call.ForEach(
      [&](const phasic::Example& at) { std::copy_n(x(at), n, y(at)); });
}

}  // namespace

PHASIC_OP(benchmark_native_op, PassOn, "x(n) -> y(n)");
