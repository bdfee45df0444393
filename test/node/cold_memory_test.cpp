// SPDX-License-Identifier: Apache-2.0
// advisor-cold-memory with DAMON of this machine's kernel: a large file that is written and not used again becomes cold
// page cache. Cold page cache is never more than all inactive page cache. DAMON is reset at the end.
#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/node/real_advisor.hpp"
#include "test/support/child_process.hpp"

using namespace koord::test;

namespace {

constexpr double kFileBytes = 1u << 30;
const std::string kKdamonds = "/sys/kernel/mm/damon/admin/kdamonds";

std::string kdamonds() { return std::string(koord::trim(koord::read_file(kKdamonds + "/nr_kdamonds").value_or(""))); }

double meminfo_bytes(const char* key) {
  const std::string text = koord::read_file("/proc/meminfo").value_or("");
  const std::size_t at = text.find(std::string("\n") + key + ":");
  return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + std::string(key).size() + 2, nullptr) * 1024;
}

// A file on a real disk, because pages of a memory file system are not reclaimable page cache.
class CachedFile {
 public:
  CachedFile() {
    const int fd = ::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
    REQUIRE(fd >= 0);
    const std::vector<char> block(1u << 20, 'x');
    for (double written = 0; written < kFileBytes; written += static_cast<double>(block.size()))
      REQUIRE(::write(fd, block.data(), block.size()) == static_cast<ssize_t>(block.size()));
    ::fsync(fd);
    ::close(fd);
  }
  ~CachedFile() { ::unlink(path_.c_str()); }
  CachedFile(const CachedFile&) = delete;
  CachedFile& operator=(const CachedFile&) = delete;

 private:
  std::string path_ = "/var/tmp/koord-test-cold-" + std::to_string(::getpid());
};

}  // namespace

std::optional<std::string> why_not() {
  if (kdamonds() != "0") return "DAMON is not there, or in use";
  if (::access("/proc/kpageflags", R_OK) != 0) return "there is no /proc/kpageflags";
  if (meminfo_bytes("MemAvailable") < 4 * kFileBytes) return "there is too little memory to leave some of it alone";
  return std::nullopt;
}

TEST_CASE("page cache that is left alone becomes cold, and no more of it than there is page cache") {
  {
    CachedFile file;
    RealAdvisor advisor({}, R"({"coldAgeSeconds": 10})");
    CHECK(kdamonds() == "1");
    double cold = 0;
    const auto is_measured = [&] {
      advisor.host().clock().advance(std::chrono::seconds(2));  // each tick reads the file again
      advisor.tick();
      cold = advisor.host().value("node_memory_cold_page_size").value_or(0);
      return cold > 0.5 * kFileBytes;
    };
    CHECK(eventually(is_measured, std::chrono::seconds(180)));
    // The limit allows five standard errors of the estimate. It is not the inactive part alone, because other programs
    // move pages between the lists.
    const double page_cache = meminfo_bytes("Inactive(file)") + meminfo_bytes("Active(file)");
    CHECK(cold <= page_cache + 5 * meminfo_bytes("MemTotal") / 2 / 128);
    CHECK(advisor.host().value("node_memory_with_hot_page_usage").value_or(-1) > 0);
  }
  CHECK(kdamonds() == "0");
}
