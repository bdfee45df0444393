// SPDX-License-Identifier: Apache-2.0
// koord.knobs/1: intents of strategies. This service checks and collects them. The host decides on them after
// evaluate() has returned.
#include <cstring>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/knob/knob_files.hpp"
#include "core/service/arguments.hpp"
#include "core/service/record.hpp"
#include "core/service/record_arguments.hpp"
#include "core/service/rights.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

// Returns whether the record equals an intent of the previous plan. In that case it needs no check and no copy.
bool repeats(const koord_intent& record, const knob::Intent& before) {
  const auto is = [](koord_str text, std::string_view known) {
    return text.n == known.size() && (text.n == 0 || (text.p && std::memcmp(text.p, known.data(), known.size()) == 0));
  };
  if (record.n_inputs != before.inputs.size() ||
      (record.n_inputs > 0 && (!record.inputs || record.input_stride < sizeof(koord_label))))
    return false;
  const Array<koord_label> inputs(record.inputs, record.n_inputs, record.input_stride);
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    if (!is(inputs[i].key, before.inputs[i].first) || !is(inputs[i].value, before.inputs[i].second)) return false;
  return record.level == static_cast<std::uint32_t>(before.level) &&
         record.role == static_cast<std::uint32_t>(before.role) && record.rsv == 0 &&
         record.priority == before.priority && record.flags == before.flags && record.ttl_ns != 0 &&
         ttl_of(record.ttl_ns) == before.ttl && is(record.value, before.value) &&
         is(record.cgroup_dir, before.cgroup_dir) && is(record.knob, before.knob->name) &&
         is(record.reason, before.reason);
}

// Returns how many of the first intents equal the intents of the previous plan.
std::size_t count_repeated(const Array<koord_intent>& intents, const PluginContext::PlanBefore& before) {
  const std::size_t left = before.plan ? before.plan->size() - before.n : 0;
  std::uint32_t same = 0;
  while (same < intents.size() && same < left) {
    const Result<koord_intent> record = take_record<koord_intent>(intents.at(same), "intent", intents.stride());
    if (!record || !repeats(*record, (*before.plan)[before.n + same])) break;
    ++same;
  }
  return same;
}

// The cgroups for which a plugin may propose intents: all cgroups, or the cgroups of pods, their descendants, and the
// cgroups in its settings.
class AllowedCgroups {
 public:
  explicit AllowedCgroups(PluginContext& context) : context_(context) {}

  Result<void> check(std::string_view cgroup_dir) {
    const Rights& rights = context_.rights();
    if (rights.host_plugin || is_granted_cgroup(rights, cgroup_dir)) return {};
    if (!pods_) look_up_pods();
    for (std::string_view dir = cgroup_dir; !dir.empty(); dir = parent_of(dir))
      if (pods_->contains(dir)) return {};
    return cgroup_needs_grant(context_.id(), cgroup_dir);
  }

 private:
  static std::string_view parent_of(std::string_view dir) {
    const std::size_t slash = dir.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : dir.substr(0, slash);
  }

  void look_up_pods() {
    snapshot_ = context_.shared().hub.current();
    pods_.emplace();
    for (const state::Pod& pod : snapshot_->pods)
      if (!pod.cgroup_dir.empty()) pods_->insert(pod.cgroup_dir);
  }

  PluginContext& context_;
  state::SnapshotPtr snapshot_;  // owns the names
  std::optional<std::unordered_set<std::string_view>> pods_;
};

// Checks and copies the intents from `first` on. An error is about the first refused intent, and is logged.
Result<knob::Plan> take_intents(PluginContext& context, const Array<koord_intent>& intents, std::uint32_t first) {
  AllowedCgroups allowed(context);
  knob::Plan taken;
  taken.reserve(intents.size() - first);
  for (std::uint32_t i = first; i < intents.size(); ++i) {
    Result<knob::Intent> intent = intent_argument(intents, i);
    if (!intent) return logged(context, refusal_of_intent(intents, i, intent.error()));
    if (Result<void> may = allowed.check(intent->cgroup_dir); !may)
      return logged(context, refusal_of_intent(intents, i, may.error()));
    taken.push_back(*std::move(intent));
  }
  return taken;
}

koord_status propose(const koord_host* host, const koord_intent* intents, std::uint32_t n, std::uint32_t stride) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    const auto array = TRY(records_argument(intents, n, stride, "intents"));
    if (Result<void> few = plan_argument(n, 0); !few) return context.over_quota("plan", few.error().text);
    const PluginContext::PlanBefore before = context.plan_before();
    const std::size_t repeated = count_repeated(array, before);
    knob::Plan taken = TRY(take_intents(context, array, static_cast<std::uint32_t>(repeated)));
    return context.propose(before, repeated, std::move(taken));
  });
}

koord_status current(const koord_host* host, koord_str knob, koord_str cgroup_dir, char* buf, std::uint64_t cap,
                     std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string_view name = TRY(name_argument(knob, "knob"));
    const std::string_view dir = TRY(cgroup_argument(cgroup_dir));
    const knob::KnobFiles files(context.shared().cgroups.layout(), context.shared().roots);
    const std::string value = TRY(knob::read_knob(files, name, dir));
    return answer(value, buf, cap, need);
  });
}

koord_status base(const koord_host* host, koord_str knob, koord_str cgroup_dir, char* buf, std::uint64_t cap,
                  std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string_view name = TRY(name_argument(knob, "knob"));
    const std::string_view dir = TRY(cgroup_argument(cgroup_dir));
    if (const auto& base_of = context.shared().knob_base) {
      const std::string value = TRY(base_of(name, dir));
      return answer(value, buf, cap, need);
    }
    // Without a governor no knob is written, so the current value is the base.
    const knob::KnobFiles files(context.shared().cgroups.layout(), context.shared().roots);
    const std::string value = TRY(knob::read_knob(files, name, dir));
    return answer(value, buf, cap, need);
  });
}

}  // namespace

koord_status refuse_plan(const koord_host* host, const koord_intent* before, std::uint32_t n, const Refusal& refusal) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(take_intents(context, Array<koord_intent>(before, n, sizeof(koord_intent)), 0));
    return logged(context, refusal);
  });
}

const koord_svc_knobs knobs_service = {sizeof knobs_service, 0, propose, current, base};

}  // namespace koord::service
