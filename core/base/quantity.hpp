// SPDX-License-Identifier: Apache-2.0
// Quantity: an amount as Kubernetes writes it ("100m", "1.5Gi", "1e3"), kept exactly to the billionth. A
// plain value.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.hpp"

namespace koord {

class Quantity {
 public:
  // Sign, digits with at most one point, then a suffix: n u m, k M G T P E, Ki Mi Gi Ti Pi Ei, or an exponent
  // e3, E-3. Parts of a billionth are rounded up, as Kubernetes does. Beyond ±(2^63 - 1) is an error.
  static Result<Quantity> parse(std::string_view text);

  // Whole units (bytes for memory), rounded up.
  std::int64_t value() const;
  // Thousandths (milli-cores for CPU), rounded up; the largest int64 when they are more.
  std::int64_t milli() const;

  bool operator==(const Quantity&) const = default;

 private:
  __extension__ using Wide = __int128;

  std::int64_t in_units_of(Wide nanos) const;

  Wide nanos_ = 0;
};

}  // namespace koord
