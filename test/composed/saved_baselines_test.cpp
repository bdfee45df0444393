// SPDX-License-Identifier: Apache-2.0
// The baselines of memory and block I/O over a kill of the real agent. It is killed with SIGKILL and started while a
// container interferes with another on this kernel: the verdict returns, the saved baseline is that of the quiet time,
// and it is what the next agent uses. Damage to what was saved costs only the damaged part. test/e2e has the same kill
// for the CPU.
#include <doctest/doctest.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/analysis/baseline.hpp"
#include "core/analysis/baseline_record.hpp"
#include "core/analysis/latency_record.hpp"
#include "core/base/file.hpp"
#include "core/sqlite/connection.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/disk_workloads.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/must.hpp"
#include "test/support/real_cgroup.hpp"

using namespace koord;
using namespace koord::test;
using namespace std::chrono_literals;
using analysis::SavedBaseline;
using analysis::SavedLatency;

namespace {

constexpr auto kLong = 2min;
constexpr std::size_t kQuietWindows = 10;
const std::string kSettings =
    "plugins.settings={advisor-interference: {config: {rule: {saveInterval: 1s, quietWindows: " +
    std::to_string(kQuietWindows) + "}}}}";

using Process = std::unique_ptr<ChildProcess>;

// The agent with two containers of this kernel.
struct Node {
  bool start() { return agent.start({"--feature-gates=InterferenceCollector=true", "--set", kSettings}); }
  bool has_verdict() const {
    return find_metric(agent.metrics(), "koordetector_container_interference",
                       {"container_name=\"" + victim.dir() + '"', "kind=\"" + kind + '"',
                        "resource=\"" + resource + '"'}) == 1.0;
  }
  bool names_culprit_first() const {
    const std::string shown = agent.ctl({"interference", victim.dir(), "--resource", resource}).output;
    const bool does = shown.find("1. " + culprit.dir()) != std::string::npos;
    CHECK_MESSAGE(does, shown);
    return does;
  }
  bool stands_after(int seconds) const {
    // The windows of the agent are the clock here: the series has one value for each.
    const double before = windows();
    REQUIRE(eventually([&] { return windows() >= before + seconds; }, kLong));
    return has_verdict();
  }
  // Returns how many windows of the victim this agent has judged.
  double windows() const {
    const Finished query = agent.ctl({"query", "container_held_up_ratio", "--agg", "count", "--window", "10m",
                                      "--label", "container_name=" + victim.dir(), "-o", "json"});
    const std::size_t at = query.output.find("\"count\":");
    return at == std::string::npos ? 0 : std::strtod(query.output.c_str() + at + 8, nullptr);
  }

  sqlite::Connection store(sqlite::Connection::Access access) const {
    return must(sqlite::Connection::open(agent.store_path(), access));
  }
  std::string saved(const std::string& key) const {
    sqlite::Connection connection = store(sqlite::Connection::Access::read_only);
    sqlite::Statement statement = must(connection.prepare("SELECT value FROM kv WHERE key = ?1"));
    const std::string name = "advisor-interference/" + key;
    return must(statement.bind_text(1, name).step()) ? std::string(statement.blob(0)) : std::string();
  }
  void save(const std::string& key, const std::string& text) const {
    sqlite::Connection connection = store(sqlite::Connection::Access::read_write);
    sqlite::Statement statement = must(connection.prepare("INSERT OR REPLACE INTO kv VALUES(?1, NULL, ?2)"));
    const std::string name = "advisor-interference/" + key;
    must(statement.bind_text(1, name).bind_blob(2, text).run());
  }
  bool logged(const std::string& text) const { return agent.log().find(text) != std::string::npos; }

