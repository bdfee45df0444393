// SPDX-License-Identifier: Apache-2.0
// external-prometheus: imports the metrics of any Prometheus or OpenMetrics endpoint in the configuration. The host
// scrapes; this plugin applies the rules.
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "koordetector/plugin.hpp"
#include "plugins/external-prometheus/schema.hpp"
#include "plugins/external-prometheus/settings.hpp"

namespace {

using namespace koord::external_prometheus;
using koord::plugin::Config;
using koord::plugin::Failure;
using koord::plugin::ScrapeTargets;
using koord::plugin::SeriesFate;
using koord::plugin::SeriesMap;
using koord::plugin::Snapshot;
using koord::plugin::Strided;
using koord::plugin::view;

class ExternalPrometheus final : public koord::plugin::ExternalAdvisor {
 public:
  void init() override {
    state_ = koord::plugin::require<koord_svc_state>(host(), "koord.state/1");
    targets_ = read_targets(Config(host()));
    if (targets_.empty()) throw Failure(KOORD_E_UNSUPPORTED, "no targets configured");
  }

  void on_event(std::uint32_t what, std::uint64_t) override {
    if (what != KOORD_ON_CONFIG) return;
    targets_ = read_targets(Config(host()));
    current_ = nullptr;
  }

  void targets(const ScrapeTargets& list) override {
    for (const Target& target : targets_) list.add(target.where);
  }

  void on_target(std::string_view name) override {
    current_ = nullptr;
    for (const Target& target : targets_) {
      if (target.where.name == name) current_ = &target;
    }
  }

  std::optional<std::string> map_metric(std::string_view name) override {
    return current_ ? current_->naming.name_of(name) : std::nullopt;
  }

  SeriesFate map_series(std::string_view, Strided<koord_label> labels, const SeriesMap& map) override {
    if (!current_) return SeriesFate::not_now;
    labels_.clear();
    for (const koord_label& label : labels) labels_.emplace_back(view(label.key), view(label.value));
    const Placed placed = place(current_->labelling, current_->where.name, labels_, subjects());
    if (placed.fate == Placed::Fate::unknown_subject) return SeriesFate::not_now;  // it may be known at the next scrape
    if (placed.subject != 0) map.subject(placed.subject);
    for (const auto& [name, value] : placed.changes) map.label(name, value);
    return SeriesFate::kept;
  }

 private:
  // Returns the subjects of the newest snapshot.
  const SubjectIndex& subjects() {
    const auto snapshot = Snapshot::if_known(host(), state_);
    if (!snapshot || snapshot->version(KOORD_ON_PODS) == pods_version_) return subjects_;
    subjects_ = {};
    for (const koord_pod& pod : snapshot->pods()) {
      subjects_.add_pod(pod.handle, view(pod.uid), view(pod.ns), view(pod.name));
      for (const koord_container& container : koord::plugin::containers_of(pod))
        subjects_.add_container(container.handle, pod.handle, view(container.name), view(container.id));
    }
    for (const koord_container& container : snapshot->containers())
      subjects_.add_container(container.handle, 0, view(container.name), view(container.id));
    pods_version_ = snapshot->version(KOORD_ON_PODS);
    return subjects_;
  }

  const koord_svc_state* state_ = nullptr;
  std::vector<Target> targets_;
  const Target* current_ = nullptr;
  SubjectIndex subjects_;
  std::uint64_t pods_version_ = 0;
  LabelViews labels_;
};

}  // namespace

KOORD_PLUGIN("id=external-prometheus\n"
             "version=1.0.0\n"
             "kinds=koord.external-advisor/1\n"
             "gate=ExternalPrometheus\n"
             "stage=beta\n"
             "default=true\n"
             "requires=koord.config/1,koord.state/1\n"
             "license=Apache-2.0\n"
             "description=metrics of other programs, scraped from their Prometheus endpoints\n",
             koord::plugin::external_advisor<ExternalPrometheus>("external-prometheus", std::chrono::seconds(1),
                                                                 kConfigSchema.data()))
