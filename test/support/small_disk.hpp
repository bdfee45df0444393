// SPDX-License-Identifier: Apache-2.0
// SmallDisk: a small file system in a new folder, which the test can fill or make read-only. Needs root.
#pragma once

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "test/core/store/temporary_directory.hpp"

namespace koord::test {

class SmallDisk {
 public:
  explicit SmallDisk(std::string size = "4m") : size_("size=" + std::move(size)) {
    mounted_ = ::mount(kSource, path().c_str(), "tmpfs", 0, size_.c_str()) == 0;
  }
  ~SmallDisk() {
    if (mounted_) ::umount2(path().c_str(), MNT_DETACH);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

  bool mounted() const { return mounted_; }
  const std::string& path() const { return directory_.path().native(); }
  std::string operator/(const char* name) const { return directory_ / name; }

  void remount(unsigned long flags) const {
    REQUIRE(::mount(kSource, path().c_str(), "tmpfs", MS_REMOUNT | flags, size_.c_str()) == 0);
  }
  void fill() const {
    std::ofstream file(directory_ / "filler", std::ios::binary);
    const std::string block(4096, 'f');
    while (file.write(block.data(), 4096).flush()) {
    }
  }
  void empty() const { ::unlink((directory_ / "filler").c_str()); }

 private:
  static constexpr const char* kSource = "koord-test-disk";

  TemporaryDirectory directory_;
  std::string size_;
  bool mounted_ = false;
};

}  // namespace koord::test
