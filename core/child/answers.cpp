// SPDX-License-Identifier: Apache-2.0
#include "core/child/answers.hpp"

namespace koord::child {
namespace {

constexpr std::size_t kMaxText = 4096;

}  // namespace

host::CallResult take_result(Unpacker& answer) {
  host::CallResult result{.status = answer.number<koord_status>()};
  result.text = take_text(answer);
  result.cpu = Duration(answer.number<std::int64_t>());
  return result;
}

std::string take_text(Unpacker& given) { return std::string(given.text().substr(0, kMaxText)); }

void take_metric(Unpacker& given, host::ScrapedMetric& metric) {
  metric.status = given.number<koord_status>();
  metric.mapped = take_text(given);
}

void take_sample(Unpacker& given, host::ScrapedSample& sample) {
  sample.status = given.number<koord_status>();
  sample.value = given.number<double>();
}

void take_adjustments(Unpacker& given, const koord_hook_response& response) {
  for (std::uint32_t n = given.count(2 * sizeof(std::uint64_t)); n > 0; --n) {
    koord_str field = given.str();
    koord_str value = given.str();
    if (given.ok()) response.set(&response, field, value);
  }
  bool rejects = given.number<std::uint32_t>() != 0;
  koord_str why = given.str();
  if (rejects && given.ok()) response.reject(&response, why);
}

}  // namespace koord::child
