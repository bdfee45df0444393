// SPDX-License-Identifier: Apache-2.0
// Knobs on this machine's kernel, which has its own rules about parents and children. Needs root.
#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/knob/executor.hpp"
#include "test/support/real_cgroup.hpp"
#include "test/support/run_with_cgroups.hpp"

using namespace koord;
using namespace koord::knob;
using namespace koord::decision;
using koord::test::RealCgroup;

namespace {

// Runs a function between the last read and the first write.
struct Meanwhile : MemoryOriginals {
  Result<void> keep(std::span<const Original> originals) override {
    if (auto now = std::exchange(run, nullptr)) now();
    return MemoryOriginals::keep(originals);
  }
  std::function<void()> run;
};

// Returns the number of the first disk, "8:0"; empty if there is no disk.
std::string first_disk() {
  Result<std::vector<std::string>> names = list_directory("/sys/block");
  for (const std::string& name : names ? *names : std::vector<std::string>())
    if (!name.starts_with("loop") && !name.starts_with("ram"))
      if (auto device = read_file("/sys/block/" + name + "/dev")) return std::string(trim(*device));
  return {};
}

struct Kernel {
  KnobFiles files{*cgroup::Layout::detect(NodeRoots()), NodeRoots()};
  Meanwhile originals;
  ManualClock clock;
  Executor executor{files, originals, clock};
  RealCgroup pod{"knobs"};
  RealCgroup app{pod, "app"};

  bool is_v1() const { return files.is_nested(*find_knob("cpu.max")); }
  static Order order(const RealCgroup& cgroup, std::string_view knob, std::string_view value) {
    return {Level::pod, cgroup.dir(), find_knob(knob), *parse_value(*find_knob(knob), value)};
  }
  std::string read(const RealCgroup& cgroup, std::string_view knob) const {
    Result<std::string> value = read_knob(files, knob, cgroup.dir());
    return value ? *value : value.error().message();
  }
  // Applies both values in one batch and checks that none fails.
  void apply(std::string_view knob, std::string_view of_pod, std::string_view of_app) {
    for (const Done& done : executor.apply({order(pod, knob, of_pod), order(app, knob, of_app)}).done) {
      INFO(done.problem);
      CHECK(done.outcome == Outcome::applied);
    }
    CHECK(read(pod, knob) == of_pod);
    CHECK(read(app, knob) == of_app);
  }
};

}  // namespace

