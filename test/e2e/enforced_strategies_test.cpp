// SPDX-License-Identifier: Apache-2.0
// The strategies other than CPU suppression in one agent, which enforces them on this machine's kernel: pods, node and
// NodeSLO from files, a busy service in a cgroup of the test. Knobs of the node are plain files below the test's roots;
// the machine's own knobs are not changed. The test reads the kernel's files. Its results do not depend on time.
#include <doctest/doctest.h>

#include <sys/sysmacros.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <thread>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "test/support/agent_process.hpp"
#include "test/support/loop_disk.hpp"
#include "test/support/pods_by_hand.hpp"

using namespace koord::test;
using koord::cgroup::Controller;
namespace fs = std::filesystem;

namespace {

constexpr auto kLong = std::chrono::minutes(2);
constexpr const char* kServiceResources = "{requests: {cpu: 100m, memory: 64Mi}, limits: {cpu: 100m, memory: 128Mi}}";
constexpr const char* kNode =
    "kind: Node\nmetadata: {name: n}\nstatus: {capacity: {cpu: \"2\", memory: 8Gi}, allocatable: {cpu: \"2\", memory: 8Gi}}\n";

// Files of a node without CPU usage, so there is always room for burst, even if this machine is busy.
class NodeFiles {
 public:
  explicit NodeFiles(const std::string& folder) : folder_(folder) {
    put("proc/stat", koord::read_file("/proc/stat").value());
    put("proc/meminfo", koord::read_file("/proc/meminfo").value());
    put("proc/sys/kernel/random/boot_id", koord::read_file("/proc/sys/kernel/random/boot_id").value());
    for (const auto& [file, text] : kKnobs) put(file, text);
    fs::create_directory_symlink("/sys/devices", folder_ + "/sys/devices");
  }
  void put(const std::string& file, const std::string& text) const {
    fs::create_directories(fs::path(folder_ + "/" + file).parent_path());
    REQUIRE(koord::write_file_atomically(folder_ + "/" + file, text));
  }
  std::string roots() const { return "proc: " + folder_ + "/proc, sys: " + folder_ + "/sys"; }
  std::map<std::string, std::string> knobs() const {
    std::map<std::string, std::string> texts;
    for (const auto& [file, before] : kKnobs)
      texts[folder_ + "/" + file] = koord::read_file(folder_ + "/" + file).value_or("(none)");
    return texts;
  }
  std::string path(const std::string& file) const { return folder_ + "/" + file; }

 private:
  static inline const std::map<std::string, std::string> kKnobs = {{"proc/sys/vm/min_free_kbytes", "67584"},
                                                                   {"proc/sys/vm/watermark_scale_factor", "10"},
                                                                   {"sys/kernel/mm/memcg_reaper/reap_background", "0"}};

