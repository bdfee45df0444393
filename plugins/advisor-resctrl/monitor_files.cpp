// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-resctrl/monitor_files.hpp"

#include "core/base/file.hpp"
#include "plugins/shared/node/resctrl_mount.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::resctrl {
namespace {

// Returns nullopt for a missing file, because a group may be removed after its files were listed.
Result<std::optional<std::uint64_t>> read_bytes(const std::string& path) {
  Result<std::string> text = read_file(path, 4096);
  if (!text) {
    const bool gone =
        text.error().is(std::errc::no_such_file_or_directory) || text.error().is(std::errc::no_such_device);
    if (gone) return std::optional<std::uint64_t>();
    return std::move(text).error();
  }
  Result<std::optional<std::uint64_t>> bytes = parse_bytes(*text);
  if (!bytes) return std::move(bytes).error().context("'" + path + "'");
  return bytes;
}

Result<Reading> read_cache(std::uint32_t cache, const std::string& dir, const Features& features) {
  Reading reading{.cache = cache};
  if (features.occupancy) reading.occupancy_bytes = TRY(read_bytes(dir + "/llc_occupancy"));
  if (features.local_bandwidth) reading.local_bytes = TRY(read_bytes(dir + "/mbm_local_bytes"));
  if (features.total_bandwidth) reading.total_bytes = TRY(read_bytes(dir + "/mbm_total_bytes"));
  return reading;
}

}  // namespace

Result<Features> find_features(const NodeRoots& roots) {
  if (!node::exists(roots.resctrl + "/schemata")) return node::why_no_resctrl(roots);
  const std::string path = roots.resctrl + "/info/L3_MON/mon_features";
  const Features features = parse_features(node::read_text(path).value_or(""));
  if (!features.any())
    return not_found("the CPU cannot monitor its L3 cache: '" + path +
                     "' names none of llc_occupancy, mbm_local_bytes, mbm_total_bytes");
  return features;
}

Result<std::vector<Reading>> read_group(const std::string& resctrl_root, const std::string& group,
                                        const Features& features) {
  const std::string mon_data = resctrl_root + "/" + group + "/mon_data";
  std::vector<Reading> readings;
  for (const std::string& name : node::names_in(mon_data)) {
    if (const auto cache = cache_of(name)) readings.push_back(TRY(read_cache(*cache, mon_data + "/" + name, features)));
  }
  return readings;
}

}  // namespace koord::resctrl