  std::string resource, kind;
  RealCgroup parent{"saved"};
  RealCgroup victim{parent, "victim"}, culprit{parent, "culprit"};
  AgentProcess agent{"state: {source: cgroup, cgroup: {paths: [\"" + parent.dir() + "/*\"]}}",
                     {built("plugins/advisor-interference")}};
};

// The verdict stands for longer than the quiet time, so an agent that forgot the quiet time would learn the
// interference as quiet, and end the verdict.
void kill_and_start(Node& node) {
  REQUIRE(eventually([&] { return node.has_verdict(); }, 1min));
  CHECK(node.names_culprit_first());
  CHECK(node.stands_after(2 * kQuietWindows));
  node.agent.kill();
}

void check_next_session(Node& node) {
  REQUIRE(node.start());
  CHECK_MESSAGE(eventually([&] { return node.has_verdict(); }, 15s), node.agent.log());
  CHECK(node.names_culprit_first());
  CHECK(node.stands_after(3 * kQuietWindows));
}

// ---- memory

constexpr std::uint64_t kVictimSize = 24 * kMiB, kStreamSize = 96 * kMiB;

// The victim has 24 MiB of page cache below a common limit of 96 MiB. A stream of 96 MiB displaces its pages.
struct MemoryNode : Node {
  MemoryNode() {
    resource = "memory";
    kind = "shared-parent";
    parent.limit_memory(kStreamSize);
  }
  bool works() const { return victim_disk && culprit_disk; }
  Process read() const {
    return start_threads_in(victim, [this] { read_at_random(victim_disk->path(), kVictimSize, 100us); });
  }
  Process interfere() const {
    return start_threads_in(
        culprit, [this] { stream(culprit_disk->path(), kStreamSize); }, 2);
  }
  SavedBaseline baseline() const {
    for (const SavedBaseline& one :
         analysis::read_baselines(saved(analysis::kMemoryBaselinesKey), analysis::BaselineOf::memory).baselines)
      if (one.workload == victim.dir()) return one;
    return {};
  }
  double quiet() const {
    const SavedBaseline saved = baseline();
    analysis::Baseline baseline({.windows = kQuietWindows});
    baseline.add_kept(saved.seen, saved.weights, saved.windows);
    return baseline.quiet();
  }

  std::unique_ptr<LoopDisk> victim_disk = LoopDisk::attach(kVictimSize), culprit_disk = LoopDisk::attach(kStreamSize);
};

// ---- block I/O

// A disk with a place for few requests at a time, so a reader waits behind a bulk writer.
struct BlockNode : Node {
  BlockNode() {
    resource = "blkio";
    kind = "interfered";
    if (!disk) return;
    const std::string queue = "/sys/dev/block/" + std::to_string(major(disk->number())) + ":" +
                              std::to_string(minor(disk->number())) + "/queue";
    is_short = write_value(queue + "/scheduler", "none") && write_value(queue + "/nr_requests", "4");
    if (!is_short) std::printf("SKIPPED: this kernel does not limit the requests of a loop device\n");
  }
  bool works() const { return disk && is_short; }
  Process read() const {
    return start_threads_in(victim, [this] { transfer(disk->path(), kSize, O_RDONLY, kPage, 1000us); });
  }
  Process interfere() const {
    return start_threads_in(
        culprit, [this] { transfer(disk->path(), kSize, O_WRONLY, kMiB, 0us); }, 48);
  }
  // Returns the saved latency of the victim's reads.
  SavedLatency latency() const {
    for (const SavedLatency& one : analysis::read_latencies(saved(analysis::kLatenciesKey)).latencies)
      if (one.workload == victim.dir() && !one.is_write) return one;
    return {};
  }

  static constexpr double kExcess = 0.0005;  // the rule's: a verdict needs so much more than the quiet latency
  static constexpr std::uint64_t kSize = 32 * kMiB;
  std::unique_ptr<LoopDisk> disk = LoopDisk::attach(kSize);
  bool is_short = false;
};

}  // namespace

TEST_CASE("memory: an agent that is killed and started during interference has the verdict and the baseline again") {
  MemoryNode node;
  if (!node.works()) return;
  const Process reading = node.read();
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return node.baseline().windows >= 2 * kQuietWindows; }, kLong));
  const std::size_t quiet_windows = node.baseline().windows;
  CHECK(node.quiet() == 0);
  const Process streaming = node.interfere();
  kill_and_start(node);
  MESSAGE(quiet_windows << " quiet windows, " << node.baseline().windows << " at the kill");
  CHECK(node.baseline().windows > quiet_windows);
  CHECK(node.quiet() == 0);
  check_next_session(node);
  CHECK(node.baseline().windows >= quiet_windows + 3 * kQuietWindows);
  CHECK(node.quiet() == 0);
}

TEST_CASE("block I/O: an agent that is killed and started during interference has the verdict and the baseline again") {
  BlockNode node;
  if (!node.works()) return;
  const Process reading = node.read();
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return node.latency().mean.windows >= 2 * kQuietWindows; }, kLong));
  const SavedLatency quiet = node.latency();
  const Process writing = node.interfere();
  kill_and_start(node);
  const auto check_latency = [&] {
    const SavedLatency now = node.latency();
    MESSAGE("mean " << 1e3 * quiet.mean.value << " ms of " << quiet.mean.windows << " windows, then "
                    << 1e3 * now.mean.value << " ms of " << now.mean.windows);
    CHECK(now.mean.windows >= quiet.mean.windows);
    CHECK(now.mean.value < quiet.mean.value + BlockNode::kExcess / 2);
  };
  check_latency();
  check_next_session(node);
  check_latency();
}

