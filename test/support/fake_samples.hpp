// SPDX-License-Identifier: Apache-2.0
// FakeSamples: adds samples to a FakeHost at its clock's time, as if a different plugin had measured them:
//
//   FakeSamples samples(host);
//   samples.add("node_cpu_usage", 3.5);
//   samples.add("pod_cpu_usage", 0.5, handle);
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "koordetector/plugin.hpp"
#include "test/support/fake_host.hpp"

namespace koord::test {

class FakeSamples {
 public:
  explicit FakeSamples(FakeHost& host)
      : host_(host), other_(host.make_context("another-plugin", workshop::all_services())) {}

  // `subject`: a handle from the host's hub, or KOORD_NO_SUBJECT.
  void add(const std::string& metric, double value, std::uint64_t subject = KOORD_NO_SUBJECT,
           std::initializer_list<plugin::Label> labels = {}) {
    const koord_point point = {series(metric, subject, labels), value};
    plugin::check(service()->append(other_->host(), to_ns(host_.clock().now()), &point, 1, sizeof point),
                  "appending " + metric);
  }

 private:
  const koord_svc_metrics* service() const {
    return plugin::require<koord_svc_metrics>(other_->host(), "koord.metrics/1");
  }

  std::uint64_t series(const std::string& metric, std::uint64_t subject, std::initializer_list<plugin::Label> labels) {
    std::string key = metric + "/" + std::to_string(subject);
    for (const plugin::Label& label : labels) key += "/" + std::string(label.value);
    const auto known = series_.find(key);
    if (known != series_.end()) return known->second;
    const plugin::Metric defined(other_->host(), {metric, "1", "A sample of a test.", 1e-6});
    return series_[key] = defined.series(subject, labels);
  }

  FakeHost& host_;
  std::unique_ptr<service::PluginContext> other_;
  std::map<std::string, std::uint64_t> series_;
};

}  // namespace koord::test
