// SPDX-License-Identifier: Apache-2.0
// advisor-page-cache on this machine's kernel: a written file counts as page cache of the writer's cgroup, and not as
// memory that cannot be reclaimed.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/base/file.hpp"
#include "test/node/kernel_counters.hpp"
#include "test/node/real_advisor.hpp"

using namespace koord::test;

namespace {

constexpr double kMiB = 1 << 20;
constexpr std::size_t kFileBytes = 32u << 20;
constexpr long kTmpfsMagic = 0x01021994, kRamfsMagic = 0x858458f6;

// Writes a file and keeps it open. Its name is removed immediately.
void fill_page_cache() {
  std::string path = "koord-test-page-cache-XXXXXX";
  const int fd = ::mkstemp(path.data());
  ::unlink(path.c_str());
  const std::vector<char> block(1u << 20, 'x');
  for (std::size_t written = 0; written < kFileBytes; written += block.size())
    if (::write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size())) ::_exit(1);
  ::fsync(fd);  // dirty pages are not on a list of reclaimable pages
}

}  // namespace

std::optional<std::string> why_not() {
  struct statfs here;
  if (::statfs(".", &here) != 0) return "the current directory cannot be asked for its file system";
  if (here.f_type == kTmpfsMagic || here.f_type == kRamfsMagic) return "files here are in memory and on no disk";
  const koord::cgroup::Layout layout = *koord::cgroup::Layout::detect(koord::NodeRoots());
  if (!layout.version(koord::cgroup::Controller::memory)) return "there is no memory controller";
  return std::nullopt;
}

TEST_CASE("32 MiB of a file that a process has written are page cache of its cgroup") {
  RealCgroup writing("writing"), idle("idle");
  Inhabitant writer(writing, fill_page_cache);
  RealAdvisor advisor({&writing, &idle});
  double bytes = -1;
  const bool settled = eventually([&] {
    advisor.tick();
    bytes = advisor.value("container_memory_usage_with_page_cache", writing).value_or(-1);
    return bytes >= 0.97 * kFileBytes && bytes <= 1.3 * kFileBytes;
  });
  INFO("page cache and memory: ", bytes);
  CHECK(settled);
  CHECK(advisor.value("container_memory_usage_with_page_cache", idle).value_or(-1) <= kMiB);
}

TEST_CASE("the node's usage is the memory that is not free") {
  RealCgroup none("none");
  RealAdvisor advisor({&none});
  const auto not_free = [] {
    const std::string text = koord::read_file("/proc/meminfo").value();
    const auto kib = [&](const char* key) {
      const std::size_t at = text.find(key);
      return std::strtod(text.c_str() + at + std::string_view(key).size(), nullptr);
    };
    return (kib("MemTotal:") - kib("MemFree:")) * 1024;
  };
  CHECK(eventually(
      [&] {
        const double before = not_free();
        advisor.tick();
        const double after = not_free();
        const double reported = advisor.host().value("node_memory_usage_with_page_cache").value_or(-1);
        return reported >= std::fmin(before, after) && reported <= std::fmax(before, after);
      },
      std::chrono::seconds(60)));
}
