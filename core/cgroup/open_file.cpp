// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup/open_file.hpp"

#include <algorithm>
#include <optional>

#include "core/base/parse.hpp"
#include "core/cgroup/file_errors.hpp"

namespace koord::cgroup {
namespace {

// Returns whether any tree has the cgroup. On v1 it may exist only in some trees.
bool exists_in_any_tree(const Layout& layout, std::string_view cgroup) {
  const std::vector<std::string>& trees = layout.workload_trees();
  return std::any_of(trees.begin(), trees.end(),
                     [cgroup](const std::string& tree) { return is_directory(tree + '/' + std::string(cgroup)); });
}

Error unknown_key(const LogicalFile& file, std::string_view key) {
  std::vector<std::string> known;
  for (const KeySpec& candidate : file.v2.keys) known.emplace_back(candidate.key);
  std::string near = nearest(key, known);
  return invalid("'" + std::string(file.name) + "' has no key '" + std::string(key.substr(0, 64)) + "', " +
                 (near.empty() ? "expected one of: " + join(known, " ") : "did you mean '" + near + "'?"));
}

Result<void> check_keys(const LogicalFile& file, std::span<const std::string_view> keys) {
  if (keys.empty()) return invalid("no key of '" + std::string(file.name) + "' asked for");
  for (std::string_view key : keys) {
    if (!file.v1.find(key) && !file.v2.find(key)) return unknown_key(file, key);
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<OpenFile>> OpenFile::open(FileTable& table, const Layout& layout, std::string_view cgroup,
                                                 const LogicalFile& file, std::span<const std::string_view> keys) {
  TRY(check_keys(file, keys));
  std::optional<Error> why;
  // Only pressure files can exist in both versions. A vendor's v1 kernel has them in cpuacct, where runtimes put every
  // container.
  for (Version version : {Version::v1, Version::v2}) {
    if (layout.version(file.spec(version).files.front().controller) != version) continue;
    Result<std::shared_ptr<OpenFile>> opened = open_version(table, layout, cgroup, file, version, keys);
    if (opened) return opened;
    // Prefer "no such file" over "no such cgroup".
    if (!why || why->is(std::errc::no_such_device)) why = std::move(opened).error();
  }
  if (why && why->is(std::errc::no_such_device) && exists_in_any_tree(layout, cgroup))
    return Error{
        std::make_error_code(std::errc::not_supported),
        "'" + std::string(cgroup) + "' is not in the tree of the controller of '" + std::string(file.name) + "'"};
  if (why) return *std::move(why);
  return Error{std::make_error_code(std::errc::not_supported),
               "this node has no cgroup controller for '" + std::string(file.name) + "'"};
}

Result<std::shared_ptr<OpenFile>> OpenFile::open_version(FileTable& table, const Layout& layout,
                                                         std::string_view cgroup, const LogicalFile& file,
                                                         Version version, std::span<const std::string_view> keys) {
  const FileSpec& spec = file.spec(version);
  std::vector<std::vector<std::pair<KeySpec, std::uint32_t>>> wanted(spec.files.size());
  auto opened = std::make_shared<OpenFile>(Private(), table, keys.size());
  for (std::uint32_t place = 0; place < keys.size(); ++place) {
    if (std::optional<KeySpec> key = spec.find(keys[place]))
      wanted[key->file].emplace_back(*key, place);
    else
      opened->absent_places_.push_back(place);
  }
  // A file without wanted keys is read only if no other file can show that the cgroup was removed.
  const bool none = opened->absent_places_.size() == keys.size();
  for (std::size_t i = 0; i < spec.files.size(); ++i) {
    if (wanted[i].empty() && !none) continue;
    const KernelFile& kernel = spec.files[i];
    Source& source = opened->sources_.emplace_back();
    source.file = TRY(table.open(layout.directory(kernel.controller, cgroup), kernel));
    source.picks.reserve(wanted[i].size());
    for (const auto& [key, place] : wanted[i]) source.picks.push_back({source.file->want(key), place});
  }
  return opened;
}

OpenFile::~OpenFile() {
  for (Source& source : sources_) {
    if (!source.file) continue;
    for (const SharedFile::Pick& pick : source.picks) source.file->unwant(pick.slot);
    table_.release(std::move(source.file));
  }
}

Result<Time> OpenFile::read(std::span<std::int64_t> values) {
  if (values.size() != values_)
    return invalid("room for " + std::to_string(values.size()) + " values, expected " + std::to_string(values_));
  for (std::size_t place : absent_places_) values[place] = kAbsent;
  Time oldest = Time::max();
  for (Source& source : sources_) oldest = std::min(oldest, TRY(source.file->read(source.seen, source.picks, values)));
  return oldest;
}

}  // namespace koord::cgroup
