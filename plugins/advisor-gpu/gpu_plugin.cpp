// SPDX-License-Identifier: Apache-2.0
// advisor-gpu: measures usage of NVIDIA devices by pods and containers.
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "koordetector/plugin.hpp"
#include "plugins/advisor-gpu/device_facts.hpp"
#include "plugins/advisor-gpu/driver.hpp"
#include "plugins/advisor-gpu/gpu_usage.hpp"
#include "plugins/advisor-gpu/process_owner.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/live_series.hpp"

namespace {

using namespace std::chrono_literals;
using namespace koord::gpu;
using koord::Error;
using koord::Result;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::plugin::Snapshot;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "library": {"type": "string", "minLength": 1, "description": "the driver's library; default libnvidia-ml.so.1"},
    "probeTimeout": {"type": "string", "description": "how long opening it may take; default 5s"},
    "release": {"type": "boolean", "description": "close the driver, so that it can be unloaded; default false"}
  }})";

// Period of the search for devices, which appear and disappear with their drivers.
constexpr std::uint64_t kDiscoverEveryNs = 60'000'000'000;

struct Device {
  unsigned index;
  DeviceInfo info;
  PciPlace place;
  ProcessLoad load = {};
  std::optional<Error> fault = {};
};

// koordlet's two metrics for one level.
struct LevelMetrics {
  Metric core, memory;
};

