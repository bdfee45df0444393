// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-block-io/io_stat_source.hpp"

#include <span>

#include "core/base/file.hpp"

namespace koord::block_io {
namespace {

using Text = std::optional<std::string>;

// Returns nullopt if the file is missing or the cgroup has ended.
Result<Text> read_if_there(const std::string& path) {
  Result<std::string> text = read_file(path);
  if (text) return Text(std::move(text).value());
  if (text.error().is(std::errc::no_such_file_or_directory) || text.error().is(std::errc::no_such_device))
    return Text();
  return std::move(text).error();
}

Result<Text> read_first(const std::string& directory, std::span<const std::string_view> names) {
  for (std::string_view name : names) {
    Text text = TRY(read_if_there(directory + '/' + std::string(name)));
    if (text) return text;
  }
  return Text();
}

}  // namespace

Result<IoStatSource> IoStatSource::find(const NodeRoots& roots) {
  cgroup::Layout layout = TRY(cgroup::Layout::detect(roots));
  const std::optional<cgroup::Version> version = layout.version(cgroup::Controller::blkio);
  if (!version)
    return Error{std::make_error_code(std::errc::not_supported),
                 "this node has neither the io nor the blkio controller"};
  return IoStatSource(std::move(layout), *version);
}

Result<std::optional<std::vector<cgroup::IoStat>>> IoStatSource::read(std::string_view cgroup) const {
  using Stats = std::optional<std::vector<cgroup::IoStat>>;
  const std::string directory = layout_.directory(cgroup::Controller::blkio, cgroup);
  if (version_ == cgroup::Version::v2) {
    const Text text = TRY(read_if_there(directory + '/' + std::string(cgroup::kIoStatFile)));
    return text ? Stats(cgroup::parse_io_stat(*text)) : Stats();
  }
  const Text bytes = TRY(read_first(directory, cgroup::kBlkioBytesFiles));
  if (!bytes) return Stats();
  // Most cgroups are idle, and a device is in both files or in neither.
  std::vector<cgroup::IoStat> stats = cgroup::parse_blkio(*bytes, "");
  if (stats.empty()) return Stats(std::move(stats));
  const Text operations = TRY(read_first(directory, cgroup::kBlkioIosFiles));
  return Stats(cgroup::parse_blkio(*bytes, operations.value_or("")));
}

}  // namespace koord::block_io
