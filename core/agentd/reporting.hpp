// SPDX-License-Identifier: Apache-2.0
// ReportingModule: writes the objects of core/report once a client of the API server exists, and reports their state in
// /readyz and /metrics. Functions are [loop thread] unless marked.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "core/agentd/services.hpp"
#include "core/api/module_health.hpp"
#include "core/api/report_source.hpp"
#include "core/config/config.hpp"
#include "core/predict/prediction.hpp"
#include "core/report/direct_reporter.hpp"
#include "core/report/node_metric_reporter.hpp"
#include "core/report/object_reporter.hpp"
#include "core/report/object_sources.hpp"

namespace koord::agentd {

class ReportingModule final : public api::ReportSource {
 public:
  // The services and the prediction must outlive this object. `prediction` is null if it is switched off.
  ReportingModule(const Services& services, const predict::Prediction* prediction, const config::Config& config);
  ~ReportingModule() override;

  void start();
  void stop();

  report::NodeMetricReport compute() const override { return node_metric_.compute(); }
  std::optional<report::NodeMetricReporter::View> node_metric() const override;
  std::optional<report::DirectReporter::View> direct() const override;
  std::optional<report::ObjectReporter::View> topology() const override;
  std::optional<report::ObjectReporter::View> devices() const override;
  std::optional<report::CpuPools> pools() const override;

  api::ModuleHealth health() const;  // [any]

 private:
  struct Running;

  bool is_running(const std::string& plugin) const;
  void find_client();
  report::NodeMetricReporter::Parts node_metric_parts(kube::Client* client) const;
  report::Prediction predict() const;
  report::Facts facts() const;
  report::DirectReport compute_direct() const;
  void start_direct(kube::Client& client);
  bool is_replaced() const;
  void export_metrics();

  const Services& services_;
  const predict::Prediction* const prediction_;
  const config::Config config_;
  const report::NodeMetricOptions options_;
  const report::NodeMetricReporter node_metric_;  // has no client; only used for compute()
  std::unique_ptr<event::Timer> client_timer_;
  std::unique_ptr<Running> running_;
  std::atomic<Running*> shown_ = nullptr;  // running_ for other threads; valid until this object is destroyed
};

}  // namespace koord::agentd
