// SPDX-License-Identifier: Apache-2.0
// The whole agent reverts its writes: at its end, after SIGKILL, on demand, at its next start, without an agent.
// KOORD_TEST_MOMENTS=1000 sets the number of SIGKILLs (default 10). test/core/knob tests many more without the rest of
// the agent.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "core/base/file.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord::test;
using namespace std::chrono_literals;
using koord::cgroup::Controller;

namespace {

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// A cgroup that a strategy writes. The plugin's file is in the agent's own folder.
struct Written {
  RealCgroup cgroup{"restore"};
  AgentProcess agent{config()};
  const std::string before = texts();

  Written() { std::filesystem::copy_file(built("test/e2e/plugins/writer.so"), agent.plugin_folder() + "/writer.so"); }

  std::string config(std::string_view more = "") const {
    // The cgroup belongs to no pod, so a third-party strategy needs a grant for it.
    return "  settings: {writer: {cgroups: [\"" + cgroup.dir() + "\"], config: {cgroup: " + cgroup.dir() +
           ", quota: \"20000 100000\", shares: \"512\"}}}\nqos: {mode: enforce" + std::string(more) + "}\n";
  }
  bool start(bool intents = true, std::string_view more = "") {
    agent.write_config(config(more));
    return agent.start({std::string("--feature-gates=Writer=") + (intents ? "true" : "false")});
  }
  // Returns the text of all writable files of the cgroup's CPU controller.
  std::string texts() const {
    std::string all;
    for (const char* file : {"cpu.cfs_quota_us", "cpu.cfs_period_us", "cpu.shares", "cpu.max", "cpu.weight"})
      if (auto text = koord::read_file(cgroup.path(Controller::cpu) + "/" + file)) all += file + (" " + *text);
    return all;
  }
  bool is_written() const { return contains(texts(), "20000") && texts() != before; }
  bool becomes_written() const {
    const bool done = eventually([this] { return is_written(); }, 120s);
    INFO(texts());
    INFO(agent.log());
    CHECK(done);
    return done;
  }
  bool becomes_original() const {
    const bool done = eventually([this] { return texts() == before; }, 120s);
    INFO(texts());
    INFO(agent.log());
    CHECK(done);
    return done;
  }
  Finished restore_without_agent() {
    return run_to_end(
        {built("core/agentd/koordetector"), "restore", "--set", "qos.directory=" + agent.folder() / "qos"});
  }
};

}  // namespace

TEST_CASE_FIXTURE(Written, "SIGTERM reverts all writes, byte by byte, and leaves nothing for the next start") {
  REQUIRE(start());
  REQUIRE(becomes_written());
  CHECK(contains(agent.get("/readyz"), "[+] qos: ok, 2 knobs held"));
  CHECK(contains(agent.ctl({"capabilities"}).output, "original values are kept in '"));
  CHECK(agent.stop() == 0);
  CHECK(texts() == before);
  CHECK(contains(agent.log(), "2 of 2 knobs have their original value again"));
  const Finished restored = restore_without_agent();
  CHECK(restored.exit_status == 0);
  CHECK(contains(restored.output, "0 knobs were journaled in"));
}

TEST_CASE_FIXTURE(Written, "after SIGKILL the next start keeps knobs that are proposed again, and reverts the others") {
  REQUIRE(start());
  REQUIRE(becomes_written());
  agent.kill();
  CHECK(is_written());
  REQUIRE(start());
  CHECK(contains(agent.log(), "the previous agent crashed and left 2 knobs changed"));
  REQUIRE(becomes_written());
  agent.kill();
  REQUIRE(start(false));  // no strategy proposes the knob
  CHECK(becomes_original());
  CHECK(agent.stop() == 0);
}

