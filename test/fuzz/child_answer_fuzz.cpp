// SPDX-License-Identifier: Apache-2.0
// Arbitrary answers of a child to a call. The first letter of an input selects the type: u for a URL, t for targets, m
// for mapped metrics, e for series, s for samples, h for a hook's settings. The answer follows.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/child/answers.hpp"
#include "core/host/hook_fields.hpp"
#include "core/host/hook_response.hpp"
#include "test/support/fake_host.hpp"
#include "test/support/fake_node.hpp"

namespace {

using namespace koord;

constexpr std::size_t kLongestText = 4096;

void take_hook(child::Unpacker& answer) {
  static test::FakeNode node;
  static test::FakeHost host{node};
  host::HookResponse response(host.abi());
  child::take_adjustments(answer, response.table());
  // All accepted fields must also be valid for a hook in this process.
  for (const auto& [field, value] : response.close().fields)
    if (!host::check_hook_field(field, value)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  child::Unpacker answer(text.substr(1));
  const service::CallResult result = child::take_result(answer);
  if (result.text.size() > kLongestText) std::abort();
  std::array<scrape::ScrapedMetric, 3> metrics;
  std::array<scrape::ScrapedSample, 3> samples;
  if (text[0] == 'u' && child::take_text(answer).size() > kLongestText) std::abort();
  if (text[0] == 'm')
    for (scrape::ScrapedMetric& metric : metrics) child::take_metric(answer, metric);
  if (text[0] == 's')
    for (scrape::ScrapedSample& sample : samples) child::take_sample(answer, sample);
  std::array<scrape::ScrapedSeries, 3> series;
  if (text[0] == 'e')
    for (scrape::ScrapedSeries& one : series) child::take_series(answer, one);
  if (text[0] == 't' && child::take_targets(answer).size() > scrape::kMaxTargets) std::abort();
  if (text[0] == 'h') take_hook(answer);
  static_cast<void>(answer.complete());
  return 0;
}
