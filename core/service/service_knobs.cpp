// SPDX-License-Identifier: Apache-2.0
// koord.knobs/1: intents of strategies are checked and collected here; the host decides on them once evaluate() has
// returned.
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/cgroup/names.hpp"
#include "core/knob/composition.hpp"
#include "core/knob/knob_files.hpp"
#include "core/service/arguments.hpp"
#include "core/service/record.hpp"
#include "core/service/rights.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::host {
namespace {

static_assert(static_cast<unsigned>(knob::Level::qos) == KOORD_LEVEL_QOS);
static_assert(static_cast<unsigned>(knob::Level::pod) == KOORD_LEVEL_POD);
static_assert(static_cast<unsigned>(knob::Level::container) == KOORD_LEVEL_CONTAINER);
static_assert(static_cast<unsigned>(knob::Level::node) == KOORD_LEVEL_NODE);
static_assert(static_cast<unsigned>(knob::Role::set) == KOORD_ROLE_SET);
static_assert(static_cast<unsigned>(knob::Role::base) == KOORD_ROLE_BASE);
static_assert(static_cast<unsigned>(knob::Role::scale) == KOORD_ROLE_SCALE);
static_assert(static_cast<unsigned>(knob::Role::cap) == KOORD_ROLE_CAP);
static_assert(static_cast<unsigned>(knob::Role::floor) == KOORD_ROLE_FLOOR);

Duration clamped(std::uint64_t ns) {
  constexpr auto kLongest = std::numeric_limits<Duration::rep>::max();
  return Duration(ns > static_cast<std::uint64_t>(kLongest) ? kLongest : static_cast<Duration::rep>(ns));
}

Result<knob::Intent> take_intent(const Array<koord_intent>& intents, std::uint32_t i) {
  const auto record = TRY(take_record<koord_intent>(intents.at(i), "intent", intents.stride()));
  if (record.level > KOORD_LEVEL_NODE)
    return invalid("level is " + std::to_string(record.level) + ", expected a KOORD_LEVEL_*");
  if (record.flags != 0)
    return refuse(KOORD_E_TOO_NEW,
                  "flags has bits that this host does not know: " + std::to_string(record.flags));
  if (record.ttl_ns == 0) return invalid("ttl_ns is 0, expected how long the intent holds");
  if (record.role > KOORD_ROLE_FLOOR) return invalid("role is " + std::to_string(record.role) + ", expected a KOORD_ROLE_*");
  if (record.rsv != 0) return refuse(KOORD_E_TOO_NEW, "rsv is " + std::to_string(record.rsv) + ", expected 0");
  knob::Intent intent;
  intent.level = static_cast<knob::Level>(record.level);
  intent.knob = TRY(name_argument(record.knob, "knob"));
  const knob::Knob* knob = TRY(knob::knob_named(intent.knob));
  intent.cgroup_dir = TRY(cgroup_argument(record.cgroup_dir));
  if (!cgroup::is_cgroup(intent.cgroup_dir))  // one cgroup has one name
    return invalid("cgroup_dir is '" + intent.cgroup_dir + "', expected no empty part and no '.'");
  TRY(knob::check_place(*knob, intent.level, intent.cgroup_dir));
  // Only the name of a group may be empty.
  intent.value = knob->form == knob::Form::group ? TRY(text_argument(record.value, "value")) : TRY(name_argument(record.value, "value"));
  intent.role = static_cast<knob::Role>(record.role);
  intent.parsed = TRY(knob::parse_intent(*knob, intent.role, intent.value));
  intent.reason = TRY(sentence_argument(record.reason, "reason"));
  intent.inputs = TRY(inputs_argument(record.inputs, record.n_inputs, record.input_stride));
  intent.priority = record.priority;
  intent.flags = record.flags;
  intent.ttl = clamped(record.ttl_ns);
  return intent;
}

// Is it, word for word, what was taken before? Then it needs neither to be checked nor to be copied.
bool repeats(const koord_intent& record, const knob::Intent& before) {
  const auto is = [](koord_str text, const std::string& known) {
    return text.n == known.size() && (text.n == 0 || (text.p && std::memcmp(text.p, known.data(), known.size()) == 0));
  };
  if (record.n_inputs != before.inputs.size() || (record.n_inputs > 0 && (!record.inputs || record.input_stride < sizeof(koord_label)))) return false;
  const Array<koord_label> inputs(record.inputs, record.n_inputs, record.input_stride);
  for (std::uint32_t i = 0; i < inputs.size(); ++i)
    if (!is(inputs[i].key, before.inputs[i].first) || !is(inputs[i].value, before.inputs[i].second)) return false;
  return record.level == static_cast<std::uint32_t>(before.level) && record.role == static_cast<std::uint32_t>(before.role) &&
         record.rsv == 0 && record.priority == before.priority && record.flags == before.flags &&
         record.ttl_ns != 0 && clamped(record.ttl_ns) == before.ttl && is(record.value, before.value) && is(record.cgroup_dir, before.cgroup_dir) &&
         is(record.knob, before.knob) && is(record.reason, before.reason);
}

// How many of them, from the first on, are those of the plan before.
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

// The cgroups that a plugin may propose for: all, or those of pods and below, and what its settings name.
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
  state::SnapshotPtr snapshot_;  // the names are its
  std::optional<std::unordered_set<std::string_view>> pods_;
};

