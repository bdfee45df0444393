// SPDX-License-Identifier: Apache-2.0
#include "core/analysis/correlation.hpp"

#include <algorithm>
#include <cmath>

namespace koord::analysis {
namespace {

// Smaller than the rounding of a float. A series that varies by a smaller part of its mean is constant.
constexpr double kConstant = 1e-6;

struct Means {
  double a = 0, b = 0;
  std::size_t n = 0;
};

bool are_known(float a, float b) { return std::isfinite(a) && std::isfinite(b); }

Means means_of(std::span<const float> a, std::span<const float> b) {
  Means means;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!are_known(a[i], b[i])) continue;
    means.a += a[i];
    means.b += b[i];
    ++means.n;
  }
  if (means.n == 0) return means;
  means.a /= static_cast<double>(means.n);
  means.b /= static_cast<double>(means.n);
  return means;
}

}  // namespace

std::optional<double> correlation(std::span<const float> a, std::span<const float> b, std::size_t fewest) {
  const std::size_t n = std::min(a.size(), b.size());
  const Means means = means_of(a.first(n), b.first(n));
  if (means.n < std::max<std::size_t>(fewest, 2)) return std::nullopt;
  double aa = 0, bb = 0, ab = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (!are_known(a[i], b[i])) continue;
    const double from_a = a[i] - means.a, from_b = b[i] - means.b;
    aa += from_a * from_a;
    bb += from_b * from_b;
    ab += from_a * from_b;
  }
  const auto is_constant = [&](double squares, double mean) {
    return squares <= static_cast<double>(means.n) * kConstant * kConstant * mean * mean;
  };
  if (is_constant(aa, means.a) || is_constant(bb, means.b)) return std::nullopt;
  return std::clamp(ab / std::sqrt(aa * bb), -1.0, 1.0);
}

}  // namespace koord::analysis