TEST_CASE_FIXTURE(Written, "an agent that the kernel kills at the memory limit of its cgroup: the next start goes on") {
  constexpr std::uint64_t kLimit = 64u << 20;
  const RealCgroup own("restore-agent");
  own.limit_memory(kLimit);
  const std::string procs = own.path(Controller::memory) + "/cgroup.procs";
  agent.run_by({"sh", "-c", "echo $$ >" + procs + " && exec \"$@\"", "sh"});
  REQUIRE(start());
  REQUIRE(becomes_written());
  // Makes the kernel kill the agent, not the other process.
  REQUIRE((std::ofstream("/proc/" + std::to_string(agent.process().pid()) + "/oom_score_adj") << 1000).flush());
  {
    const ChildProcess other([&] {
      own.add_process(::getpid());
      ::mmap(nullptr, kLimit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
      ::pause();
    });
    const std::optional<int> status = agent.process().wait(60s);
    REQUIRE(status);
    CHECK(WIFSIGNALED(*status));
  }
  CHECK(is_written());
  REQUIRE(start());
  CHECK(contains(agent.log(), "the previous agent crashed and left 2 knobs changed"));
  REQUIRE(becomes_written());
  CHECK(agent.stop() == 0);
  CHECK(texts() == before);
}

TEST_CASE_FIXTURE(
    Written, "SIGKILL at any moment of the agent's session: the next one goes on, or all is reverted without one") {
  const char* asked = std::getenv("KOORD_TEST_MOMENTS");
  const int moments = asked ? std::atoi(asked) : 10;
  const auto begin = std::chrono::steady_clock::now();
  REQUIRE(start());
  REQUIRE(becomes_written());
  const auto until_written =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin).count();
  std::mt19937 random(1);
  int killed_after_write = 0;
  for (int moment = 0; moment < moments; ++moment) {
    CAPTURE(moment);
    const bool is_first = moment % 2 == 0 && moment % 3 != 0;  // otherwise it finds knobs that a different agent
                                                               // changed
    if (is_first) REQUIRE(agent.stop() == 0);
    if (!is_first) agent.kill();
    agent.launch({"--feature-gates=Writer=true"});
    ::usleep(static_cast<useconds_t>(
        // the time of the fault; the test does not wait for anything here
        random() % static_cast<unsigned long>(2 * until_written)));
    agent.kill();
    killed_after_write += is_first && is_written();
    if (moment % 3 == 2) continue;  // twice in a row
    if (moment % 3 == 1) {
      const Finished restored = restore_without_agent();
      INFO(restored.output);
      REQUIRE(restored.exit_status == 0);
      REQUIRE(texts() == before);
    }
    REQUIRE(start());
    REQUIRE(becomes_written());
  }
  MESSAGE("of " << moments << "kills, in a session's first write or after it:" << killed_after_write);
  CHECK(agent.stop() == 0);
  CHECK(texts() == before);
}

TEST_CASE_FIXTURE(Written, "if no agent comes again, `koordetector restore` reverts and lists each knob") {
  REQUIRE(start());
  REQUIRE(becomes_written());
  CHECK(contains(restore_without_agent().output, "belong to another agent that runs"));
  CHECK(is_written());
  agent.kill();
  const Finished restored = restore_without_agent();
  CHECK(restored.exit_status == 0);
  CHECK(texts() == before);
  CHECK(contains(restored.output, cgroup.dir() + " cpu.max: reverted, was '20000 100000', is 'max 100000'"));
  CHECK(contains(restored.output, cgroup.dir() + " cpu.shares: reverted, was '512'"));
  CHECK(contains(restored.output, "2 knobs were journaled in"));
}

TEST_CASE_FIXTURE(Written, "koordctl restore reverts all, and afterwards strategies are in shadow mode") {
  REQUIRE(start());
  REQUIRE(becomes_written());
  const Finished restored = agent.ctl({"restore"});
  INFO(restored.output);
  CHECK(restored.exit_status == 0);
  CHECK(contains(restored.output, "reverted"));
  CHECK(texts() == before);
  CHECK(contains(agent.ctl({"mode"}).output, "until lifted\n"));
  CHECK(eventually([&] { return contains(agent.ctl({"decisions"}).output, "shadow"); }));
  CHECK(texts() == before);
  CHECK(contains(agent.get("/readyz"), "[+] qos: ok, 0 knobs held"));
  CHECK(agent.stop() == 0);
}

TEST_CASE_FIXTURE(Written, "with onExit: keep the knobs stay, and the next start continues with them") {
  REQUIRE(start(true, ", onExit: keep"));
  REQUIRE(becomes_written());
  CHECK(agent.stop() == 0);
  CHECK(is_written());
  REQUIRE(start());
  CHECK(contains(agent.log(), "the previous agent left 2 knobs changed"));
  CHECK(is_written());
  REQUIRE(eventually([&] { return contains(agent.ctl({"decisions"}).output, "applied"); }));
  CHECK(agent.stop() == 0);
  CHECK(texts() == before);
}

TEST_CASE_FIXTURE(Written, "a journal that is damaged stops enforcing, and the agent says so") {
  std::filesystem::create_directories(agent.folder() / "qos");
  REQUIRE(koord::write_file_atomically(agent.folder() / "qos" + "/originals.db", std::string(4096, 'x')));
  REQUIRE(start());
  CHECK(contains(agent.log(), "cannot be used: "));
  CHECK(eventually([&] { return contains(agent.ctl({"decisions"}).output, "was set aside"); }));
  CHECK(contains(agent.get("/readyz"), "[+] qos: degraded, no knob is written: "));
  CHECK(contains(agent.ctl({"capabilities"}).output, "no knob is written: "));
  CHECK(texts() == before);
  CHECK(agent.stop() == 0);
}
