// SPDX-License-Identifier: Apache-2.0
// LoopDisk: a block device for one test. It is a loop device on memory that reads as zeros, and is detached with the
// object. Needs root.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/unique_fd.hpp"

namespace koord::test {

class LoopDisk {
 public:
  // Prints a warning and returns nullptr if no loop device is available.
  static std::unique_ptr<LoopDisk> attach(std::uint64_t bytes);
  LoopDisk(const LoopDisk&) = delete;
  LoopDisk& operator=(const LoopDisk&) = delete;
  ~LoopDisk();

  const std::string& path() const { return path_; }
  dev_t number() const;

 private:
  explicit LoopDisk(std::uint64_t bytes);

  bool try_to_attach(std::uint64_t bytes);
  bool fail(std::string why);

  UniqueFd device_;
  std::string path_, why_;
  bool attached_;
};

}  // namespace koord::test
