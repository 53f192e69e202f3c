// The same op on CUDA: a grid-stride loop on the stream that XLA provides.

#include <cstdint>

#include "kepler.h"
#include "phasic/op/cuda.h"

namespace {

constexpr int kThreads = 256;
constexpr int64_t kMaxBlocks = 4096;

template <class T>
__global__ void SolveAll(phasic::Layout layout, const T* mean_anomaly,
                         const T* eccentricity, T* sin_E, T* cos_E) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < layout.num_examples; i += stride) {
    kepler::SineAndCosine(mean_anomaly[layout.InputOffset(0, i)],
                          eccentricity[layout.InputOffset(1, i)], sin_E + i,
                          cos_E + i);
  }
}

template <class T>
void Launch(phasic::Call& call, cudaStream_t stream) {
  const auto mean_anomaly = call.Input<T>(0);
  const auto eccentricity = call.Input<T>(1);
  const auto sin_E = call.Output<T>(0);
  const auto cos_E = call.Output<T>(1);
  const phasic::Layout& layout = call.layout();
  if (layout.num_examples == 0) return;
  const int64_t blocks = (layout.num_examples + kThreads - 1) / kThreads;
  SolveAll<T>
      <<<static_cast<unsigned>(blocks < kMaxBlocks ? blocks : kMaxBlocks),
         kThreads, 0, stream>>>(layout, mean_anomaly.data(),
                                eccentricity.data(), sin_E.data(),
                                cos_E.data());
  phasic::CheckLaunch();
}

void Kepler(phasic::Call& call, cudaStream_t stream) {
  if (call.type() == phasic::Type::kFloat32) {
    Launch<float>(call, stream);
  } else {
    Launch<double>(call, stream);
  }
}

}  // namespace

PHASIC_CUDA_OP(kepler, Kepler,
               "mean_anomaly(), eccentricity() -> sin_E(), cos_E()");
