// SPDX-License-Identifier: Apache-2.0
// Settings of the rule, as the store keeps them. Each line is read unchanged, and also as the rest of a record with a
// valid checksum, because the fuzzer would not find a valid checksum itself. The effective rules are always valid.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "core/analysis/rule_layers.hpp"
#include "core/base/record.hpp"

using namespace koord;
using namespace koord::analysis;

namespace {

void check_layers(const ReadRuleLayers& read) {
  const ReadRuleLayers again = read_rule_layers(write_rule_layers(read.layers));
  if (!again.problems.empty() || again.layers != read.layers) std::abort();
  const EffectiveRules effective = effective_rules(read.layers);
  if (!check(effective.rules) || effective.origin.empty()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_layers(read_rule_layers(text));
  check_layers(read_rule_layers(sealed_record(kRuleLayersVersion, text.substr(0, text.find('\n')))));
  return 0;
}