TEST_CASE_FIXTURE(Kernel, "a pod and its container are widened and narrowed together, and reverted") {
  const std::string of_pod = read(pod, "cpu.max"), of_app = read(app, "cpu.max");
  apply("cpu.max", "50000 100000", "50000 100000");
  apply("cpu.max", "80000 100000", "80000 100000");
  apply("cpu.max", "30000 100000", "20000 100000");
  apply("cpu.max", "30000 50000", "20000 50000");
  executor.apply({});
  CHECK(read(pod, "cpu.max") == of_pod);
  CHECK(read(app, "cpu.max") == of_app);
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(Kernel, "memory limits are taken in whole pages and reverted") {
  apply("memory.max", "67108864", "33554432");
  apply("memory.max", "max", "134217728");
  executor.apply({});
  CHECK(read(pod, "memory.max") == "max");
}

TEST_CASE_FIXTURE(Kernel, "a CPU set goes to the parent first when it moves") {
  const std::string all = read(pod, "cpuset.cpus");
  if (all == "0" || all.empty()) return;  // only one CPU: no other set exists
  apply("cpuset.cpus", "0", "0");
  apply("cpuset.cpus", "1", "1");
  executor.apply({});
  CHECK(read(pod, "cpuset.cpus") == all);
  CHECK(read(app, "cpuset.cpus") == all);
}

TEST_CASE_FIXTURE(Kernel, "a value that the kernel would refuse is reported, not written, and nothing is held") {
  if (!is_v1()) return;
  apply("cpu.max", "50000 100000", "20000 100000");
  Executor::Report report =
      executor.apply({order(pod, "cpu.max", "50000 100000"), order(app, "cpu.max", "90000 100000")});
  CHECK(report.done[1].outcome == Outcome::failed);
  CHECK(report.done[1].problem == "more than allowed around it: '" + pod.dir() + "' has cpu.max 50000 100000");
  CHECK(read(app, "cpu.max") == "20000 100000");
  executor.apply({});
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(
    Kernel,
    "another process that changes the cgroups around meanwhile makes one write fail, and the others of the batch hold") {
  if (!is_v1()) return;
  apply("cpu.max", "50000 100000", "50000 100000");
  RealCgroup other{pod, "other"};
  originals.run = [&] { other.limit_cpu(0.45); };
  Executor::Report report =
      executor.apply({order(pod, "cpu.max", "30000 100000"), order(app, "cpu.max", "30000 100000")});
  CHECK(report.done[0].outcome == Outcome::failed);
  CHECK(report.done[0].problem == "less than is used inside of it: '" + other.dir() + "' has cpu.max 45000 100000");
  CHECK(report.done[1].outcome == Outcome::applied);
  CHECK(read(pod, "cpu.max") == "50000 100000");
  CHECK(read(app, "cpu.max") == "30000 100000");
}

TEST_CASE_FIXTURE(Kernel, "writes in the wrong order after such a change are repeated in the right one") {
  if (!is_v1()) return;
  apply("cpu.max", "80000 100000", "20000 100000");
  originals.run = [&] { pod.limit_cpu(0.3); };  // the container's new quota is now above the pod's quota
  Executor::Report report =
      executor.apply({order(pod, "cpu.max", "90000 100000"), order(app, "cpu.max", "85000 100000")});
  CHECK(report.done[0].outcome == Outcome::applied);
  CHECK(report.done[1].outcome == Outcome::applied);
  CHECK(read(app, "cpu.max") == "85000 100000");
}

TEST_CASE_FIXTURE(Kernel, "a container that vanishes between read and write is forgotten without a word of failure") {
  auto ended = std::make_unique<RealCgroup>(pod, "ended");
  originals.run = [&] { ended->remove(); };
  Executor::Report report =
      executor.apply({order(*ended, "cpu.max", "50000 100000"), order(app, "cpu.max", "50000 100000")});
  CHECK(report.done[0].outcome == Outcome::gone);
  CHECK(report.done[1].outcome == Outcome::applied);
  CHECK(executor.held() == 1);
  executor.apply({});
  CHECK(executor.held() == 0);
}

TEST_CASE_FIXTURE(Kernel, "a burst and its quota go up and down together, and back") {
  const std::string of_app = read(app, "cpu.max");
  auto set = [&](std::string_view quota, std::string_view burst) {
    for (const Done& done : executor.apply({order(app, "cpu.max.burst", burst), order(app, "cpu.max", quota)}).done) {
      INFO(done.problem);
      CHECK(done.outcome == Outcome::applied);
    }
    CHECK(read(app, "cpu.max") == quota);
    CHECK(read(app, "cpu.max.burst") == burst);
  };
  set("50000 100000", "50000");
  set("80000 100000", "70000");
  set("20000 100000", "10000");
  executor.apply({});
  CHECK(read(app, "cpu.max") == of_app);
  CHECK(read(app, "cpu.max.burst") == "0");
}

TEST_CASE_FIXTURE(Kernel, "a device's limit is written on each of its files, and is gone with the intent") {
  const std::string device = first_disk();
  if (device.empty()) return;  // no disk to limit
  const std::string before = read(pod, "io.max " + device);
  const Done done = executor.apply({order(pod, "io.max", device + " rbps=1048576 wiops=120")}).done.at(0);
  INFO(done.problem);
  CHECK(done.outcome == Outcome::applied);
  CHECK(read(pod, "io.max " + device) == device + " rbps=1048576 wbps=max riops=max wiops=120");
  executor.apply({});
  CHECK(read(pod, "io.max " + device) == before);
  CHECK(read(pod, "io.max").find(device) == std::string::npos);
}

TEST_CASE_FIXTURE(Kernel, "shares are reverted to the number") {
  const std::string before = read(pod, "cpu.shares");
  CHECK(executor.apply({order(pod, "cpu.shares", "512")}).done[0].outcome == Outcome::applied);
  executor.apply({});
  CHECK(read(pod, "cpu.shares") == before);
}

TEST_CASE_FIXTURE(Kernel, "a cgroup that was idle has its own weight again, which the kernel forgets") {
  if (!files.read({*find_knob("cpu.idle"), pod.dir()})) return;  // before Linux 5.15
  executor.apply({order(pod, "cpu.shares", "77")});
  MemoryOriginals others;
  Executor other{files, others, clock};
  const auto before = files.read({*find_knob("cpu.shares"), pod.dir()})->texts;
  CHECK(other.apply({order(pod, "cpu.idle", "1")}).done[0].outcome == Outcome::applied);
  CHECK(read(pod, "cpu.idle") == "1");
  CHECK(files.read({*find_knob("cpu.shares"), pod.dir()})->texts != before);
  CHECK(other.apply({order(pod, "cpu.idle", "1")}).done[0].outcome == Outcome::applied);
  const Executor::Report undone = other.apply({});
  REQUIRE(undone.undone.size() == 1);
  CHECK(undone.undone[0].done.outcome == Outcome::reverted);
  CHECK(read(pod, "cpu.idle") == "0");
  CHECK(files.read({*find_knob("cpu.shares"), pod.dir()})->texts == before);
}

TEST_CASE_FIXTURE(Kernel, "cpu.idle is reverted although the weight after it was not documented") {
  if (!files.read({*find_knob("cpu.idle"), pod.dir()})) return;
  const Original announced{{pod.dir(), "cpu.idle", ""},
                           Level::pod,
                           "cpu.idle",
                           files.read({*find_knob("cpu.idle"), pod.dir()})->cgroup,
                           files.read({*find_knob("cpu.idle"), pod.dir()})->texts,
                           {"1", ""}};
  REQUIRE(originals.keep({&announced, 1}));
  REQUIRE(
      files.write({*find_knob("cpu.idle"), pod.dir()}, {"1", ""}, announced.texts));  // and then the agent was killed
  Executor next{files, originals, clock};
  next.apply({});
  CHECK(files.read({*find_knob("cpu.idle"), pod.dir()})->texts == announced.texts);
}

int main(int argc, char** argv) { return koord::test::run_with_cgroups(argc, argv); }
