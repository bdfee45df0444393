// SPDX-License-Identifier: Apache-2.0
#include "core/manager/metric_mirror.hpp"

#include <utility>

#include "core/kube/refusal.hpp"

namespace koord::manager {
namespace {

// "add" replaces the whole status, which removes fields that the report no longer has. A merge patch would keep them.
kube::Call mirror_call(const std::string& node, const std::string& status) {
  return {.verb = kube::Verb::patch,
          .target = "/apis/slo.koordinator.sh/v1alpha1/nodemetrics/" + node + "/status",
          .body = R"([{"op":"add","path":"/status","value":)" + status + "}]",
          .content_type = "application/json-patch+json"};
}

}  // namespace

MetricMirror::MetricMirror(Parts parts, const MirrorPlan::Options& options, Duration period)
    : parts_(std::move(parts)), plan_(options), timer_(parts_.loop.every(period, [this] { run(); })) {}

MetricMirror::~MetricMirror() = default;

void MetricMirror::report(const std::string& node, std::string_view status) {
  if (parts_.leads()) plan_.report(node, content_of(status));
}

void MetricMirror::forget(const std::string& node) {
  plan_.forget(node);
  pending_.erase(node);
}

void MetricMirror::end() {
  plan_.clear();
  pending_.clear();
}

void MetricMirror::run() {
  const bool leads = parts_.leads();
  if (!leads && led_) end();
  led_ = leads;
  if (!leads) return;
  for (const std::string& node : plan_.next(parts_.clock.now())) write(node);
}

void MetricMirror::write(const std::string& node) {
  const Result<std::string> status = mirrored_status(parts_.status(node));
  if (!status) {
    // The object was removed meanwhile, or the node has no report. The next report causes the next write.
    plan_.forget(node);
    return;
  }
  pending_[node] = parts_.client.send(mirror_call(node, *status),
                                      [this, node](const Result<kube::Reply>& reply) { take(node, reply); });
}

void MetricMirror::take(const std::string& node, const Result<kube::Reply>& reply) {
  const auto request = pending_.extract(node);
  const bool was_written = reply && reply->ok();
  plan_.done(node, was_written, parts_.clock.now());
  const bool is_absent = reply && reply->status == 404;
  ++(was_written ? counts_.written : is_absent ? counts_.absent : counts_.failed);
  problem_ = was_written || is_absent ? "" : kube::describe(reply);
  if (was_written) run();
}

}  // namespace koord::manager
