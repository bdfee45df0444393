// SPDX-License-Identifier: Apache-2.0
#include "core/service/record_arguments.hpp"

#include <limits>

#include "core/cgroup/names.hpp"
#include "core/knob/knob_files.hpp"
#include "core/service/plugin_context.hpp"
#include "core/service/record.hpp"
#include "core/service/serve.hpp"

namespace koord::service {
namespace {

static_assert(static_cast<unsigned>(decision::Level::qos) == KOORD_LEVEL_QOS);
static_assert(static_cast<unsigned>(decision::Level::pod) == KOORD_LEVEL_POD);
static_assert(static_cast<unsigned>(decision::Level::container) == KOORD_LEVEL_CONTAINER);
static_assert(static_cast<unsigned>(decision::Level::node) == KOORD_LEVEL_NODE);
static_assert(static_cast<unsigned>(decision::Role::set) == KOORD_ROLE_SET);
static_assert(static_cast<unsigned>(decision::Role::base) == KOORD_ROLE_BASE);
static_assert(static_cast<unsigned>(decision::Role::scale) == KOORD_ROLE_SCALE);
static_assert(static_cast<unsigned>(decision::Role::cap) == KOORD_ROLE_CAP);
static_assert(static_cast<unsigned>(decision::Role::floor) == KOORD_ROLE_FLOOR);

constexpr std::uint32_t kMostPods = 10'000;  // maximum in one request

Result<metric::Type> type_of(std::uint32_t type) {
  switch (type) {
    case KOORD_GAUGE:
      return metric::Type::gauge;
    case KOORD_COUNTER:
      return metric::Type::counter;
    case KOORD_HISTOGRAM:
      return metric::Type::histogram;
    default:
      return invalid("type is " + std::to_string(type) + ", expected KOORD_GAUGE, _COUNTER or _HISTOGRAM");
  }
}

std::string text_or_unknown(const Result<std::string_view>& text) {
  return text ? "'" + std::string(*text) + "'" : "an unknown one";
}

}  // namespace

Duration ttl_of(std::uint64_t ns) {
  constexpr auto kLongest = std::numeric_limits<Duration::rep>::max();
  return Duration(ns > static_cast<std::uint64_t>(kLongest) ? kLongest : static_cast<Duration::rep>(ns));
}

Result<void> root_argument(std::uint32_t root) {
  if (root >= KOORD_ROOT_PROC && root <= KOORD_ROOT_RUN) return {};
  return invalid("root is " + std::to_string(root) + ", expected a KOORD_ROOT_*");
}

Result<metric::Desc> desc_argument(const koord_metric_desc* desc_in) {
  const auto record = TRY(take_record<koord_metric_desc>(desc_in, "desc"));
  if (record.flags & ~KOORD_METRIC_EXPORT)
    return refuse(KOORD_E_TOO_NEW, "flags has bits that this host does not know: " + std::to_string(record.flags));
  metric::Desc desc;
  desc.name = TRY(name_argument(record.name, "name"));
  desc.unit = TRY(text_argument(record.unit, "unit"));
  desc.help = TRY(text_argument(record.help, "help"));
  desc.type = TRY(type_of(record.type));
  desc.exported = record.flags & KOORD_METRIC_EXPORT;
  desc.resolution = record.resolution;
  const auto bounds = TRY(array_argument(record.bounds, record.n_bounds, sizeof(double), "bounds"));
  for (std::uint32_t i = 0; i < bounds.size(); ++i) desc.bounds.push_back(bounds[i]);
  return desc;
}

Result<knob::Intent> intent_argument(const Array<koord_intent>& intents, std::uint32_t i) {
  const auto record = TRY(take_record<koord_intent>(intents.at(i), "intent", intents.stride()));
  if (record.level > KOORD_LEVEL_NODE)
    return invalid("level is " + std::to_string(record.level) + ", expected a KOORD_LEVEL_*");
  if (record.flags != 0)
    return refuse(KOORD_E_TOO_NEW, "flags has bits that this host does not know: " + std::to_string(record.flags));
  if (record.ttl_ns == 0) return invalid("ttl_ns is 0, expected how long the intent holds");
  if (record.role > KOORD_ROLE_FLOOR)
    return invalid("role is " + std::to_string(record.role) + ", expected a KOORD_ROLE_*");
  if (record.rsv != 0) return refuse(KOORD_E_TOO_NEW, "rsv is " + std::to_string(record.rsv) + ", expected 0");
  const auto level = static_cast<decision::Level>(record.level);
  const std::string_view name = TRY(name_argument(record.knob, "knob"));
  const knob::Knob* knob = TRY(knob::knob_named(name));
  const std::string_view dir = TRY(cgroup_argument(record.cgroup_dir));
  if (!cgroup::is_cgroup(dir))  // each cgroup must have only one name
    return invalid("cgroup_dir is '" + std::string(dir) + "', expected no empty part and no '.'");
  TRY(knob::check_place(*knob, level, dir));
  // Only a group name may be empty.
  const bool is_group = knob->form == knob::Form::group || knob->form == knob::Form::core_group;
  const std::string_view value =
      is_group ? TRY(text_argument(record.value, "value")) : TRY(name_argument(record.value, "value"));
  knob::Intent intent = TRY(knob::make_intent(*knob, static_cast<decision::Role>(record.role), std::string(value)));
  intent.level = level;
  intent.cgroup_dir = dir;
  intent.reason = TRY(sentence_argument(record.reason, "reason"));
  intent.inputs = TRY(inputs_argument(record.inputs, record.n_inputs, record.input_stride));
  intent.priority = record.priority;
  intent.flags = record.flags;
  intent.ttl = ttl_of(record.ttl_ns);
  return intent;
}

Result<evict::Request> eviction_argument(const koord_eviction* eviction) {
  const auto record = TRY(take_record<koord_eviction>(eviction, "eviction"));
  const auto pods = TRY(array_argument(record.pods, record.n_pods, sizeof(std::uint64_t), "pods"));
  if (pods.size() == 0 || pods.size() > kMostPods)
    return invalid("n_pods is " + std::to_string(pods.size()) + ", expected 1 to " + std::to_string(kMostPods));
  if (record.amount <= 0)
    return invalid("amount is " + std::to_string(record.amount) + ", expected how much to release");
  evict::Request request;
  request.resource = TRY(name_argument(record.resource, "resource"));
  TRY(evict::parse_release(request.resource));
  request.reason = TRY(sentence_argument(record.reason, "reason"));
  request.inputs = TRY(inputs_argument(record.inputs, record.n_inputs, record.input_stride));
  request.amount = record.amount;
  request.pods.reserve(pods.size());
  for (std::uint32_t i = 0; i < pods.size(); ++i) request.pods.push_back(pods[i]);
  return request;
}

Refusal refusal_of_intent(const Array<koord_intent>& intents, std::uint32_t i, const Error& error) {
  const Result<koord_intent> record = take_record<koord_intent>(intents.at(i), "intent", intents.stride());
  const std::string knob = record ? text_or_unknown(name_argument(record->knob, "knob")) : "an unknown one";
  const std::string cgroup = record ? text_or_unknown(cgroup_argument(record->cgroup_dir)) : "an unknown one";
  return {status_of(error), "intent for knob " + knob + " of cgroup " + cgroup + " is refused: " + why(error),
          "intent " + std::to_string(i) + ": " + why(error)};
}

Refusal refusal_of_eviction(const Error& error) {
  return {status_of(error), "request for evictions is refused: " + why(error), why(error)};
}

Error logged(PluginContext& context, const Refusal& refusal) {
  context.note_refusal(refusal.line);
  return refuse(refusal.status, refusal.text);
}

koord_status refuse_record(const koord_host* host, const Refusal& refusal) {
  return serve(host, [&](PluginContext& context) -> Result<void> { return logged(context, refusal); });
}

}  // namespace koord::service
