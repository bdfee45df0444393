// SPDX-License-Identifier: Apache-2.0
// Kubernetes quantities: reading and writing gives the same amount in its canonical form.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/quantity.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;

namespace {

// Checks that whole units and thousandths are the same after writing and reading.
void check_written(std::int64_t value) {
  for (const std::string& text : {format_decimal(value), format_binary(value)}) {
    const Result<Quantity> again = Quantity::parse(text);
    check(again && again->value() == value);
  }
  const Result<Quantity> again = Quantity::parse(format_decimal_milli(value));
  check(again && again->milli() == value);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<Quantity> quantity = Quantity::parse(text);
  if (!quantity) return 0;
  check(quantity->value() != INT64_MIN);
  check_written(quantity->value());
  if (quantity->milli() != INT64_MAX && quantity->milli() != -INT64_MAX) check_written(quantity->milli());
  return 0;
}
