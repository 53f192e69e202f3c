// The op: (mean_anomaly, eccentricity) -> (sin_E, cos_E).

#include "kepler.h"
#include "phasic/op.h"

namespace {

void Kepler(phasic::Call& call) {
  call.ForType([&](auto zero) {
    using T = decltype(zero);
    const auto mean_anomaly = call.Input<T>(0);
    const auto eccentricity = call.Input<T>(1);
    const auto sin_E = call.Output<T>(0);
    const auto cos_E = call.Output<T>(1);
    call.ForEach([&](const phasic::Example& at) {
      kepler::SineAndCosine(*mean_anomaly(at), *eccentricity(at), sin_E(at),
                            cos_E(at));
    });
  });
}

}  // namespace

PHASIC_OP(kepler, Kepler, "mean_anomaly(), eccentricity() -> sin_E(), cos_E()");
