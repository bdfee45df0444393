// SPDX-License-Identifier: Apache-2.0
// KeptDirectory: one cgroup's directory in one hierarchy. A file without a kept descriptor is opened through it: its
// own descriptor, one for all its files, spares the walk along the path and never leads to a later cgroup of the same
// name. [any thread]
#pragma once

#include <atomic>
#include <string>

#include "core/base/unique_fd.hpp"
#include "core/cgroup/read_terms.hpp"

namespace koord::cgroup {

class KeptDirectory {
 public:
  KeptDirectory(std::string path, ReadTerms& terms) : path_(std::move(path)), terms_(terms) {}
  ~KeptDirectory();
  KeptDirectory(const KeptDirectory&) = delete;
  KeptDirectory& operator=(const KeptDirectory&) = delete;

  const std::string& path() const { return path_; }

  // Opens a file in it for reading; empty on failure, with the reason in errno.
  UniqueFd open(const char* name);

  // A file of it was found gone: a directory at the path now, if any, is another one.
  void end() { ended_.store(true, std::memory_order_relaxed); }
  bool ended() const { return ended_.load(std::memory_order_relaxed); }

 private:
  int descriptor();

  const std::string path_;
  ReadTerms& terms_;
  std::atomic<int> fd_ = -1;
  std::atomic<bool> ended_ = false;
};

}  // namespace koord::cgroup
