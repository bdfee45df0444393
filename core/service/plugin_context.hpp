// SPDX-License-Identifier: Apache-2.0
// PluginContext: one plugin's side of the host: the koord_host it is given, and all that its calls of
// services leave behind. Made before create(), destroyed after destroy() has returned; what the plugin left
// open is closed then, and with the last context of a plugin id its metrics end. The functions under "for the
// services" are those behind the tables; all are [any thread].
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/evict/request.hpp"
#include "core/knob/intent.hpp"
#include "core/log/rate_limit.hpp"
#include "core/service/arguments.hpp"
#include "core/service/config_document.hpp"
#include "core/service/plugin_cgroup_files.hpp"
#include "core/service/plugin_side.hpp"
#include "core/service/plugin_snapshots.hpp"
#include "core/service/rights.hpp"
#include "core/service/service_meter.hpp"
#include "core/service/shared_services.hpp"
#include "core/service/verdict_list.hpp"
#include "koordetector/plugin.h"

namespace koord::service {

class PluginContext final : public PluginSide {
 public:
  static constexpr std::size_t kMaxPlan = service::kMaxPlan;  // intents
  static constexpr std::size_t kMaxEvictions = 100;           // requests of one evaluate()

  // `granted`: the ids of the services it may have. `config_json`: a JSON object, or empty for none.
  PluginContext(SharedServices& shared, std::string plugin_id, std::set<std::string> granted, std::string config_json,
                Rights rights = {});
  ~PluginContext();
  PluginContext(const PluginContext&) = delete;
  PluginContext& operator=(const PluginContext&) = delete;

  const koord_host* host() const override { return &host_; }
  const std::string& id() const override { return id_; }
  SharedServices& shared() const { return shared_; }

  std::optional<ReportedError> take_error() override;
  // KOORD_ON_*: the changes for which on_event() is called.
  std::uint32_t subscribed_parts() const { return subscribed_.load(std::memory_order_relaxed); }
  // Whether on_event() is called for changes of the standing verdicts.
  bool wants_verdicts() const { return wants_verdicts_.load(std::memory_order_relaxed); }
  // The intents proposed since the last take: after evaluate(), its plan.
  knob::Plan take_plan();
  // Is it the plan that was taken last, again?
  bool repeats_plan() const;
  void drop_plan();
  std::vector<evict::Request> take_evictions();
  // From the next read on; the old one stays when this is not a JSON object.
  Result<void> set_config_json(std::string_view json);
  const std::shared_ptr<ServiceMeter>& meter() const { return meter_; }
  // Ends the standing verdicts that it posted.
  // Ends the verdicts of this context, and refuses further ones. It may be called after the context has ended, as long
  // as what all plugins share is there. [any thread]
  std::function<void(std::string_view why)> verdict_closer() const;

  // ---- for the services ----
  bool is_granted(std::string_view service) const { return granted_.contains(service); }
  const Rights& rights() const { return rights_; }
  // The first breach of a kind is logged; the newest is the plugin's reason in its status.
  void note_breach(const char* quota, const std::string& text);
  // The same, and KOORD_E_AGAIN with this text.
  Error over_quota(const char* quota, const std::string& text);
  // Logs a refusal of what the plugin asked for, as a line that begins with its id; each text once an hour.
  void note_refusal(std::string text);
  // The same of a service's error, which is returned.
  Error refused(Error error);
  // Whether a sample may carry this time: not later than now, give or take. Reads the clock once a minute at most.
  bool is_time_plausible(std::uint64_t t_ns);
  std::uint64_t latest_plausible_ns() const;
  koord_status fail(koord_status status, std::string_view why);
  // The subject of a handle from the plugin; KOORD_NO_SUBJECT is the node.
  Result<metric::Subject> living_subject(std::uint64_t handle);
  void log(std::int32_t level, std::string_view message);
  void subscribe(std::uint32_t parts) { subscribed_.store(parts, std::memory_order_relaxed); }
  void subscribe_verdicts(bool on) { wants_verdicts_.store(on, std::memory_order_relaxed); }
  // Another one for each context.
  std::uint64_t session() const { return serial_; }
  // The proposals so far repeat the first `n` intents of the plan that was taken last; null: they do not.
  struct PlanBefore {
    std::shared_ptr<const knob::Plan> plan;
    std::size_t n = 0;
  };
  PlanBefore plan_before() const;
  // `n_more` intents of that plan as they were, then others.
  Result<void> propose(const PlanBefore& before, std::size_t n_more, knob::Plan others);
  Result<void> request_eviction(evict::Request request);
  std::shared_ptr<const ConfigDocument> config() const;
  PluginSnapshots& snapshots() { return snapshots_; }
  PluginVerdictLists& verdict_lists() { return verdict_lists_; }
  PluginCgroupFiles& cgroup_files() { return cgroup_files_; }

 private:
  SharedServices& shared_;
  const std::string id_;
  const std::uint64_t serial_;  // distinguishes this context's errors from those of an earlier one
  const std::set<std::string, std::less<>> granted_;
  const Rights rights_;
  koord_host host_;
  log::RateLimit log_limit_;
  std::atomic<std::uint32_t> subscribed_ = 0;
  std::atomic<bool> wants_verdicts_ = false;
  std::atomic<std::uint64_t> latest_plausible_ns_ = 0;
  const std::shared_ptr<ServiceMeter> meter_ = std::make_shared<ServiceMeter>();
  std::atomic<std::uint64_t> lines_left_out_ = 0;
  PluginSnapshots snapshots_;
  PluginVerdictLists verdict_lists_;
  PluginCgroupFiles cgroup_files_;

  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<const ConfigDocument> config_;
  std::shared_ptr<const knob::Plan> plan_before_ = std::make_shared<const knob::Plan>();
  std::size_t n_repeated_ = 0;  // of that one
  knob::Plan plan_;             // the rest
  std::size_t plan_bytes_ = 0;  // of the texts of plan_
  std::vector<evict::Request> evictions_;
};

}  // namespace koord::service
