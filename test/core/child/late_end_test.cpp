// SPDX-License-Identifier: Apache-2.0
// A child that does not end within the time that the agent waits after SIGKILL.
#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/child/process.hpp"
#include "test/support/eventually.hpp"

using namespace koord;

namespace {

// A cgroup with a process that gets no signal before the cgroup thaws, not even SIGKILL. Only cgroup v1 has such
// cgroups.
class Freezer {
 public:
  static bool is_there() { return std::filesystem::exists("/sys/fs/cgroup/freezer/cgroup.procs") && ::geteuid() == 0; }

  explicit Freezer(pid_t pid) {
    std::filesystem::create_directory(path_);
    REQUIRE(write_value(path_ + "/cgroup.procs", std::to_string(pid)));
    REQUIRE(write_value(path_ + "/freezer.state", "FROZEN"));
    REQUIRE(test::eventually([&] { return trim(read_file(path_ + "/freezer.state").value()) == "FROZEN"; }));
  }
  ~Freezer() {
    thaw();
    test::eventually([&] { return ::rmdir(path_.c_str()) == 0; });
  }
  Freezer(const Freezer&) = delete;
  Freezer& operator=(const Freezer&) = delete;

  void thaw() { (void)write_value(path_ + "/freezer.state", "THAWED"); }

 private:
  const std::string path_ = "/sys/fs/cgroup/freezer/koord-test-late-end-" + std::to_string(::getpid());
};

bool is_known(pid_t pid) { return ::kill(pid, 0) == 0; }

}  // namespace

TEST_CASE("a child that ends long after SIGKILL is reaped") {
  if (!Freezer::is_there()) {
    MESSAGE("SKIPPED: no freezer of cgroup v1");
    return;
  }
  // It has the arguments of koord-plugin-host, an id and a path, and runs until it is killed.
  auto process = child::Process::start("/usr/bin/tail", "-f", "/dev/null");
  REQUIRE(process);
  const pid_t pid = (*process)->pid();
  Freezer freezer(pid);
  process->reset();
  CHECK(is_known(pid));
  freezer.thaw();
  CHECK(test::eventually([&] { return !is_known(pid); }));  // a zombie would stay known
}
