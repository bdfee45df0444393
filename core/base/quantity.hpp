// SPDX-License-Identifier: Apache-2.0
// Quantity: an amount as Kubernetes writes it ("100m", "1.5Gi", "1e3"), kept exactly to the billionth; and amounts
// written in the one form that the API server writes them back in. A plain value.
#pragma once

#include <cstdint>
#include <string>
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

// Return the canonical form: exact, without a decimal point, with the largest suffix that leaves a whole number.
std::string format_decimal(std::int64_t value);        // "5", "12k", "1500"
std::string format_decimal_milli(std::int64_t milli);  // CPU: "5230m", "5"
std::string format_binary(std::int64_t value);         // memory: "12Gi", "123456789"; below 1024 as format_decimal()

}  // namespace koord
