// SPDX-License-Identifier: Apache-2.0
// FileTable: the kernel files that somebody wants something out of, each of them once. [any thread]
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/result.hpp"
#include "core/cgroup/shared_file.hpp"

namespace koord::cgroup {

class FileTable {
 public:
  explicit FileTable(ReadTerms& terms) : terms_(terms) {}

  // The file of this name in this directory, opened. `kernel` is a row of the table of logical files. Give it back to
  // release().
  Result<std::shared_ptr<SharedFile>> open(const std::string& directory, const KernelFile& kernel);
  void release(std::shared_ptr<SharedFile> file);

  std::size_t size() const;

 private:
  // Nobody's file is kept alive here; the directory is, until its last file is released.
  struct Entry {
    std::shared_ptr<KeptDirectory> directory;
    std::vector<std::weak_ptr<SharedFile>> files;
  };

  std::shared_ptr<SharedFile> find_or_make(const std::string& directory, const KernelFile& kernel);
  void forget(const SharedFile& file);

  ReadTerms& terms_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string_view, Entry> entries_;  // by the path, which is the directory's own text
};

}  // namespace koord::cgroup
