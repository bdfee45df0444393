// SPDX-License-Identifier: Apache-2.0
// A third-party plugin in its own child, with real processes, the real manager and the real services.
#include "core/child/child_runner.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/linux_capability.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/load/file_stamp.hpp"
#include "core/load/manifest.hpp"
#include "core/service/plugin_context.hpp"
#include "test/core/child/child_processes.hpp"
#include "test/core/host/stage.hpp"
#include "test/core/load/plugin_shelf.hpp"
#include "test/support/eventually.hpp"
#include "test/support/sanitized.hpp"

using namespace koord;
using namespace koord::host;
using namespace koord::load;
using namespace koord::service;
using namespace std::chrono_literals;
using koord::test::eventually;

namespace {

constexpr const char* kActor = "com.example.actor";

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

struct ChildRunnerFixture {
  child::SnapshotImages images;
  test::HostStage stage{
      {"actor"},
      4,
      [this](const std::string& path, const Manifest& manifest, const FileVersion& file, const RunnerLimits& limits) {
        return child::load_in_child(runner(), path, manifest, file, limits);
      }};

  child::Children runner() {
    return {std::getenv("KOORD_PLUGIN_HOST"), images, &stage.host().services().cgroups.layout()};
  }

  ChildRunnerFixture() {
    state::Pod one, other;
    one.uid = "1";
    other.uid = "2";
    stage.host().hub().publish({.pods = std::vector{one, other}});
  }
  ~ChildRunnerFixture() {
    stage.stop();
    CHECK(test::children().empty());
  }

  void play(const std::string& part, std::function<void(config::PluginSettings&)> change = {}) {
    config::PluginSettings settings = stage.settings().defaults;
    settings.period = 100ms;  // long enough for a slow machine
    settings.config_json = R"({"part": ")" + part + R"("})";
    if (change) change(settings);
    stage.settings().settings[kActor] = settings;
    stage.apply("Actor=true");
  }
  PluginStatus status() { return stage.status(kActor); }
  bool await(PluginState state) { return stage.await(kActor, state); }
  double count() { return stage.host().value("actor_count").value_or(0); }
  // Returns whether all of it runs and the actor ticks.
  bool counts() {
    if (!await(PluginState::running)) return false;
    double before = count();
    return eventually([&] { return count() > before; });
  }
};

}  // namespace

TEST_CASE_FIXTURE(ChildRunnerFixture, "a third party's plugin ticks in a process of its own, and its samples arrive") {
  play("count");
  REQUIRE(await(PluginState::running));
  CHECK(counts());
  CHECK(test::children().size() == 2);  // one for each class
  for (const InstanceStatus& instance : status().instances) CHECK(instance.process > 0);
  CHECK(eventually([&] { return stage.host().value("looker_pods") == 2.0; }));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "the same file runs in this process on request, with the same metrics") {
  play("count", [](auto& settings) { settings.isolation = config::Isolation::in_process; });
  REQUIRE(await(PluginState::running));
  CHECK(counts());
  CHECK(test::children().empty());
  CHECK(eventually([&] { return stage.host().value("looker_pods") == 2.0; }));
}

TEST_CASE_FIXTURE(ChildRunnerFixture,
                  "acceptance 7: a child that dereferences NULL is restarted, and the call and its end are reported") {
  play("null later");
  CHECK(eventually([&] { return status().restarts >= 1; }));
  CHECK(contains(status().last_error, "collect(): "));
  CHECK(contains(status().last_error, "ended by signal 11"));
  play("count");
  CHECK(counts());
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child that is killed between ticks is restarted, too") {
  play("count");
  REQUIRE(counts());
  for (pid_t pid : test::children()) ::kill(pid, SIGKILL);
  CHECK(eventually([&] { return status().restarts >= 2; }));
  CHECK(counts());
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child is not started again from a file that has changed since the check") {
  play("count");
  REQUIRE(counts());
  const std::string file = status().path;
  const std::string content = *read_file(file);
  REQUIRE(write_file_atomically(file, content, 0755));
  for (pid_t pid : test::children()) ::kill(pid, SIGKILL);
  REQUIRE(await(PluginState::parked));
  CHECK(contains(status().reason, "expected the file that was mapped, inode"));
}