  std::string folder_;
};

// Files and their expected contents.
using Wanted = std::map<std::string, std::string>;

struct EnforcedStrategiesFixture {
  EnforcedStrategiesFixture() {
    pods.limit_cpu(pods.service_pod, 10'000);  // the quota that a kubelet sets for 100m
    pods.limit_cpu(pods.service, 10'000);
    service.emplace([] {
      for (;;) asm volatile("");
    });
    pods.service.add_process(service->pid());
    if (disk) node.put("sys/block/" + disk_name() + "/dev", disk_number() + "\n");
    pods.write_files(folder.path(), slo(true), kServiceResources);
    REQUIRE(koord::write_file_atomically(folder / "node.yaml", kNode));
    before = knobs();
    std::vector<std::string> plugins;
    for (const char* plugin : {"advisor-node-resource", "advisor-pod-resource", "advisor-pod-throttled", "qos-blkio",
                               "qos-cgroup-reconcile", "qos-cpu-burst", "qos-memory-reclaim", "qos-system"})
      plugins.push_back(built("plugins/" + std::string(plugin)));
    agent.emplace(config("enforce"), plugins);
    start();
  }

  // `mode`: the value of qos.mode, with the text that follows it in the configuration.
  std::string config(const std::string& mode) const {
    return "roots: {cgroup: " + root + ", " + node.roots() +
           "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" + ", node: " + folder / "node.yaml" +
           ", nodeSLO: " + folder / "slo.yaml" + "}}\nqos: {mode: " + mode + "}";
  }
  void start() {
    REQUIRE(agent->start(
        {"--feature-gates=BlkIOReconcile=true,CgroupReconcile=true,MemoryReclaim=true,SystemConfig=true"}));
  }

  std::string disk_name() const { return fs::path(disk->path()).filename(); }
  std::string disk_number() const {
    return std::to_string(::major(disk->number())) + ":" + std::to_string(::minor(disk->number()));
  }

  std::string slo(bool enable) const {
    if (!enable) return "{cpuBurstStrategy: {policy: none}}";
    const std::string blocks = disk ? "{name: " + disk->path() + ", type: device, ioCfg: {readBPS: 1048576}}" : "";
    return "\n  cpuBurstStrategy: {policy: auto, cpuBurstPercent: 100, cfsQuotaBurstPercent: 200, cfsQuotaBurstPeriodSeconds: -1,"
           " sharePoolThresholdPercent: 100}\n"
           "  systemStrategy: {minFreeKbytesFactor: 100, watermarkScaleFactor: 150, memcgReapBackGround: 1}\n"
           "  resourceQOSStrategy:\n"
           "    lsClass: {memoryQOS: {enable: true, minLimitPercent: 50, lowLimitPercent: 100, throttlingPercent: 50, oomKillGroup: 1}}\n"
           "    beClass: {blkioQOS: {enable: true, blocks: [" +
           blocks + "]}}";
  }

  // Returns the values that the NodeSLO above must set in the kernel, except for knobs that the kernel lacks.
  Wanted wanted() const {
    const bool v2 = pods.is_v2();
    Wanted all = {{node.path("proc/sys/vm/min_free_kbytes"), "83886"},
                  {node.path("proc/sys/vm/watermark_scale_factor"), "150"},
                  {node.path("sys/kernel/mm/memcg_reaper/reap_background"), "1"}};
    for (const RealCgroup* cgroup : {&pods.service_pod, &pods.service}) {
      const std::string cpu = cgroup->path(Controller::cpu), memory = cgroup->path(Controller::memory);
      all[cpu + (v2 ? "/cpu.max" : "/cpu.cfs_quota_us")] = v2 ? "20000 100000" : "20000";
      all[cpu + (v2 ? "/cpu.max.burst" : "/cpu.cfs_burst_us")] = "10000";
      all[memory + "/memory.min"] = "33554432";
      all[memory + "/memory.low"] = "67108864";
      all[memory + "/memory.oom.group"] = "1";
    }
    all[pods.burstable.path(Controller::memory) + "/memory.min"] = "33554432";
    all[pods.kubepods.path(Controller::memory) + "/memory.low"] = "67108864";
    all[pods.service.path(Controller::memory) + "/memory.high"] = "100663296";
    const std::string io = pods.besteffort.path(Controller::blkio);
    if (disk && v2) all[io + "/io.max"] = disk_number() + " rbps=1048576 wbps=max riops=max wiops=max";
    if (disk && !v2) all[io + "/blkio.throttle.read_bps_device"] = disk_number() + " 1048576";
    std::erase_if(all, [](const auto& one) { return !fs::exists(one.first); });
    return all;
  }
  std::string missing() const {
    std::string all;
    for (const auto& [file, text] : wanted()) {
      const std::string now(koord::trim(koord::read_file(file).value_or("")));
      if (now != text) all += file + ": '" + now + "', expected '" + text + "'\n";
    }
    return all;
  }
  bool becomes_wanted() {
    const bool became = eventually([&] { return missing().empty(); }, kLong);
    CHECK_MESSAGE(became, missing() << agent->log());
    return became;
  }

  std::map<std::string, std::string> knobs() const {
    std::map<std::string, std::string> all = pods.knobs();
    all.merge(node.knobs());
    return all;
  }

  // Returns whether any decision on the knob had this outcome.
  bool was(const std::string& knob, const std::string& outcome) const {
    const std::string decisions = agent->ctl({"decisions", "--knob", knob, "--outcome", outcome, "-o", "json"}).output;
    return decisions.find("\"knob\":\"" + knob + "\"") != std::string::npos;
  }

  // Reads the capability's line of `koordctl capabilities`: name, state, source. Returns nullopt if the capability is
  // not reported.
  std::optional<bool> is_capable(const std::string& name, const std::string& plugin) const {
    const std::string table = agent->ctl({"capabilities"}).output;
    std::string_view rest = table;
    while (auto line = koord::next_field(rest, '\n')) {
      const auto first = koord::next_word(*line), state = koord::next_word(*line), source = koord::next_word(*line);
      if (first == name && source == plugin) return state == "supported";
    }
    return std::nullopt;
  }

  TemporaryFolder folder;
  NodeFiles node{folder.path()};
  std::unique_ptr<LoopDisk> disk = LoopDisk::attach(1 << 20);
  PodsByHand pods{"strategies"};
  const std::string root = pods.root(folder.path());
  std::optional<ChildProcess> service;
  std::map<std::string, std::string> before;
  std::optional<AgentProcess> agent;
};

// Reads the quotas of a service and its pod repeatedly.
class QuotaWatch {
 public:
  explicit QuotaWatch(const PodsByHand& pods)
      : pods_(pods), reader_([this](const std::stop_token& stop) { read(stop); }) {}

  long highest() const { return highest_; }
  long lowest() const { return lowest_; }
  static long quota_of(const PodsByHand& pods, const RealCgroup& cgroup) {
    return std::strtol(pods.read(cgroup, "cpu.max").c_str(), nullptr, 10);
  }

 private:
  void read(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (const RealCgroup* cgroup : {&pods_.service, &pods_.service_pod}) {
        const long quota = quota_of(pods_, *cgroup);
        highest_ = std::max(highest_.load(), quota);
        lowest_ = std::min(lowest_.load(), quota);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  const PodsByHand& pods_;
  std::atomic<long> highest_ = 0, lowest_ = LONG_MAX;
  std::jthread reader_;
};

}  // namespace

TEST_CASE_FIXTURE(
    EnforcedStrategiesFixture,
    "the kernel has the proposed values, and after NodeSLO or SIGTERM every file is as it was, byte by byte") {
  REQUIRE(before.size() > 20);
  REQUIRE(becomes_wanted());
  CHECK(was("cpu.max", "applied"));
  CHECK(was("vm.min_free_kbytes", "applied"));

  // Knobs that this kernel lacks are reported as missing, the others work.
  const bool protects = fs::exists(pods.service.path(Controller::memory) + "/memory.min");
  CHECK(was("memory.min", protects ? "applied" : "unsupported"));
  const bool reclaims = fs::exists(pods.batch_pod.path(Controller::memory) + "/memory.reclaim");
  CHECK(is_capable("memory_reclaim", "qos-memory-reclaim") == reclaims);

  pods.write_slo(folder.path(), slo(false));
  eventually([&] { return knobs() == before; }, kLong);
  CHECK(changes(before, knobs()) == "");
  pods.write_slo(folder.path(), slo(true));
  REQUIRE(becomes_wanted());
  CHECK(agent->stop() == 0);
  CHECK(changes(before, knobs()) == "");
}

TEST_CASE_FIXTURE(
    EnforcedStrategiesFixture,
    "killed again and again, reloaded, sent SIGHUP and kept over an exit, burst never takes a quota beyond limit times ceiling") {
  REQUIRE(becomes_wanted());
  const QuotaWatch watch(pods);
  const auto quota = [&] { return QuotaWatch::quota_of(pods, pods.service); };
  const auto is_raised = [&] { return quota() > 10'000; };
  const int sessions = pods.is_v2() ? 3 : 20;  // v2 is an emulated machine, where each session takes long
  for (int session = 0; session < sessions; ++session) {
    agent->kill();
    start();
    // It begins at the limit, whatever the previous session left. Every second session is ended while it raises the
    // quota.
    CHECK_MESSAGE(eventually([&] { return quota() < 20'000; }, kLong), agent->log());
    if (session % 2 == 0) CHECK_MESSAGE(eventually([&] { return quota() == 20'000; }, kLong), agent->log());
  }
  CHECK(agent->ctl({"plugin", "reload", "qos-cpu-burst"}).exit_status == 0);
  CHECK(eventually(is_raised, kLong));
  agent->write_config("  settings: {qos-cpu-burst: {config: {windowSeconds: 30}}}\n" +
                      config("enforce"));  // the config is below `plugins`
  agent->process().signal(SIGHUP);
  CHECK(eventually(is_raised, kLong));
  agent->write_config(config("enforce, onExit: keep"));
  CHECK(agent->stop() == 0);
  start();
  CHECK(eventually(is_raised, kLong));
  CHECK(watch.highest() <= 20'000);
  CHECK(watch.lowest() >= 10'000);
  agent->write_config(config("enforce"));
  CHECK(agent->stop() == 0);
  start();
  CHECK(agent->stop() == 0);
  CHECK(changes(before, knobs()) == "");
}
