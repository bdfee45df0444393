// SPDX-License-Identifier: Apache-2.0
// Full and read-only disks: small real file systems. Needs root.
#include <doctest/doctest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cstdio>

#include "core/base/file.hpp"
#include "core/predict/checkpoint_file.hpp"
#include "test/core/predict/folder.hpp"

using namespace koord;
using namespace koord::predict;

namespace {

// A separate file system with room for 64 KiB.
struct SmallDisk : koord::test::Folder {
  bool mounted = ::mount("koord-test-predict", path.c_str(), "tmpfs", 0, "size=64k") == 0;

  ~SmallDisk() {
    if (mounted) ::umount2(path.c_str(), MNT_DETACH);
  }
  void remount(unsigned long flags) const {
    REQUIRE(::mount("koord-test-predict", path.c_str(), "tmpfs", MS_REMOUNT | flags, "size=64k") == 0);
  }
};

}  // namespace

TEST_CASE("on a full disk the old checkpoint stays whole and nothing half is left") {
  SmallDisk disk;
  REQUIRE(save_checkpoint(disk.path, "the old one\n"));
  Result<void> saved = save_checkpoint(disk.path, std::string(1 << 20, 'x'));
  REQUIRE_FALSE(saved);
  CHECK(saved.error().is(std::errc::no_space_on_device));
  CHECK(*load_checkpoint(disk.path) == "the old one\n");
  CHECK(*list_directory(disk.path) == std::vector<std::string>{kCheckpointName});
}

TEST_CASE("a read-only disk is reported, and used again when it is writable") {
  SmallDisk disk;
  disk.remount(MS_RDONLY);
  CHECK(save_checkpoint(disk.path, "x").error().is(std::errc::read_only_file_system));
  disk.remount(0);
  CHECK(save_checkpoint(disk.path, "x"));
  CHECK(*load_checkpoint(disk.path) == "x");
}

int main(int argc, char** argv) {
  if (::geteuid() != 0 || !SmallDisk().mounted) {
    std::fprintf(stderr, "SKIPPED: mounting a small file system needs root\n");
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
