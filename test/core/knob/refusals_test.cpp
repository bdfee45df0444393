// SPDX-License-Identifier: Apache-2.0
// Values that this machine's kernel refuses. The error texts must be right, the rest of the batch must be applied, and
// the write must be repeated only rarely. Most refusals exist only on cgroup v1.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <csignal>

#include "test/core/knob/governed_node.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using namespace koord::test;
using namespace std::chrono_literals;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A cgroup in the cpuset hierarchy only, without CPUs and memory nodes, as v1 creates it.
struct BareSet {
  const std::string dir, path;

  BareSet(const GovernedNode& node, const RealCgroup& parent)
      : dir(parent.dir() + "/bare"), path(node.layout.directory(cgroup::Controller::cpuset, dir)) {
    REQUIRE(::mkdir(path.c_str(), 0755) == 0);
  }
  ~BareSet() {
    eventually([this] { return ::rmdir(path.c_str()) == 0 || errno != EBUSY; });
  }
};

}  // namespace

TEST_CASE_FIXTURE(
    GovernedNode,
    "EINVAL: a quota below a new one of a cgroup inside is reported once, and set as soon as there is room") {
  if (!is_v1()) return;
  propose("suppress", {intent(pod, "cpu.max", "50000 100000")});
  RealCgroup other{pod, "other"};
  meanwhile->run = [&] { write_quota(other, 45'000); };
  const Plan plan{intent(pod, "cpu.max", "30000 100000"), intent(app, "cpu.max", "20000 100000")};
  propose("suppress", plan);
  CHECK(read(pod, "cpu.max") == "50000 100000");
  CHECK(read(app, "cpu.max") == "20000 100000");
  REQUIRE(decisions(Outcome::failed).size() == 1);
  CHECK(decisions(Outcome::failed)[0].problem ==
        "less than is used inside of it: '" + other.dir() + "' has cpu.max 45000 100000");
  for (int i = 0; i < 10; ++i) second("suppress", plan);
  CHECK(decisions(Outcome::failed).size() == 1);
  write_quota(other, 10'000);
  second("suppress", plan);
  CHECK(read(pod, "cpu.max") == "30000 100000");
  CHECK(last_reported("suppress").outcome == Outcome::applied);
}

TEST_CASE_FIXTURE(
    GovernedNode,
    "EBUSY: a memory limit below what cannot be taken away stays what it was, and is set when there is room") {
  if (!is_v1()) return;  // v2 accepts the value and kills processes
  ChildProcess holder([&] {
    app.add_process(::getpid());
    constexpr std::size_t kBytes = 24 << 20;
    void* memory =
        ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) ::_exit(1);
    for (;;) ::pause();
  });
  const std::string usage = app.path(cgroup::Controller::memory) + "/memory.usage_in_bytes";
  REQUIRE(eventually([&] { return parse_int(trim(read_file(usage).value_or("0"))).value_or(0) > 24 << 20; }));
  const std::string before = read(app, "memory.max");
  const Plan plan{intent(app, "memory.max", "8388608"), intent(app, "cpu.max", "20000 100000")};
  propose("reconcile", plan);
  CHECK(read(app, "memory.max") == before);
  CHECK(read(app, "cpu.max") == "20000 100000");
  REQUIRE(decisions(Outcome::failed).size() == 1);
  CHECK_MESSAGE(contains(decisions(Outcome::failed)[0].problem, "Device or resource busy"),
                decisions(Outcome::failed)[0].problem);
  CHECK(governor->held() == 1);  // a refused knob is not reverted by the agent

  for (int i = 0; i < 10; ++i) second("reconcile", plan);
  CHECK(decisions(Outcome::failed).size() == 1);  // the same result is not reported again
  holder.signal(SIGKILL);
  REQUIRE(holder.wait(20s));
  REQUIRE(eventually([&] { return parse_int(trim(read_file(usage).value_or(""))).value_or(1 << 30) < 8 << 20; }));
  for (int i = 0; i < 6; ++i) second("reconcile", plan);  // the kernel refuses it, so the agent pauses for 5 s
  CHECK(read(app, "memory.max") == "8388608");
}

TEST_CASE_FIXTURE(GovernedNode, "EINVAL: a memory limit above that of memory and swap together raises both") {
  const std::string swap = app.path(cgroup::Controller::memory) + "/memory.memsw.limit_in_bytes";
  if (!is_v1() || !read_file(swap)) return;
  app.limit_memory(64 << 20);
  REQUIRE(write_value(swap, "67108864"));  // the value that runtimes set
  propose("batch", {intent(app, "memory.max", "134217728")});
  CHECK(read(app, "memory.max") == "134217728");
  CHECK(trim(read_file(swap).value_or("")) == "134217728");
  propose("batch", {intent(app, "memory.max", "33554432")});
  CHECK(trim(read_file(swap).value_or("")) == "134217728");  // this write is accepted
}

TEST_CASE_FIXTURE(GovernedNode,
                  "knobs that a runtime has set for a hook are held, and reverted unless they are proposed") {
  app.limit_cpu(0.2);
  const std::vector<Adjusted> adjusted = {
      {Level::container, "cpu.max", app.dir(), "max", "batch"},
      {Level::container, "cpu.shares", app.dir(), read(app, "cpu.shares"), "batch"}};
  REQUIRE(governor->hold(adjusted, 60s));
  CHECK(governor->held() == 1);  // the other knob has its original value
  const Plan plan{intent(app, "cpu.max", "20000 100000")};
  for (int i = 0; i < 70; ++i) second("batch", plan);
  CHECK(read(app, "cpu.max") == "20000 100000");
  begin();  // like after SIGKILL, because the original is in the journal
  CHECK(governor->held() == 1);
  for (int i = 0; i < 40; ++i) {
    clock.advance(1s);
    governor->expire();
  }
  CHECK(read(app, "cpu.max").starts_with("max"));
}

TEST_CASE_FIXTURE(GovernedNode,
                  "EACCES: CPUs that were removed from the parent meanwhile are reported with the parent's") {
  if (!is_v1() || read(pod, "cpuset.cpus") == "0") return;
  propose("suppress", {intent(app, "cpuset.cpus", "0")});
  meanwhile->run = [&] { REQUIRE(write_value(pod.path(cgroup::Controller::cpuset) + "/cpuset.cpus", "0")); };
  propose("suppress", {intent(app, "cpuset.cpus", "1"), intent(app, "cpu.max", "20000 100000")});
  CHECK(read(app, "cpuset.cpus") == "0");
  CHECK(read(app, "cpu.max") == "20000 100000");
  REQUIRE(decisions(Outcome::failed).size() == 1);
  CHECK(decisions(Outcome::failed)[0].problem == "more than allowed around it: '" + pod.dir() + "' has cpuset.cpus 0");
}

TEST_CASE_FIXTURE(GovernedNode,
                  "ENOSPC: a set that was empty cannot be so again while a task is in it, and is after its end") {
  if (!is_v1()) return;
  BareSet bare(*this, app);
  propose("suppress", {intent(bare.dir, "cpuset.cpus", "0"), intent(bare.dir, "cpuset.mems", "0"),
                       intent(app, "cpu.max", "20000 100000")});
  REQUIRE(read(bare.dir, "cpuset.cpus") == "0");
  ChildProcess process([] {
    for (;;) ::pause();
  });
  REQUIRE(write_value(bare.path + "/cgroup.procs", std::to_string(process.pid())));
  const std::vector<Undone> undone = [&] {
    governor->withdraw({"suppress", "main"});
    for (int i = 0; i < 5; ++i) {
      clock.advance(1s);
      governor->expire();
    }
    return governor->restore();
  }();
  CHECK(undone.size() == 2);
  CHECK(read(bare.dir, "cpuset.cpus") == "0");
  CHECK(read(app, "cpu.max") != "20000 100000");    // the rest of the batch is reverted
  REQUIRE(decisions(Outcome::failed).size() == 2);  // once for both files
  CHECK_MESSAGE(contains(decisions(Outcome::failed)[0].problem, "No space left on device"),
                decisions(Outcome::failed)[0].problem);
  CHECK(journal->size() == 2);
  process.signal(SIGKILL);
  REQUIRE(process.wait(20s));
  CHECK(eventually([&] {
    governor->expire();
    return read(bare.dir, "cpuset.cpus").empty() && read(bare.dir, "cpuset.mems").empty();
  }));
  CHECK(journal->size() == 0);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