std::string text_or_unknown(const Result<std::string_view>& text) { return text ? "'" + std::string(*text) + "'" : "an unknown one"; }

// Logs it with the knob and the cgroup, as far as the intent names them, and returns it as the plugin gets it.
Error refused_intent(PluginContext& context, const Array<koord_intent>& intents, std::uint32_t i, Error error) {
  const Result<koord_intent> record = take_record<koord_intent>(intents.at(i), "intent", intents.stride());
  const std::string knob = record ? text_or_unknown(name_argument(record->knob, "knob")) : "an unknown one";
  const std::string cgroup = record ? text_or_unknown(cgroup_argument(record->cgroup_dir)) : "an unknown one";
  context.note_refusal("intent for knob " + knob + " of cgroup " + cgroup + " is refused: " + why(error));
  return std::move(error).context("intent " + std::to_string(i));
}

koord_status propose(const koord_host* host, const koord_intent* intents, std::uint32_t n,
                     std::uint32_t stride) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    const auto array = TRY(records_argument(intents, n, stride, "intents"));
    if (Result<void> few = plan_argument(n, 0); !few) return context.over_quota("plan", few.error().text);
    AllowedCgroups allowed(context);
    const PluginContext::PlanBefore before = context.plan_before();
    const std::size_t repeated = count_repeated(array, before);
    knob::Plan taken;
    taken.reserve(n - repeated);
    for (std::uint32_t i = static_cast<std::uint32_t>(repeated); i < array.size(); ++i) {
      Result<knob::Intent> intent = take_intent(array, i);
      if (!intent) return refused_intent(context, array, i, std::move(intent).error());
      if (Result<void> may = allowed.check(intent->cgroup_dir); !may) return refused_intent(context, array, i, std::move(may).error());
      taken.push_back(*std::move(intent));
    }
    return context.propose(before, repeated, std::move(taken));
  });
}

koord_status current(const koord_host* host, koord_str knob, koord_str cgroup_dir, char* buf,
                     std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string_view name = TRY(name_argument(knob, "knob"));
    const std::string_view dir = TRY(cgroup_argument(cgroup_dir));
    const knob::KnobFiles files(context.shared().cgroups.layout(), context.shared().roots);
    const std::string value = TRY(knob::read_knob(files, name, dir));
    return answer(value, buf, cap, need);
  });
}

koord_status base(const koord_host* host, koord_str knob, koord_str cgroup_dir, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    const std::string_view name = TRY(name_argument(knob, "knob"));
    const std::string_view dir = TRY(cgroup_argument(cgroup_dir));
    if (const auto& base_of = context.shared().knob_base) {
      const std::string value = TRY(base_of(name, dir));
      return answer(value, buf, cap, need);
    }
    // Without a governor nothing is written, and the current value is the base.
    const knob::KnobFiles files(context.shared().cgroups.layout(), context.shared().roots);
    const std::string value = TRY(knob::read_knob(files, name, dir));
    return answer(value, buf, cap, need);
  });
}

}  // namespace

const koord_svc_knobs knobs_service = {sizeof knobs_service, 0, propose, current, base};

}  // namespace koord::host
