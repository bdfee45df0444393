// SPDX-License-Identifier: Apache-2.0
// Compares the reserved metric names, the metrics in the READMEs of the agent's own plugins, and those that the
// plugins' sources define.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/service/host_plugin_metrics.hpp"

using namespace koord;
using namespace koord::service;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view kEllipsis = "…", kAnyLevel = "<level>_";

std::vector<std::string> quoted_by(char quote, const std::string& text) {
  std::vector<std::string> found;
  for (std::size_t begin = text.find(quote); begin != std::string::npos;) {
    const std::size_t end = text.find(quote, begin + 1);
    if (end == std::string::npos) break;
    found.push_back(text.substr(begin + 1, end - begin - 1));
    begin = text.find(quote, end + 1);
  }
  return found;
}

// Completes a shortened name: "…_p99_seconds" after "x_mean_seconds" is "x_p99_seconds"; "pod_…" after "node_x" is
// "pod_x".
std::string without_ellipsis(const std::string& name, const std::string& first) {
  if (name.starts_with(kEllipsis)) {
    const std::string end = name.substr(kEllipsis.size());
    std::string begin = first;
    for (auto parts = std::count(end.begin(), end.end(), '_'); parts > 0; --parts) begin.erase(begin.rfind('_'));
    return begin + end;
  }
  if (name.ends_with(kEllipsis))
    return name.substr(0, name.size() - kEllipsis.size()) + first.substr(first.find('_') + 1);
  return name;
}

// Returns the names in the first cell of a row: "`a_x{label}`, `…_y`".
std::vector<std::string> names_in_cell(const std::string& cell) {
  std::vector<std::string> names;
  std::string first;
  for (const std::string& quoted : quoted_by('`', cell)) {
    const std::string name = without_ellipsis(quoted.substr(0, quoted.find('{')), first);
    if (first.empty()) first = name;
    if (!name.starts_with(kAnyLevel)) {
      names.push_back(name);
      continue;
    }
    for (const char* level : {"node_", "pod_", "container_"}) names.push_back(level + name.substr(kAnyLevel.size()));
  }
  return names;
}

// Returns the names in all tables with a first column "metric".
std::set<std::string> names_in_readme(const std::string& text) {
  std::set<std::string> names;
  bool is_table = false;
  for (const std::string& line : split(text, '\n')) {
    is_table = line.starts_with("| metric") || (is_table && line.starts_with('|'));
    if (!is_table || !line.starts_with("| `")) continue;
    for (std::string& name : names_in_cell(line.substr(2, line.find(" | ", 2) - 2))) names.insert(std::move(name));
  }
  return names;
}

std::map<std::string, std::set<std::string>> names_by_plugin() {
  std::map<std::string, std::set<std::string>> names;
  for (const fs::directory_entry& folder : fs::directory_iterator(KOORD_PLUGIN_SOURCES))
    if (folder.is_directory())
      names[folder.path().filename()] = names_in_readme(read_file(folder.path() / "README.md").value_or(""));
  return names;
}

// Returns the names that are string literals in calls of define().
std::set<std::string> names_in_sources(const fs::path& folder) {
  static const std::regex definition("define\\(\\s*\\{\\s*\"([a-z0-9_]+)\"");
  std::set<std::string> names;
  for (const fs::directory_entry& file : fs::directory_iterator(folder)) {
    const std::string path = file.path().string();
    if (!path.ends_with(".cpp") || path.ends_with("_test.cpp")) continue;
    const std::string text = read_file(path).value_or("");
    for (std::sregex_iterator at(text.begin(), text.end(), definition), end; at != end; ++at) names.insert((*at)[1]);
  }
  return names;
}

bool is_used(const std::set<std::string>& names, const std::string& pattern) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return fits_metric_pattern(pattern, name); });
}

}  // namespace

TEST_CASE("a cell of a README names its metrics in full, by level and by what differs from the first") {
  using Names = std::vector<std::string>;
  CHECK(names_in_cell("`node_psi`, `pod_…`") == Names{"node_psi", "pod_psi"});
  CHECK(names_in_cell("`a_mean_seconds{x}`, `…_p99_seconds`") == Names{"a_mean_seconds", "a_p99_seconds"});
  CHECK(names_in_cell("`<level>_x`") == Names{"node_x", "pod_x", "container_x"});
}

TEST_CASE("every metric of the agent's own plugins is reserved") {
  std::size_t count = 0;
  for (const auto& plugin : names_by_plugin())
    for (const std::string& name : plugin.second) {
      ++count;
      CHECK_MESSAGE(is_metric_of_host_plugin(name), plugin.first, ": ", name);
    }
  CHECK(count > 150);
}

TEST_CASE("every reserved name is the name of a metric") {
  std::set<std::string> all;
  for (const auto& [plugin, names] : names_by_plugin()) all.insert(names.begin(), names.end());
  for (const std::string_view pattern : reserved_metrics()) CHECK_MESSAGE(is_used(all, std::string(pattern)), pattern);
  for (const std::string_view pattern : reserved_level_metrics()) {
    const bool is_used_at_a_level =
        std::any_of(std::begin(kMetricLevels), std::end(kMetricLevels),
                    [&](std::string_view level) { return is_used(all, std::string(level) + std::string(pattern)); });
    CHECK_MESSAGE(is_used_at_a_level, pattern);
  }
}

TEST_CASE("a metric that a plugin's source defines by name is in its README") {
  std::size_t count = 0;
  for (const auto& plugin : names_by_plugin())
    for (const std::string& name : names_in_sources(fs::path(KOORD_PLUGIN_SOURCES) / plugin.first)) {
      ++count;
      CHECK_MESSAGE(plugin.second.contains(name), plugin.first, ": ", name);
    }
  CHECK(count > 30);
}

TEST_CASE("names of third parties are not reserved") {
  for (const char* name : {"acme_queue", "node_acme", "pod_cpu_usages", "psi", "containers_cpu_usage"})
    CHECK_FALSE(is_metric_of_host_plugin(name));
}
