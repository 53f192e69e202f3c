// Ops for the tests of phasic.binding.bind_native.

#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include "phasic/op.h"

namespace {

// y = factor x.
void Scale(phasic::Call& call) {
  call.ForType([&](auto zero) {
    using T = decltype(zero);
    const auto factor = call.Input<T>(0);
    const auto x = call.Input<T>(1);
    const auto y = call.Output<T>(0);
    const int64_t n = call.Dim("n");
    call.ForEach([&](const phasic::Example& at) {
      for (int64_t i = 0; i < n; ++i) y(at)[i] = *factor(at) * x(at)[i];
    });
  });
}

// Computes the k-th derivative of x^3 w along k directions in both arguments,
// for k = 0, 1, 2.
template <int k>
void Cube(phasic::Call& call) {
  call.ForType([&](auto zero) {
    using T = decltype(zero);
    const auto x = call.Input<T>(0);
    const auto w = call.Input<T>(1);
    const auto y = call.Output<T>(0);
    const auto sum = call.Output<T>(1);
    call.ForEach([&](const phasic::Example& at) {
      const T a = *x(at);
      const T b = *w(at);
      if constexpr (k == 0) {
        *y(at) = a * a * a * b;
        *sum(at) = a + b;
      } else {
        const T da = *call.Input<T>(2)(at);
        const T db = *call.Input<T>(3)(at);
        if constexpr (k == 1) {
          *y(at) = 3 * a * a * b * da + a * a * a * db;
          *sum(at) = da + db;
        } else {
          const T ea = *call.Input<T>(4)(at);
          const T eb = *call.Input<T>(5)(at);
          *y(at) = 6 * a * b * da * ea + 3 * a * a * (da * eb + db * ea);
          *sum(at) = 0;
        }
      }
    });
  });
}

// (D^k f[v_1, ..., v_{k-1}, .])^T c for k = 1, 2.
template <int k>
void CubeAdjoint(phasic::Call& call) {
  call.ForType([&](auto zero) {
    using T = decltype(zero);
    const auto x = call.Input<T>(0);
    const auto w = call.Input<T>(1);
    const auto of_y = call.Input<T>(2 * k);
    const auto of_sum = call.Input<T>(2 * k + 1);
    const auto of_x = call.Output<T>(0);
    const auto of_w = call.Output<T>(1);
    call.ForEach([&](const phasic::Example& at) {
      const T a = *x(at);
      const T b = *w(at);
      const T c = *of_y(at);
      if constexpr (k == 1) {
        *of_x(at) = 3 * a * a * b * c + *of_sum(at);
        *of_w(at) = a * a * a * c + *of_sum(at);
      } else {
        const T da = *call.Input<T>(2)(at);
        const T db = *call.Input<T>(3)(at);
        *of_x(at) = (6 * a * b * da + 3 * a * a * db) * c;
        *of_w(at) = 3 * a * a * da * c;
      }
    });
  });
}

using Complex = std::complex<double>;

// Computes the k-th derivative of z^2 w along k directions in both arguments,
// for k = 0, 1, 2.
template <int k>
void Complexes(phasic::Call& call) {
  const auto z = call.Input<Complex>(0);
  const auto w = call.Input<Complex>(1);
  const auto y = call.Output<Complex>(0);
  call.ForEach([&](const phasic::Example& at) {
    const Complex a = *z(at);
    const Complex b = *w(at);
    if constexpr (k == 0) {
      *y(at) = a * a * b;
    } else {
      const Complex da = *call.Input<Complex>(2)(at);
      const Complex db = *call.Input<Complex>(3)(at);
      if constexpr (k == 1) {
        *y(at) = 2.0 * a * b * da + a * a * db;
      } else {
        const Complex ea = *call.Input<Complex>(4)(at);
        const Complex eb = *call.Input<Complex>(5)(at);
        *y(at) = 2.0 * (b * da * ea + a * (da * eb + db * ea));
      }
    }
  });
}

// (D^k f[v_1, ..., v_{k-1}, .])^T c for k = 1, 2, without conjugation.
template <int k>
void ComplexesAdjoint(phasic::Call& call) {
  const auto z = call.Input<Complex>(0);
  const auto w = call.Input<Complex>(1);
  const auto of_y = call.Input<Complex>(2 * k);
  const auto of_z = call.Output<Complex>(0);
  const auto of_w = call.Output<Complex>(1);
  call.ForEach([&](const phasic::Example& at) {
    const Complex a = *z(at);
    const Complex b = *w(at);
    const Complex c = *of_y(at);
    if constexpr (k == 1) {
      *of_z(at) = 2.0 * a * b * c;
      *of_w(at) = a * a * c;
    } else {
      const Complex da = *call.Input<Complex>(2)(at);
      const Complex db = *call.Input<Complex>(3)(at);
      *of_z(at) = 2.0 * (b * da + a * db) * c;
      *of_w(at) = 2.0 * a * da * c;
    }
  });
}

// Takes entries of x at integer indices; the outputs have a dimension of their
// own.
void Gather(phasic::Call& call) {
  call.ForType([&](auto zero) {
    using T = decltype(zero);
    const auto indices = call.Input<int32_t>(0);
    const auto x = call.Input<T>(1);
    const auto y = call.Output<T>(0);
    const auto count = call.Output<int32_t>(1);
    const int64_t m = call.Dim("m");
    const int64_t n = call.Dim("n");
    const int64_t copies = call.Option("copies", int64_t{1});
    call.Require(call.Dim("k") == m * copies, "k must be m * copies");
    call.ForEach([&](const phasic::Example& at) {
      for (int64_t i = 0; i < m; ++i) {
        const int32_t index = indices(at)[i];
        if (index < 0 || index >= n) throw std::out_of_range("index");
        for (int64_t c = 0; c < copies; ++c) {
          y(at)[c * m + i] = x(at)[index];
        }
      }
      *count(at) = static_cast<int32_t>(m);
    });
  });
}

// Returns its options.
void Options(phasic::Call& call) {
  const auto number = call.Output<double>(0);
  const auto integer = call.Output<int64_t>(1);
  const auto length = call.Output<int64_t>(2);
  call.ForEach([&](const phasic::Example& at) {
    *number(at) = call.Option("number", 0.5);
    *integer(at) = call.Option("integer", int64_t{7});
    *length(at) =
        static_cast<int64_t>(call.Option("text", std::string("four")).size());
  });
}

void ReadsUndeclared(phasic::Call& call) {
  *call.Output<double>(0).data() = call.Option("tolerance", 0.5);
}

// Half precision, whose bits are copied.
void CopyHalf(phasic::Call& call) {
  const auto x = call.Input<uint16_t>(0);
  const auto y = call.Output<uint16_t>(0);
  call.ForEach([&](const phasic::Example& at) { *y(at) = *x(at); });
}

void Throws(phasic::Call& call) {
  (void)call.Output<double>(0);
  throw std::runtime_error("no such luck");
}

void ThrowsNumber(phasic::Call& call) {
  (void)call.Output<double>(0);
  throw 42;
}

void Forgets(phasic::Call& call) { (void)call.Output<double>(0); }

// Writes all entries but the last, one too many, or its input.
template <int kind>
void WritesWrong(phasic::Call& call) {
  const auto x = call.Input<double>(0);
  const auto y = call.Output<double>(0);
  const int64_t n = call.Dim("n");
  call.ForEach([&](const phasic::Example& at) {
    for (int64_t i = 0; i < n + (kind == 1 ? 1 : 0) - (kind == 0 ? 1 : 0);
         ++i) {
      y(at)[i] = kind == 3 ? y(at)[i] + 1 : 1.0;
    }
    if (kind == 2) const_cast<double*>(x(at))[0] = 7.0;
  });
}

void TakesDouble(phasic::Call& call) {
  const auto x = call.Input<double>(0);
  const auto y = call.Output<double>(0);
  call.ForEach([&](const phasic::Example& at) { *y(at) = *x(at); });
}

}  // namespace

