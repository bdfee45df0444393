// SPDX-License-Identifier: Apache-2.0
// Annotations about whose CPUs are whose, and a NodeSLO's applications, of any content: what is read is a set of CPUs and
// amounts, what is not says why.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/shared/usage/annotations.hpp"

using namespace koord::usage;

namespace {

void check(bool holds) {
  if (!holds) std::abort();
}

template <class Parsed>
void check_told(const Parsed& parsed) {
  check(parsed.has_value() || !parsed.error().message().empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto reservation = parse_reservation(text);
  check_told(reservation);
  if (reservation && !reservation->cpus.empty())
    check(reservation->cpu_milli == 1000 * static_cast<std::int64_t>(reservation->cpus.size()));
  check_told(parse_system_cpus(text));
  const auto cpus = parse_pod_cpus(text);
  check_told(cpus);
  if (cpus) check(koord::CpuSet::parse(cpus->list()).value() == *cpus);
  check_told(parse_best_effort_applications(text));
  return 0;
}
