// SPDX-License-Identifier: Apache-2.0
// advisor-block-io: reports bytes and operations of pods and containers on each block device.
#include <algorithm>
#include <optional>
#include <string>

#include "koordetector/subjects.hpp"
#include "plugins/advisor-block-io/block_io.hpp"
#include "plugins/advisor-block-io/device_names.hpp"
#include "plugins/advisor-block-io/io_series.hpp"
#include "plugins/advisor-block-io/io_stat_source.hpp"
#include "plugins/shared/node/host.hpp"

namespace {

using namespace std::chrono_literals;
using koord::NodeRoots;
using koord::block_io::DeviceNames;
using koord::block_io::DeviceTotals;
using koord::block_io::IoSeries;
using koord::block_io::IoStatSource;
using koord::block_io::LevelMetrics;
using koord::block_io::Row;
using koord::plugin::Batch;
using koord::plugin::Failure;
using koord::plugin::Snapshot;
using koord::plugin::Subject;
using koord::plugin::Subjects;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "maxDevices": {"type": "integer", "minimum": 0, "maximum": 64,
                   "description": "devices of a pod or container with series of their own; default: 4"}
  }})";
constexpr std::int64_t kMaxDevices = 4;

constexpr std::string_view kCapability = "container_block_io";

struct Meter {
  DeviceTotals totals;
  IoSeries series;
};

class BlockIo final : public koord::plugin::Advisor {
 public:
  void init() override {
    const NodeRoots roots = koord::node::roots_of(host());
    koord::Result<IoStatSource> source = IoStatSource::find(roots);
    if (!source) throw Failure(KOORD_E_UNSUPPORTED, source.error().message());
    source_ = std::move(source).value();
    names_ = DeviceNames(roots.sys);
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    capabilities_ = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    max_devices_ = static_cast<std::size_t>(koord::plugin::Config(host()).i64("/maxDevices").value_or(kMaxDevices));
    batch_ = Batch(host());
    pod_metrics_ = {host(), "pod"};
    container_metrics_ = {host(), "container"};
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    meters_.follow(Snapshot(host(), state_), [this](const Subject& subject) { return meter_of(subject); });
    std::optional<Failure> failure =
        meters_.for_each([&](Meter& meter, std::string_view dir) { measure(meter, dir, now_ns); });
    report_capability();
    batch_.send(now_ns);
    if (failure) throw *failure;
  }

 private:
  // The best result of the reads so far; later enumerators are better.
  enum class Found { nothing, no_file, no_device, devices };

  Meter meter_of(const Subject& subject) const {
    return {DeviceTotals(max_devices_), IoSeries(subject.is_pod() ? pod_metrics_ : container_metrics_, subject.handle)};
  }

  void measure(Meter& meter, std::string_view dir, std::uint64_t now_ns) {
    const auto stats = source_->read(dir);
    if (!stats) throw Failure(KOORD_E_IO, stats.error().message());
    found_ = std::max(found_, !*stats ? Found::no_file : (*stats)->empty() ? Found::no_device : Found::devices);
    if (!*stats) return;
    for (const Row& row : meter.totals.update(**stats)) meter.series.report(row, names_, now_ns, batch_);
  }

  void report_capability() {
    if (found_ <= reported_) return;
    reported_ = found_;
    const bool v1 = source_->version() == koord::cgroup::Version::v1;
    switch (found_) {
      case Found::nothing:
        return;
      case Found::no_file:
        return report(false, v1 ? "no pod or container has a blkio.throttle.io_service_bytes"
                                : "the io controller is not switched on for pods and containers");
      case Found::no_device:
        if (!v1) return report(true, "io.stat, without any I/O so far");
        return report(false,
                      "no cgroup has numbers: this kernel counts for v1 only where a blkio.throttle limit was set");
      case Found::devices:
        return report(true, v1 ? "blkio.throttle" : "io.stat");
    }
  }

  void report(bool supported, std::string_view detail) {
    capabilities_->report(host(), koord::plugin::str(kCapability),
                          supported ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT, koord::plugin::str(detail));
    if (!supported) log(KOORD_LOG_INFO, detail);
  }

  std::optional<IoStatSource> source_;
  DeviceNames names_;
  const koord_svc_state* state_ = nullptr;
  const koord_svc_capabilities* capabilities_ = nullptr;
  std::size_t max_devices_ = 0;
  LevelMetrics pod_metrics_, container_metrics_;
  Subjects<Meter> meters_;
  Found found_ = Found::nothing, reported_ = Found::nothing;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN(
    "id=advisor-block-io\nversion=1.0.0\nkinds=koord.advisor/1\n"
    "gate=BlockIOCollector\nstage=beta\ndefault=true\n"
    "requires=koord.metrics/1,koord.state/1,koord.fs/1,koord.config/1,koord.capabilities/1\nlicense=Apache-2.0\n"
    "description=Bytes and operations of pods and containers on each block device\n",
    koord::plugin::advisor<BlockIo>("block-io", 5s, kConfigSchema))
