// SPDX-License-Identifier: Apache-2.0
// A pod's hands-off annotation with any content: the result is nothing, everything, or a limited list of names. The
// target also parses any text as a mode and as a result.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/mode.hpp"
#include "core/decision/outcome.hpp"
#include "core/knob/subjects.hpp"
#include "test/fuzz/check.hpp"

using namespace koord::knob;
using namespace koord::decision;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const HandsOff hands_off = parse_hands_off(text);
  check(!hands_off.all || hands_off.names.empty());
  check(hands_off.names.size() <= 32);
  const bool by_knob = std::any_of(hands_off.names.begin(), hands_off.names.end(),
                                   [](const auto& name) { return find_knob(name) != nullptr; });
  for (const char* name : {"cpu.max", "cpu.weight", "memory.high"})
    check(!covers(hands_off, *find_knob(name), "no-plugin") || hands_off.all || by_knob ||
          text.find("no-plugin") != std::string_view::npos);
  check(unknown_names(hands_off, hands_off.names).empty());
  if (const auto mode = koord::parse_mode(text)) check(to_string(*mode) == text);
  if (const auto outcome = parse_outcome(text)) check(name_of(*outcome) == text);
  return 0;
}
