// SPDX-License-Identifier: Apache-2.0
// Answers of rtnetlink, and values of tc.classes, of any content: an accepted value reads back as the same.
#include <cstdlib>
#include <string_view>

#include "core/knob/traffic_messages.hpp"

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace koord::knob;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  TrafficAnswer answer;
  read_answer(text, 1, answer);
  if (answer.error < 0) std::abort();
  const auto value = parse_value(*find_knob("tc.classes"), text);
  if (value && parse_value(*find_knob("tc.classes"), spell_traffic(*value))->fields != value->fields) std::abort();
  (void)decode_traffic(text).has_value();
  return 0;
}
