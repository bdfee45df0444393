// SPDX-License-Identifier: Apache-2.0
// OpenFile: one logical file of one cgroup as one caller opened it: which values of which kernel files it gets, in the
// order of its keys. [any thread]
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/file_table.hpp"
#include "core/cgroup/files.hpp"
#include "core/cgroup/layout.hpp"

namespace koord::cgroup {

class OpenFile {
  struct Private {};

 public:
  // As Reader::open. The table outlives it.
  static Result<std::shared_ptr<OpenFile>> open(FileTable& table, const Layout& layout, std::string_view cgroup,
                                                const LogicalFile& file, std::span<const std::string_view> keys);
  OpenFile(Private, FileTable& table, std::size_t values) : table_(table), values_(values) {}  // by open() only
  ~OpenFile();
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  // As Reader::read.
  Result<Time> read(std::span<std::int64_t> values);

 private:
  struct Source {
    std::shared_ptr<SharedFile> file;
    std::vector<SharedFile::Pick> picks;
    std::uint64_t seen = 0;  // the file's: under its lock
  };

  static Result<std::shared_ptr<OpenFile>> open_version(FileTable& table, const Layout& layout, std::string_view cgroup,
                                                        const LogicalFile& file, Version version,
                                                        std::span<const std::string_view> keys);

  FileTable& table_;
  std::vector<Source> sources_;
  std::size_t values_;
  std::vector<std::size_t> absent_places_;  // of keys that only the other version of cgroups has
};

}  // namespace koord::cgroup
