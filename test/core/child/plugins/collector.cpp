// SPDX-License-Identifier: Apache-2.0
// An external advisor with several endpoints, by its configuration:
//   {"targets": [{"name": "a", "url": "http://…", "prefix": "put before its names", "file": "trusted authorities",
//    "series": 5}], "panic": "targets"}
// Removes the label "secret" from a series, renames "was" to "is", and binds the series to the pod with the uid in its
// label "pod". A series with an unknown pod is left out now, and a series with the label "drop" always.
#include <koordetector/plugin.hpp>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace koord::plugin;

struct Collector : ExternalAdvisor {
  void init() override { state_ = require<koord_svc_state>(host(), "koord.state/1"); }
  void on_event(std::uint32_t, std::uint64_t) override {}

  void targets(const ScrapeTargets& targets) override {
    const Config config(host());
    if (config.string("/panic") == "targets") throw std::runtime_error("the collector's text");
    prefixes_.clear();
    for (int i = 0;; ++i) {
      const std::string at = "/targets/" + std::to_string(i);
      std::optional<std::string> name = config.string(at + "/name");
      if (!name) return;
      ScrapeTarget target{*name, config.string(at + "/url").value_or("")};
      target.ca_file = config.string(at + "/file").value_or("");
      target.max_series = static_cast<std::uint64_t>(config.i64(at + "/series").value_or(0));
      prefixes_[*name] = config.string(at + "/prefix").value_or("");
      targets.add(target);
    }
  }
  void on_target(std::string_view name) override { prefix_ = prefixes_[std::string(name)]; }
  std::optional<std::string> map_metric(std::string_view name) override { return prefix_ + std::string(name); }

  SeriesFate map_series(std::string_view, Strided<koord_label> labels, const SeriesMap& map) override {
    for (const koord_label& label : labels) {
      if (view(label.key) == "drop") return SeriesFate::dropped;
      if (view(label.key) == "secret") map.label("secret", "");
      if (view(label.key) == "was") {
        map.label("was", "");
        map.label("is", view(label.value));
      }
      if (view(label.key) != "pod") continue;
      const std::uint64_t handle = handle_of(view(label.value));
      if (handle == KOORD_NO_SUBJECT) return SeriesFate::not_now;
      map.subject(handle);
      map.label("pod", "");
    }
    return SeriesFate::kept;
  }

  std::uint64_t handle_of(std::string_view uid) const {
    const auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot) return KOORD_NO_SUBJECT;
    for (const koord_pod& pod : snapshot->pods()) {
      if (view(pod.uid) == uid) return pod.handle;
    }
    return KOORD_NO_SUBJECT;
  }

  const koord_svc_state* state_ = nullptr;
  std::map<std::string, std::string> prefixes_;
  std::string prefix_;
};

KOORD_PLUGIN("id=com.example.collector\n"
             "version=1.0.0\n"
             "kinds=koord.external-advisor/1\n"
             "gate=Collector\n"
             "requires=koord.config/1,koord.state/1\n"
             "license=Apache-2.0\n"
             "description=brings in the metrics of several endpoints\n",
             external_advisor<Collector>("collector", std::chrono::milliseconds(100)))
