// SPDX-License-Identifier: Apache-2.0
#include "core/host/knob_values.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::host {
namespace {

using cgroup::Controller;

// A knob whose file is the same on both versions, or is on one only, is read as text; one that differs,
// through the table of logical files.
struct Knob {
  std::string_view name;
  Controller controller;
  std::string_view v2_file;       // empty: not on v2
  std::string_view v1_file;       // empty: not on v1
  std::string_view logical_file;  // of the versions without a file here
  std::array<std::string_view, 2> keys = {};
};

constexpr Knob knobs[] = {
    {"cpu.max", Controller::cpu, "cpu.max", "", "cpu.max", {"quota_us", "period_us"}},
    {"cpu.max.burst", Controller::cpu, "cpu.max.burst", "cpu.cfs_burst_us", "", {}},
    {"cpu.shares", Controller::cpu, "", "cpu.shares", "cpu.shares", {"shares"}},
    {"cpu.weight", Controller::cpu, "cpu.weight", "", "", {}},
    {"cpu.idle", Controller::cpu, "cpu.idle", "cpu.idle", "", {}},
    {"cpuset.cpus", Controller::cpuset, "cpuset.cpus", "cpuset.cpus", "", {}},
    {"cpuset.mems", Controller::cpuset, "cpuset.mems", "cpuset.mems", "", {}},
    {"memory.min", Controller::memory, "memory.min", "", "", {}},
    {"memory.low", Controller::memory, "memory.low", "", "", {}},
    {"memory.high", Controller::memory, "memory.high", "", "", {}},
    {"memory.max", Controller::memory, "memory.max", "", "memory.limit", {"limit_bytes"}},
    {"memory.swap.max", Controller::memory, "memory.swap.max", "", "", {}},
    {"memory.oom.group", Controller::memory, "memory.oom.group", "", "", {}},
    {"io.max", Controller::blkio, "io.max", "", "", {}},
    {"io.weight", Controller::blkio, "io.weight", "", "", {}},
    {"io.latency", Controller::blkio, "io.latency", "", "", {}},
    {"pids.max", Controller::pids, "pids.max", "pids.max", "", {}},
};

const Knob* find_knob(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(knobs), std::end(knobs), [&](const Knob& k) { return k.name == name; });
  return found == std::end(knobs) ? nullptr : found;
}

std::span<const std::string_view> keys_of(const Knob& knob) {
  return {knob.keys.data(), knob.keys[1].empty() ? 1u : 2u};
}

// -1 is how the table says that there is no limit.
std::string spell(std::span<const std::int64_t> values) {
  std::vector<std::string> words;
  for (std::int64_t value : values) words.push_back(value == -1 ? "max" : std::to_string(value));
  return join(words, " ");
}

Result<std::string> read_converted(cgroup::Reader& reader, const Knob& knob, std::string_view cgroup_dir) {
  const auto keys = keys_of(knob);
  std::array<std::int64_t, 2> values = {};
  const std::span<std::int64_t> wanted(values.data(), keys.size());
  const cgroup::Handle handle = TRY(reader.open(cgroup_dir, knob.logical_file, keys));
  const Result<void> read = reader.read(handle, wanted);
  reader.close(handle);
  if (!read) return Error(read.error());
  if (std::find(wanted.begin(), wanted.end(), cgroup::kAbsent) != wanted.end())
    return system_error(ENOTSUP, "this kernel does not tell '" + std::string(knob.name) + "'");
  return spell(wanted);
}

Result<std::string> read_text(const std::string& directory, std::string_view file) {
  Result<std::string> content = read_file(directory + "/" + std::string(file));
  if (content) return std::string(trim(*content));
  if (!content.error().is(std::errc::no_such_file_or_directory)) return content;
  const bool is_cgroup_there = ::access(directory.c_str(), F_OK) == 0;
  return system_error(is_cgroup_there ? ENOTSUP : ENODEV, std::move(content).error().text);
}

}  // namespace

Result<void> check_knob(std::string_view knob) {
  if (find_knob(knob)) return {};
  std::vector<std::string> names;
  for (const Knob& known : knobs) names.emplace_back(known.name);
  const std::string near = nearest(knob, names);
  return invalid("'" + std::string(knob) + "' is not a knob" +
                 (near.empty() ? "" : ", did you mean '" + near + "'?"));
}

Result<std::string> read_knob(cgroup::Reader& reader, std::string_view name, std::string_view cgroup_dir) {
  TRY(check_knob(name));
  const Knob* knob = find_knob(name);
  const std::optional<cgroup::Version> version = reader.layout().version(knob->controller);
  if (!version)
    return system_error(ENOTSUP,
                        "this node has no " + std::string(name_of(knob->controller)) + " controller");
  const std::string_view file = *version == cgroup::Version::v2 ? knob->v2_file : knob->v1_file;
  if (!file.empty()) return read_text(reader.layout().directory(knob->controller, cgroup_dir), file);
  if (!knob->logical_file.empty()) return read_converted(reader, *knob, cgroup_dir);
  return system_error(ENOTSUP, "cgroup " + std::string(*version == cgroup::Version::v2 ? "v2" : "v1") +
                                   " has no '" + std::string(name) + "'");
}

}  // namespace koord::host