PHASIC_OP(test_scale, Scale, "factor(), x(n) -> y(n)");
PHASIC_OP(test_cube, Cube<0>, "x(), w() -> y(), sum()");
PHASIC_OP(test_cube_jvp, Cube<1>, "x(), w(), dx(), dw() -> y(), sum()");
PHASIC_OP(test_cube_jvp2, Cube<2>,
          "x(), w(), dx(), dw(), ex(), ew() -> y(), sum()");
PHASIC_OP(test_cube_vjp, CubeAdjoint<1>,
          "x(), w(), of_y(), of_sum() -> of_x(), of_w()");
PHASIC_OP(test_cube_vjp2, CubeAdjoint<2>,
          "x(), w(), dx(), dw(), of_y(), of_sum() -> of_x(), of_w()");
PHASIC_OP(test_complex, Complexes<0>,
          "z: complex128(), w: complex128() -> y: complex128()");
PHASIC_OP(test_complex_jvp, Complexes<1>,
          "z: complex128(), w: complex128(), dz: complex128(), dw: "
          "complex128() -> y: complex128()");
PHASIC_OP(test_complex_jvp2, Complexes<2>,
          "z: complex128(), w: complex128(), dz: complex128(), dw: "
          "complex128(), ez: complex128(), ew: complex128() -> y: "
          "complex128()");
PHASIC_OP(test_complex_vjp, ComplexesAdjoint<1>,
          "z: complex128(), w: complex128(), of_y: complex128() -> of_z: "
          "complex128(), of_w: complex128()");
PHASIC_OP(test_complex_vjp2, ComplexesAdjoint<2>,
          "z: complex128(), w: complex128(), dz: complex128(), dw: "
          "complex128(), of_y: complex128() -> of_z: complex128(), of_w: "
          "complex128()");
PHASIC_OP(test_gather, Gather,
          "indices: int32(m), x(n) -> y(k), count: int32(); copies");
PHASIC_OP(test_options, Options,
          "x() -> number: float64(), integer: int64(), length: int64(); "
          "number, integer, text");
PHASIC_OP(test_reads_undeclared, ReadsUndeclared, "x() -> y(); toleranc");
PHASIC_OP(test_reads_options, TakesDouble, "x(), dx() -> y(); tolerance");
PHASIC_OP(test_float16, CopyHalf, "x: float16() -> y: float16()");
PHASIC_OP(test_bfloat16, CopyHalf, "x: bfloat16() -> y: bfloat16()");
PHASIC_OP(test_throws, Throws, "x() -> y()");
PHASIC_OP(test_throws_number, ThrowsNumber, "x() -> y()");
PHASIC_OP(test_forgets, Forgets, "x() -> y(), z()");
PHASIC_OP(test_skips, WritesWrong<0>, "x(n) -> y(n)");
PHASIC_OP(test_overruns, WritesWrong<1>, "x(n) -> y(n)");
PHASIC_OP(test_writes_input, WritesWrong<2>, "x(n) -> y(n)");
PHASIC_OP(test_reads_output, WritesWrong<3>, "x(n) -> y(n)");
PHASIC_OP(test_takes_double, TakesDouble, "x() -> y()");
PHASIC_OP(test_unreadable, TakesDouble, "x( -> y()");