// ---- damage

// Returns the same record for another workload.
SavedBaseline named(SavedBaseline saved, const std::string& workload) {
  saved.workload = workload;
  return saved;
}

TEST_CASE(
    "saved records that are damaged, cut off or of another version are named in the log, and only they are lost") {
  Node node;
  REQUIRE(node.start());
  const auto cpu = [&] { return analysis::read_baselines(node.saved(analysis::kBaselinesKey)).baselines; };
  REQUIRE(eventually([&] { return !cpu().empty(); }));
  const SavedBaseline any = cpu()[0];
  node.agent.kill();

  const std::string good = analysis::write_baselines({named(any, "good")});
  const std::string version_2 = "2" + analysis::write_baselines({named(any, "newer")}).substr(1);
  std::string damaged = analysis::write_baselines({named(any, "damaged")});
  damaged[damaged.size() - 2] ^= 1;
  const std::string cut = analysis::write_baselines({named(any, "cut")}).substr(0, 30);
  node.save(analysis::kBaselinesKey, damaged + good + version_2 + cut);
  const SavedLatency latency{.workload = "good",
                             .seen = any.seen,
                             .device = (4095u << 20) + 7,
                             .device_name = "4095:7",
                             .mean = {0.001, 20, 20}};
  const std::string other_resource = analysis::write_baselines({named(any, "cpu")});
  node.save(analysis::kLatenciesKey, other_resource + analysis::write_latencies({latency}));
  node.save(analysis::kMemoryBaselinesKey, std::string("\0\xff not a record", 16));

  REQUIRE(node.start());
  const auto is_named = [&](const std::string& text) {
    const bool is = eventually([&] { return node.logged("saved baselines: baselines/" + text); });
    CHECK_MESSAGE(is, text << node.agent.log());
  };
  is_named("cpu, line 1: its checksum is wrong; it is left out");
  is_named("cpu, line 3: it is not of version 1; it is left out");
  is_named("cpu, line 4: its checksum is wrong; it is left out");
  is_named("blkio, line 1: it is no latency of block I/O; it is left out");
  is_named("memory, line 1: it is not of version 1; it is left out");
  const auto keeps = [](const auto& saved) {
    return std::any_of(saved.begin(), saved.end(), [](const auto& one) { return one.workload == "good"; });
  };
  const auto all_of = [](const auto& saved) { return saved.size(); };
  // The next save has the good record beside those of the containers, and none of the others.
  CHECK(eventually([&] { return keeps(cpu()) && all_of(cpu()) == 3; }));
  CHECK(keeps(analysis::read_latencies(node.saved(analysis::kLatenciesKey)).latencies));
  CHECK(node.saved(std::string(analysis::kBaselinesKey) + ".left-out") == damaged + version_2 + cut + "\n");
  CHECK(node.saved(std::string(analysis::kLatenciesKey) + ".left-out") == other_resource);
}

TEST_CASE("a file of the store that cannot be used is named in the log and kept, and the agent is ready without it") {
  Node node;
  REQUIRE(node.start());
  REQUIRE(eventually([&] { return !node.saved(analysis::kBaselinesKey).empty(); }));
  CHECK(node.agent.stop() == 0);
  const std::string path = node.agent.store_path();
  std::string reason;
  SUBCASE("cut off") {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
    reason = "corrupt";
  }
  SUBCASE("a page overwritten") {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(4096) << std::string(4096, '\xff');
    reason = "corrupt";
  }
  SUBCASE("no database") {
    std::ofstream(path, std::ios::trunc) << "baselines: none\n";
    reason = "corrupt";
  }
  SUBCASE("another program's database") {
    std::filesystem::remove(path);
    sqlite::Connection other = node.store(sqlite::Connection::Access::read_write);
    // In the journal mode of the agent, which it sets first: so the bytes stay the same.
    must(other.execute("PRAGMA journal_mode = WAL; PRAGMA application_id = 7; CREATE TABLE kv(key TEXT, value TEXT)"));
    reason = "foreign";
  }
  const std::string before = must(read_file(path));
  REQUIRE(node.start());
  CHECK_MESSAGE(node.logged("set aside as '" + path + "." + reason), node.agent.log());
  bool is_kept = false;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    if (entry.path().string().starts_with(path + "." + reason + "-"))
      is_kept = is_kept || must(read_file(entry.path().string())) == before;
  CHECK(is_kept);
  CHECK(eventually([&] { return !node.saved(analysis::kBaselinesKey).empty(); }));
}