TEST_CASE_FIXTURE(
    ChildRunnerFixture,
    "acceptance 8: five crashes in ten minutes park the plugin with the reason, readiness follows required") {
  play("segv");
  REQUIRE(await(PluginState::parked));
  CHECK(contains(status().reason, "failed 5 times in 10m"));
  CHECK(contains(status().reason, "ended by signal 11"));
  CHECK(stage.manager().ready().ready);
  play("segv", [](auto& settings) { settings.required = true; });
  Readiness readiness = stage.manager().ready();
  CHECK_FALSE(readiness.ready);
  REQUIRE(readiness.reasons.size() == 1);
  CHECK(contains(readiness.reasons[0], "com.example.actor is parked"));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child that exits in a tick is reported with its exit code") {
  play("exit", [](auto& settings) { settings.period = 1s; });  // exiting under a sanitizer takes a second
  REQUIRE(await(PluginState::parked));
  CHECK(contains(status().reason, "with exit code 3"));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "an exception becomes a status with its text, and the next tick goes on") {
  play("throw");
  CHECK(eventually([&] { return status().counts.errors >= 3; }));
  CHECK(await(PluginState::running));
  CHECK(contains(status().last_error, "KOORD_E_PANIC: the actor's text"));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "as much text of a failed run() is kept from a child as in the agent's process") {
  config::Isolation isolation = config::Isolation::process;
  SUBCASE("in this process") { isolation = config::Isolation::in_process; }
  SUBCASE("in a process of its own") {}
  play("fail in run", [&](auto& settings) { settings.isolation = isolation; });
  CHECK(eventually([&] { return contains(status().last_error, "run(): KOORD_E_IO: " + std::string(4096, 'x')); }));
  CHECK_FALSE(contains(status().last_error, std::string(4097, 'x')));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a tick that never returns ends with its process") {
  play("hang", [](auto& settings) { settings.deadline = 10ms; });
  CHECK(eventually([&] { return status().restarts >= 1; }));
  INFO(status().reason, status().last_error, to_string(status().state));
  CHECK(contains(status().last_error, "did not return within"));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child that closes its channels is ended") {
  play("close");
  CHECK(eventually([&] { return status().restarts >= 1; }));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child that closes its output continues, without a busy loop") {
  play("mute");
  REQUIRE(counts());
  CHECK(eventually([] { return test::threads_in_state("child", 'S') == 2; }));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child that sends garbage is ended") {
  play("garbage");
  REQUIRE(await(PluginState::parked));
  CHECK(contains(status().reason, "packet of an unknown form"));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child finds in the cache what it has just appended") {
  play("recall");
  double answer = 0;
  CHECK(eventually([&] { return std::abs(answer = count()) == 1; }));
  CHECK(answer == 1);
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "acceptance 12: an advisor in a child that asks for koord.knobs/1 gets NULL") {
  play("knobs");
  CHECK(eventually([&] { return count() != 0; }));
  CHECK(count() == -1);
}

// A sanitizer's shadow memory exceeds the limit of any plugin.
TEST_CASE_FIXTURE(ChildRunnerFixture, "without a cgroup that limits a child's memory, the kernel limits its mappings" *
                                          doctest::skip(test::kSanitized)) {
  play("count", [](auto& settings) { settings.max_memory = 64 << 20; });
  REQUIRE(counts());
  for (pid_t pid : test::children()) {
    const std::string limits = *read_file("/proc/" + std::to_string(pid) + "/limits");
    CHECK(contains(limits, "Max data size             67108864             67108864             bytes"));
  }
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "processes that a child has started end with it, whatever they do to stay") {
  play("leave one behind");
  REQUIRE(eventually([&] { return count() > 0; }));
  const std::string left = "/proc/" + std::to_string(static_cast<long>(count())) + "/stat";
  auto is_alive = [&] {
    std::string stat;
    std::getline(std::ifstream(left), stat);
    return !stat.empty() && !contains(stat, ") Z ");
  };
  CHECK(is_alive());
  CHECK(stage.stop());
  CHECK(eventually([&] { return !is_alive(); }));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child may look at the machine and not change it") {
  play("mount");
  CHECK(eventually([&] { return count() != 0; }));
  CHECK(count() == EPERM);
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child has only the allowed capabilities in each of its sets") {
  play("count", [](auto& settings) { settings.capabilities = *parse_capabilities("CAP_SYS_NICE,CAP_PERFMON"); });
  REQUIRE(counts());
  for (pid_t pid : test::children()) {
    for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:"})
      CHECK_MESSAGE(test::capabilities_of(pid, set) == *parse_capabilities("CAP_SYS_NICE,CAP_PERFMON"), set);
    CHECK(test::capabilities_of(pid, "CapAmb:") == 0);
  }
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child has no capability unless the configuration grants it") {
  play("count");
  REQUIRE(counts());
  for (pid_t pid : test::children())
    for (const char* set : {"CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"})
      CHECK_MESSAGE(test::capabilities_of(pid, set) == 0, set);
}

TEST_CASE_FIXTURE(
    ChildRunnerFixture,
    "a system call that needs a capability is denied to plugins without it before the kernel executes it") {
  play("bpf");  // an empty request
  CHECK(eventually([&] { return count() != 0; }));
  CHECK(count() == EPERM);
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a system call is let through to those with its capability") {
  play("bpf", [](auto& settings) { settings.capabilities = *linux_capability("CAP_BPF"); });
  CHECK(eventually([&] { return count() != 0; }));
  CHECK(count() == EINVAL);
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a constructor has no more rights than the plugin will have") {
  play("constructed", [](auto& settings) { settings.capabilities = *linux_capability("CAP_SYS_NICE"); });
  CHECK(eventually([&] { return count() != 0; }));
  CHECK(count() == static_cast<double>(*linux_capability("CAP_SYS_NICE")));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "when memory is short, the kernel kills a child before the agent") {
  play("count");
  REQUIRE(counts());
  for (pid_t pid : test::children()) {
    int score = 0;
    std::ifstream("/proc/" + std::to_string(pid) + "/oom_score_adj") >> score;
    CHECK(score == 500);
  }
}

