// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "core/base/parse.hpp"
#include "plugins/advisor-node-info/node_info.hpp"

namespace koord::node_info {
namespace {

// Parts of MIDR_EL1: the implementer is in bits 31..24, the part in bits 15..4. Only parts found in servers are listed.
struct Implementer {
  std::string_view number, name;
};
constexpr Implementer implementers[] = {
    {"0x41", "ARM"},    {"0x42", "Broadcom"},  {"0x43", "Cavium"},   {"0x46", "FUJITSU"}, {"0x48", "HiSilicon"},
    {"0x4e", "NVIDIA"}, {"0x50", "APM"},       {"0x51", "Qualcomm"}, {"0x53", "Samsung"}, {"0x56", "Marvell"},
    {"0x61", "Apple"},  {"0x6d", "Microsoft"}, {"0x70", "Phytium"},  {"0xc0", "Ampere"},
};
struct Part {
  std::string_view implementer, number, name;
};
constexpr Part parts[] = {
    {"0x41", "0xd03", "Cortex-A53"},  {"0x41", "0xd07", "Cortex-A57"},  {"0x41", "0xd08", "Cortex-A72"},
    {"0x41", "0xd0b", "Cortex-A76"},  {"0x41", "0xd0c", "Neoverse-N1"}, {"0x41", "0xd40", "Neoverse-V1"},
    {"0x41", "0xd49", "Neoverse-N2"}, {"0x41", "0xd4f", "Neoverse-V2"}, {"0x41", "0xd83", "Neoverse-V3AE"},
    {"0x41", "0xd84", "Neoverse-V3"}, {"0x41", "0xd8e", "Neoverse-N3"}, {"0x43", "0x0a1", "ThunderX"},
    {"0x43", "0x0af", "ThunderX2"},   {"0x46", "0x001", "A64FX"},       {"0x48", "0xd01", "Kunpeng-920"},
    {"0x4e", "0x004", "Carmel"},      {"0x70", "0x660", "FTC660"},      {"0x70", "0x662", "FTC662"},
    {"0x70", "0x663", "FTC663"},      {"0xc0", "0xac3", "Ampere-1"},    {"0xc0", "0xac4", "Ampere-1a"},
};

// Values of the keys that name a CPU, each from the first CPU that has the key.
struct Entries {
  enum Key { model_name, cpu, vendor_id, implementer, part, n_keys };
  static constexpr std::array<std::string_view, n_keys> names = {"model name", "cpu", "vendor_id", "CPU implementer",
                                                                 "CPU part"};

  explicit Entries(std::string_view text) {
    while (std::optional<std::string_view> line = next_field(text, '\n')) {
      const std::size_t colon = line->find(':');
      if (colon == std::string_view::npos) continue;
      const auto* key = std::find(names.begin(), names.end(), trim(line->substr(0, colon)));
      if (key == names.end()) continue;
      std::string_view& value = values[static_cast<std::size_t>(key - names.begin())];
      if (value.empty()) value = trim(line->substr(colon + 1));
    }
  }

  std::array<std::string_view, n_keys> values;
};

CpuModel arm64_model(std::string_view implementer, std::string_view part) {
  const auto* vendor = std::find_if(std::begin(implementers), std::end(implementers),
                                    [&](const Implementer& known) { return known.number == implementer; });
  const auto* model = std::find_if(std::begin(parts), std::end(parts), [&](const Part& known) {
    return known.implementer == implementer && known.number == part;
  });
  return {model != std::end(parts) ? std::string(model->name) : "part " + std::string(part),
          std::string(vendor != std::end(implementers) ? vendor->name : implementer)};
}

}  // namespace

CpuModel parse_cpuinfo(std::string_view text) {
  const auto values = Entries(text).values;
  if (values[Entries::model_name].empty() && !values[Entries::implementer].empty())
    return arm64_model(values[Entries::implementer], values[Entries::part]);
  const std::string_view model = values[values[Entries::model_name].empty() ? Entries::cpu : Entries::model_name];
  return {std::string(model), std::string(values[Entries::vendor_id])};
}

}  // namespace koord::node_info
