// SPDX-License-Identifier: Apache-2.0
// The text of cgroup files and the names of cgroup directories, as the kernel or any user of mkdir can create them.
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/cpu_set.hpp"
#include "core/cgroup/extraction.hpp"
#include "core/cgroup/names.hpp"
#include "test/fuzz/check.hpp"

using namespace koord;
using namespace koord::cgroup;

namespace {

// Extracts every key of every logical file twice, because the found order is remembered.
void extract_all(const FileSpec& spec, std::string_view text) {
  for (std::size_t file = 0; file < spec.files.size(); ++file) {
    Extraction extraction(spec.files[file].format);
    std::size_t slots = 0;
    for (const KeySpec& key : spec.keys) {
      if (key.file == file) extraction.add(key, slots++);
    }
    std::vector<std::int64_t> first(slots), second(slots);
    extraction.apply(text, first);
    extraction.apply(text, second);
    if (spec.files[file].format != Format::flat) check(first == second);
  }
}

void parse_names(std::string_view name) {
  parse_scope(name);
  for (Driver driver : {Driver::systemd, Driver::cgroupfs}) {
    if (auto found = parse_container_dir(driver, name)) check(!found->id.empty());
    if (Result<std::string> dir = container_dir(driver, "p", name)) check(is_cgroup(*dir));
    KubeRoot root = default_kube_root(driver);
    parse_qos_dir(root, name);
    for (KubeQos qos : {KubeQos::guaranteed, KubeQos::burstable, KubeQos::best_effort}) {
      if (auto uid = parse_pod_dir(root, qos, name)) check(!uid->empty());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const LogicalFile& file : logical_files()) {
    extract_all(file.v1, text);
    extract_all(file.v2, text);
  }
  parse_names(text);
  is_cgroup(text);
  if (Result<CpuSet> set = CpuSet::parse(text)) check(*CpuSet::parse(set->list()) == *set);
  return 0;
}