TEST_CASE_FIXTURE(ChildRunnerFixture,
                  "a child that fills the ring faster than it is read is informed of it and continues") {
  play("flood");
  CHECK(eventually([&] { return contains(status().last_error, "the batch is dropped"); }));
  CHECK(await(PluginState::running));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a new configuration reaches the child") {
  play("throw");
  REQUIRE(eventually([&] { return status().counts.errors > 0; }));
  play("count");
  CHECK(counts());
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "stopping ends the process") {
  play("count");
  REQUIRE(counts());
  stage.apply("Actor=false");
  CHECK(await(PluginState::disabled));
  CHECK(test::children().empty());
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a lost process is reported by the next call if no listener was set") {
  const std::string file = stage.shelf().file("actor");
  auto plugin = child::load_in_child(runner(), file, *read_manifest(file), *stamp_of(file), {});
  REQUIRE(plugin);
  auto context = stage.host().make_context(kActor, {"koord.metrics/1", "koord.config/1", "koord.state/1"});
  std::unique_ptr<Runner> runner = (*plugin)->make_runner(0, *context, {});
  REQUIRE(runner->create().ok());
  REQUIRE(runner->init().ok());
  ::kill(runner->process(), SIGKILL);
  CallResult result = runner->collect(from_ns(1), from_ns(2));
  CHECK(result.lost);
  CHECK(contains(result.text, "ended by signal 9"));
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child outlives the thread that has started it") {
  const std::string file = stage.shelf().file("actor");
  auto plugin = child::load_in_child(runner(), file, *read_manifest(file), *stamp_of(file), {});
  REQUIRE(plugin);
  auto context = stage.host().make_context(kActor, {"koord.metrics/1", "koord.config/1", "koord.state/1"});
  std::unique_ptr<Runner> runner = (*plugin)->make_runner(0, *context, {});
  std::thread worker([&] { runner->create(); });
  worker.join();
  CHECK(runner->init().ok());
  CHECK_FALSE(runner->collect(from_ns(1), from_ns(2)).lost);
  runner->destroy();
}

TEST_CASE("a process that ends before it answers the handshake is reported with its exit code") {
  child::SnapshotImages images;
  const test::PluginShelf shelf{"actor"};
  const std::string file = shelf.file("actor");
  auto plugin = child::load_in_child({"/bin/false", images}, file, *read_manifest(file), *stamp_of(file), {});
  REQUIRE_FALSE(plugin);
  CHECK(plugin.error().message() == "its process ended with exit code 1 before it answered the handshake");
}

TEST_CASE("without a koord-plugin-host the plugin is refused, and says what was expected") {
  child::SnapshotImages images;
  test::HostStage stage{
      {"actor"},
      2,
      [&](const std::string& path, const Manifest& manifest, const FileVersion& file, const RunnerLimits& limits) {
        return child::load_in_child({"/nowhere/koord-plugin-host", images}, path, manifest, file, limits);
      }};
  stage.apply("Actor=true");
  REQUIRE(stage.await(kActor, PluginState::refused));
  CHECK(contains(stage.status(kActor).reason,
                 "cannot run '/nowhere/koord-plugin-host': No such file or directory; set plugins.childProgram"));
}

TEST_CASE_FIXTURE(ChildRunnerFixture,
                  "the agent's cost of a child's requests is charged to it, and its requests wait at the limit") {
  stage.host_node().write("proc/flood", std::string(900'000, 'x'));
  // A session lasts three periods, because its tick is late. On any machine the agent uses more CPU time in it than
  // this low limit allows per second.
  constexpr std::uint64_t kMillis = 10;
  constexpr Duration kWorth = 10ms;
  play("flood requests", [](auto& settings) {
    settings.files = {"proc/flood"};
    settings.max_cpu_millis = kMillis;
    settings.period = 1s;
  });
  const auto service_cpu = [&] {
    Duration sum{};
    for (const InstanceStatus& instance : status().instances) sum += instance.service_cpu;
    return sum;
  };
  CHECK(eventually([&] { return service_cpu() > kWorth / 2; }));
  CHECK(eventually([&] {
    return contains(status().reason, "its requests cost the agent all the CPU time that it may use, and wait");
  }));
  // It is restarted, and the costs of its sessions add up.
  CHECK(eventually([&] { return status().restarts >= 1; }));
  CHECK(status().counts.cpu > kWorth);
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child that sends a descriptor which is no memory is ended") {
  play("send a descriptor");
  CHECK(eventually([&] {
    return contains(status().last_error + status().reason, "it sent a descriptor, expected none but of memory");
  }));
  REQUIRE(await(PluginState::parked));  // each of its processes failed in this way
  stage.apply("Actor=false");
  REQUIRE(await(PluginState::disabled));
  play("count");
  CHECK(counts());
}

TEST_CASE_FIXTURE(ChildRunnerFixture, "a child learns at once which values the host refuses") {
  play("append bad values");
  CHECK(eventually([&] { return count() == 77; }));
}
