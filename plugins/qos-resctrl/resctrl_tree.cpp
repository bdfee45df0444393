// SPDX-License-Identifier: Apache-2.0
#include "plugins/qos-resctrl/resctrl_tree.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "plugins/shared/node/resctrl_mount.hpp"
#include "plugins/shared/node/value_file.hpp"

namespace koord::rdt {
namespace {

// The kernel's maximum for AMD in eighths of GB/s, and its value for "no limit" in MiB/s.
constexpr std::int64_t kMostEighths = 2048;
constexpr std::int64_t kMostMegabytes = UINT32_MAX;

std::uint64_t read_mask(const std::string& path) {
  const std::string text = node::read_text(path).value_or("");
  std::uint64_t mask = 0;
  std::from_chars(text.data(), text.data() + text.size(), mask, 16);
  return mask;
}

std::int64_t read_number(const std::string& path, std::int64_t otherwise) {
  return node::read_number(path).value_or(otherwise);
}

std::optional<Cache> read_cache(const std::string& root, const std::string& schemata) {
  const std::string info = root + "/info/L3";
  Cache cache{
      .mask = read_mask(info + "/cbm_mask"),
      .least_bits = static_cast<unsigned>(std::clamp<std::int64_t>(read_number(info + "/min_cbm_bits", 1), 1, 64)),
      .takes_gaps = read_number(info + "/sparse_masks", 0) == 1,
      .ids = domains_in(schemata, "L3")};
  if (cache.mask == 0 || cache.ids.empty()) return std::nullopt;
  return cache;
}

// Returns whether /proc/mounts has a line like "resctrl /sys/fs/resctrl resctrl rw,relatime,mba_MBps 0 0".
bool is_in_megabytes(const NodeRoots& roots) {
  std::string text = node::read_text(roots.proc + "/1/mounts").value_or("");
  if (text.empty()) text = node::read_text(roots.proc + "/self/mounts").value_or("");
  std::string_view rest = text;
  while (auto line = next_field(rest, '\n')) {
    std::string_view words = *line;
    next_word(words), next_word(words);
    if (next_word(words) == std::string_view("resctrl") &&
        next_word(words).value_or("").find("mba_MBps") != std::string_view::npos)
      return true;
  }
  return false;
}

bool is_amd(const NodeRoots& roots) {
  const std::string cpus = read_file(roots.proc + "/cpuinfo").value_or("");
  return cpus.find("AuthenticAMD") != std::string::npos || cpus.find("HygonGenuine") != std::string::npos;
}

std::optional<Bandwidth> read_bandwidth(const NodeRoots& roots, const std::string& schemata) {
  const std::string info = roots.resctrl + "/info/MB";
  Bandwidth bandwidth{.least = read_number(info + "/min_bandwidth", 1),
                      .step = read_number(info + "/bandwidth_gran", 1),
                      .ids = domains_in(schemata, "MB")};
  if (bandwidth.ids.empty()) return std::nullopt;
  if (is_in_megabytes(roots)) {
    bandwidth.unit = BandwidthUnit::megabytes;
    bandwidth.unlimited = kMostMegabytes;
    bandwidth.least = bandwidth.step = 1;  // the files with the minimum and the step are in percent
  } else if (is_amd(roots)) {
    bandwidth.unit = BandwidthUnit::eighths;
    bandwidth.unlimited = std::max(kMostEighths, static_cast<std::int64_t>(largest_in(schemata, "MB", 10)));
  }
  return bandwidth;
}

unsigned read_closids(const NodeRoots& roots, const Hardware& hardware) {
  std::int64_t least = INT32_MAX;
  if (hardware.l3) least = std::min(least, read_number(roots.resctrl + "/info/L3/num_closids", INT32_MAX));
  if (hardware.bandwidth) least = std::min(least, read_number(roots.resctrl + "/info/MB/num_closids", INT32_MAX));
  return static_cast<unsigned>(std::max<std::int64_t>(least, 0));
}

}  // namespace

Result<Hardware> read_hardware(const NodeRoots& roots) {
  const Result<std::string> schemata = read_file(roots.resctrl + "/schemata");
  if (!schemata) return node::why_no_resctrl(roots);
  if (node::exists(roots.resctrl + "/info/L3CODE"))
    return not_found("resctrl is mounted with cdp: caches have masks for code and for data, which the NodeSLO does "
                     "not distinguish");
  Hardware hardware{.l3 = read_cache(roots.resctrl, *schemata), .bandwidth = read_bandwidth(roots, *schemata)};
  if (!hardware.l3 && !hardware.bandwidth)
    return not_found("the CPU can share out neither its L3 cache nor memory bandwidth: '" + roots.resctrl +
                     "/schemata' has neither L3 nor MB");
  hardware.closids = read_closids(roots, hardware);
  return hardware;
}

std::vector<std::string> read_groups(const std::string& resctrl_root) {
  std::vector<std::string> groups;
  for (const std::string& name : list_subdirectories(resctrl_root).value_or({}))
    if (name != "info" && name != "mon_groups" && name != "mon_data") groups.push_back(name);
  return groups;
}

}  // namespace koord::rdt
