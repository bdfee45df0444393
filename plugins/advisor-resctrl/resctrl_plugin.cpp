// SPDX-License-Identifier: Apache-2.0
// advisor-resctrl: reports the L3 cache and the memory bandwidth that QoS classes use.
#include <utility>

#include "koordetector/plugin.hpp"
#include "plugins/advisor-resctrl/monitor_files.hpp"
#include "plugins/shared/node/host.hpp"
#include "plugins/shared/node/live_series.hpp"

namespace {

using namespace std::chrono_literals;
using koord::plugin::Batch;
using koord::plugin::Config;
using koord::plugin::Failure;
using koord::plugin::Metric;
using koord::resctrl::Features;
using koord::resctrl::Reading;

constexpr char kConfigSchema[] = R"({
  "type": "object", "additionalProperties": false, "properties": {
    "groups": {"type": "array", "minItems": 1, "uniqueItems": true,
               "items": {"type": "string", "pattern": "^[^/.][^/]*(/mon_groups/[^/.][^/]*)?$"},
               "description": "control groups, or monitoring groups as GROUP/mon_groups/NAME; default: those of LSR, LS, BE, as qos-resctrl or koordlet make them"}
  }})";

constexpr std::string_view kCapability = "resctrl_monitoring";

class Resctrl final : public koord::plugin::Advisor {
 public:
  void init() override {
    roots_ = koord::node::roots_of(host());
    auto features = koord::resctrl::find_features(roots_);
    if (!features) throw Failure(KOORD_E_UNSUPPORTED, features.error().text);
    features_ = *features;
    report_missing();
    choose_groups();
    batch_ = Batch(host());
    series_ = koord::node::LiveSeries(host());
    occupancy_ = define({"resctrl_resource_llc", "bytes", "L3 cache that a group of tasks occupies, in bytes.", 4096});
    bandwidth_ = define({"resctrl_resource_mb", "bytes",
                         "Bytes between an L3 cache and memory that a group of tasks caused, since the group was made.",
                         4096, KOORD_COUNTER});
  }

  void collect(std::uint64_t now_ns, std::uint64_t) override {
    std::optional<Failure> failure;
    for (const Group& group : groups_) {
      auto readings = read(group);
      if (!readings) {
        failure = Failure(KOORD_E_IO, readings.error().message());
        continue;
      }
      for (const Reading& reading : *readings) add(group.name, reading);
    }
    if (!failure) series_.end_others();
    batch_.send(now_ns);
    if (failure) throw Failure(*failure);
  }

 private:
  struct Group {
    std::string name;                      // value of the label
    std::vector<std::string> directories;  // the first existing one is used
  };

  void choose_groups() {
    const Config config(host());
    for (std::size_t i = 0; auto group = config.string("/groups/" + std::to_string(i)); ++i)
      groups_.push_back({*group, {*group}});
    if (!groups_.empty()) return;
    for (const std::string name : {"LSR", "LS", "BE"}) groups_.push_back({name, {"koord-" + name, name}});
  }

  koord::Result<std::vector<Reading>> read(const Group& group) const {
    koord::Result<std::vector<Reading>> readings = std::vector<Reading>();
    for (const std::string& directory : group.directories) {
      readings = koord::resctrl::read_group(roots_.resctrl, directory, features_);
      if (!readings || !readings->empty()) break;
    }
    return readings;
  }

  void report_missing() {
    if (features_.all()) return;
    std::string detail = "the CPU does not measure";
    if (!features_.occupancy) detail += " llc_occupancy";
    if (!features_.local_bandwidth) detail += " mbm_local_bytes";
    if (!features_.total_bandwidth) detail += " mbm_total_bytes";
    const auto* capabilities = koord::plugin::require<koord_svc_capabilities>(host(), "koord.capabilities/1");
    capabilities->report(host(), koord::plugin::str(kCapability), KOORD_CAPABILITY_ABSENT, koord::plugin::str(detail));
  }

  void add(const std::string& group, const Reading& reading) {
    const std::string cache = std::to_string(reading.cache);
    add(group + " " + cache, reading.occupancy_bytes, [&] {
      return occupancy_.series(KOORD_NO_SUBJECT, {{"qos", group}, {"cache_id", cache}});
    });
    const auto add_bandwidth = [&](const std::string& type, std::optional<std::uint64_t> bytes) {
      add(group + " " + cache + " " + type, bytes, [&] {
        return bandwidth_.series(KOORD_NO_SUBJECT, {{"qos", group}, {"cache_id", cache}, {"resctrl_mb_type", type}});
      });
    };
    add_bandwidth("mbm_local_bytes", reading.local_bytes);
    add_bandwidth("mbm_total_bytes", reading.total_bytes);
  }

  template <class Make>
  void add(const std::string& key, std::optional<std::uint64_t> bytes, Make&& make) {
    if (bytes)
      batch_.add(series_.of(key, make), static_cast<double>(*bytes));
    else
      series_.keep(key);
  }

  koord::NodeRoots roots_;
  Features features_;
  std::vector<Group> groups_;
  Metric occupancy_, bandwidth_;
  koord::node::LiveSeries series_;
  Batch batch_;
};

}  // namespace

KOORD_PLUGIN("id=advisor-resctrl\nversion=1.0.0\nkinds=koord.advisor/1\n"
             "gate=ResctrlCollector\nstage=beta\ndefault=true\n"
             "requires=koord.metrics/1,koord.fs/1,koord.config/1,koord.capabilities/1\nlicense=Apache-2.0\n"
             "description=L3 cache and memory bandwidth of QoS classes\n",
             koord::plugin::advisor<Resctrl>("resctrl", 10s, kConfigSchema))