class Gpu final : public koord::plugin::Advisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    capabilities_ = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    roots_ = koord::node::roots_of(host());
    fact_ = koord::node::Fact(host(), "GPU");
    driver_.configure(read_settings());
    const auto* clock = koord::plugin::require<koord_svc_clock>(host(), "koord.clock/1");
    driver_.poll(clock->now_ns(host()), driver_.patience());
    if (driver_.state() == Driver::State::missing && nvidia_gpus(roots_.sys).empty())
      throw Failure(KOORD_E_UNSUPPORTED, "there is no NVIDIA GPU: " + driver_.why());
    series_ = koord::node::LiveSeries(host());
    batch_ = Batch(host());
    node_ = define_level("node", "all processes of the node");
    pod_ = define_level("pod", "a pod");
    container_ = define_level("container", "a container");
    total_ = define({"node_gpu_memory_total", "bytes", "Memory of a GPU.", 4096});
    report_state();
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    driver_.poll(now_ns);
    if (driver_.nvml()) {
      follow_state();
      measure_all(now_ns);
    }
    if (!driver_.nvml()) forget_devices();
    series_.end_others();
    fact_.put(to_json(facts()));
    report_state();
    batch_.send(now_ns);
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if ((what & KOORD_ON_CONFIG) == 0) return;
    driver_.configure(read_settings());
    forget_devices();
    report_state();
  }

  void stop() override { driver_.release_all(); }

 private:
  Driver::Settings read_settings() const {
    const koord::plugin::Config config(host());
    Driver::Settings settings;
    settings.library = config.string("/library").value_or(settings.library);
    settings.release = config.boolean("/release").value_or(false);
    if (const auto text = config.string("/probeTimeout")) {
      const Result<koord::Duration> timeout = koord::parse_duration(*text);
      if (!timeout || *timeout < 1ms)
        throw Failure(KOORD_E_INVALID, "probeTimeout: '" + *text + "' is not a duration, expected one such as 5s");
      settings.patience = std::chrono::duration_cast<std::chrono::milliseconds>(*timeout);
    }
    return settings;
  }

  LevelMetrics define_level(const std::string& level, const std::string& owner) const {
    return {define({level + "_gpu_core_usage", "percent",
                    "Part of a GPU's multiprocessors that " + owner + " kept busy.", 0.1}),
            define({level + "_gpu_memory_usage", "bytes", "Memory of a GPU that " + owner + " took.", 4096})};
  }

  void follow_state() {
    const auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->version(KOORD_ON_PODS) == pods_version_) return;
    owners_.clear();
    const auto own = [this](koord_str dir, Owner owner) {
      if (dir.n > 0) owners_.emplace(koord::plugin::view(dir), owner);
    };
    for (const koord_pod& pod : snapshot->pods()) {
      for (const koord_container& container : koord::plugin::containers_of(pod))
        own(container.cgroup_dir, {container.handle, pod.handle});
      own(pod.cgroup_dir, {std::nullopt, pod.handle});
    }
    for (const koord_container& container : snapshot->containers())
      own(container.cgroup_dir, {container.handle, std::nullopt});
    pods_version_ = snapshot->version(KOORD_ON_PODS);
  }

  void forget_devices() {
    for (const Device& device : devices_)
      report_capability(name_of(device.index), KOORD_CAPABILITY_ABSENT, "there is no driver now");
    devices_.clear();
    next_discovery_ns_ = 0;
  }

  void measure_all(std::uint64_t now_ns) {
    if (now_ns >= next_discovery_ns_) discover(now_ns);
    for (Device& device : devices_) {
      if (!driver_.nvml()) break;
      const Result<void> measured = measure(device, now_ns);
      device.fault = measured ? std::nullopt : std::optional(measured.error());
      if (!measured && is_of_the_driver(measured.error())) driver_.lose(measured.error(), now_ns);
    }
  }

  // Searches the devices. A device that does not respond is left out, and tried again later.
  void discover(std::uint64_t now_ns) {
    next_discovery_ns_ = now_ns + kDiscoverEveryNs;
    const Result<unsigned> count = driver_.nvml()->device_count();
    if (!count) return driver_.lose(count.error(), now_ns);
    std::vector<Device> found;
    for (unsigned index = 0; index < *count; ++index) {
      Result<DeviceInfo> info = driver_.nvml()->describe(index);
      report_device(index, info);
      if (!info) continue;
      const PciPlace place = pci_place(roots_.sys, info->bus_id);
      found.push_back({index, std::move(*info), place});
      for (Device& known : devices_)
        if (known.info.uuid == found.back().info.uuid) found.back().load = std::move(known.load);
    }
    devices_ = std::move(found);
  }

  Result<void> measure(Device& device, std::uint64_t now_ns) {
    const Nvml& nvml = *driver_.nvml();
    const std::vector<Process> processes = TRY(nvml.processes(device.index));
    device.load.update(TRY(nvml.samples(device.index, device.load.newest_us())), now_ns);
    Usage all;
    std::map<std::uint64_t, Usage> containers, pods;
    for (const Process& process : processes) {
      const Usage usage = device.load.of(process);
      const Owner owner = owner_of_process(process.pid);
      all.add(usage);
      if (owner.container) containers[*owner.container].add(usage);
      if (owner.pod) pods[*owner.pod].add(usage);
    }
    // Without values by process, the value of the device is used.
    if (!all.core_percent) all.core_percent = TRY(nvml.utilization_percent(device.index));
    if (!all.memory_bytes) all.memory_bytes = static_cast<double>(TRY(nvml.memory_used_bytes(device.index)));
    report(node_, device, KOORD_NO_SUBJECT, all);
    for (const auto& [handle, usage] : containers) report(container_, device, handle, usage);
    for (const auto& [handle, usage] : pods) report(pod_, device, handle, usage);
    add("total", total_, device, KOORD_NO_SUBJECT, static_cast<double>(device.info.memory_total_bytes));
    return {};
  }

  // Returns no owner for a process that has ended meanwhile.
  Owner owner_of_process(std::uint32_t pid) const {
    const Result<std::string> text = koord::read_file(roots_.proc + "/" + std::to_string(pid) + "/cgroup");
    return text ? owner_of(*text, owners_).value_or(Owner{}) : Owner{};
  }

  void report(const LevelMetrics& level, const Device& device, std::uint64_t subject, const Usage& usage) {
    add("core", level.core, device, subject, usage.core_percent);
    add("memory", level.memory, device, subject, usage.memory_bytes);
  }

  void add(const std::string& what, const Metric& metric, const Device& device, std::uint64_t subject,
           std::optional<double> value) {
    if (!value) return;
    const std::string minor = std::to_string(device.info.minor);
    const std::string key = what + " " + std::to_string(subject) + " " + minor + " " + device.info.uuid;
    const auto make = [&] {
      return metric.series(subject, {{"gpu_minor", minor}, {"gpu_device_uuid", device.info.uuid}});
    };
    batch_.add(series_.of(key, make), *value);
  }

  std::vector<GpuFact> facts() const {
    std::vector<GpuFact> facts;
    for (const Device& device : devices_) {
      facts.push_back(
          {device.info.uuid, device.info.minor, device.info.memory_total_bytes, device.info.bus_id, device.place});
      if (device.fault) facts.back().fault = GpuFact::Fault{device.fault->code.value(), device.fault->message()};
    }
    return facts;
  }

  static std::string name_of(unsigned index) { return "gpu " + std::to_string(index); }

  void report_device(unsigned index, const Result<DeviceInfo>& info) {
    report_capability(name_of(index), info ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_BROKEN,
                      info ? info->uuid : info.error().message());
  }

  void report_state() {
    switch (driver_.state()) {
      case Driver::State::trying:
        return;
      case Driver::State::open:
        return report_capability("nvml", KOORD_CAPABILITY_SUPPORTED, "");
      case Driver::State::missing:
        return report_capability("nvml", KOORD_CAPABILITY_ABSENT, "there is a GPU and no driver yet: " + driver_.why());
      case Driver::State::released:
        return report_capability("nvml", KOORD_CAPABILITY_ABSENT, driver_.why());
      case Driver::State::broken:
        return report_capability("nvml", KOORD_CAPABILITY_BROKEN, driver_.why());
    }
  }

  // Reports a capability once for each change.
  void report_capability(const std::string& name, std::uint32_t state, const std::string& why) {
    const std::pair current{state, why};
    if (const auto last = reported_.find(name); last != reported_.end() && last->second == current) return;
    reported_[name] = current;
    capabilities_->report(host(), koord::plugin::str(name), state, koord::plugin::str(why));
    if (state == KOORD_CAPABILITY_BROKEN) log(KOORD_LOG_WARN, name + ": " + why);
  }

  const koord_svc_state* state_ = nullptr;
  const koord_svc_capabilities* capabilities_ = nullptr;
  koord::NodeRoots roots_;
  koord::node::Fact fact_;
  koord::node::LiveSeries series_;
  LevelMetrics node_, pod_, container_;
  Metric total_;
  Batch batch_;
  Driver driver_;
  std::vector<Device> devices_;
  std::uint64_t next_discovery_ns_ = 0, pods_version_ = 0;
  Owners owners_;
  std::map<std::string, std::pair<std::uint32_t, std::string>> reported_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-gpu\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=Accelerators\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1,koord.kv/1,koord.capabilities/1,"
             "koord.clock/1\nlicense=Apache-2.0\n"
             "description=What NVIDIA GPUs do, by device, pod and container\n",
             koord::plugin::advisor<Gpu>("gpu", 1s, kConfigSchema))
