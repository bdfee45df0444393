// SPDX-License-Identifier: Apache-2.0
// FileTable: the kernel files that are in use, each of them once. [any thread]
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

  // Opens the file of this name in this directory. `kernel` is a row of the table of logical files. The caller must
  // release() it.
  Result<std::shared_ptr<SharedFile>> open(const std::string& directory, const KernelFile& kernel);
  void release(std::shared_ptr<SharedFile> file);

  std::size_t size() const;

 private:
  // Does not keep files open; keeps the directory until its last file is released.
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
