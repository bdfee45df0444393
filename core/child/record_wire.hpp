// SPDX-License-Identifier: Apache-2.0
// Records in messages between host and child. visit() names the members of a record once, in the order in which they
// travel; add_members() writes them, take_members() reads them. Lists of a record follow its members. [any thread]
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "core/base/clock.hpp"
#include "core/child/launch_spec.hpp"
#include "core/child/wire.hpp"
#include "core/load/class_info.hpp"
#include "koordetector/plugin.h"

namespace koord::child {

template <class Record, class Known>
concept RecordOf = std::same_as<std::remove_const_t<Record>, Known>;

constexpr auto visit(RecordOf<koord_metric_desc> auto& desc, auto&& each) {
  return each(desc.type, desc.flags, desc.name, desc.unit, desc.help, desc.resolution);
}

constexpr auto visit(RecordOf<koord_query> auto& query, auto&& each) {
  return each(query.aggregation, query.metric, query.from_ns, query.to_ns, query.subject);
}

constexpr auto visit(RecordOf<koord_intent> auto& intent, auto&& each) {
  return each(intent.level, intent.knob, intent.cgroup_dir, intent.value, intent.reason, intent.priority, intent.flags,
              intent.ttl_ns, intent.role, intent.rsv);
}

constexpr auto visit(RecordOf<koord_eviction> auto& eviction, auto&& each) {
  return each(eviction.resource, eviction.reason, eviction.amount);
}

constexpr auto visit(RecordOf<koord_intent_result> auto& result, auto&& each) {
  return each(result.status, result.knob, result.cgroup_dir, result.final_value, result.winner);
}

constexpr auto visit(RecordOf<load::ClassInfo> auto& info, auto&& each) {
  return each(info.kind, info.name, info.config_schema, info.period, info.stages, info.ticks, info.runs,
              info.takes_events, info.maps_metrics, info.maps_samples, info.maps_series, info.has_targets);
}

constexpr auto visit(RecordOf<LaunchSpec> auto& spec, auto&& each) {
  return each(spec.capabilities, spec.network, spec.uid, spec.landlock_abi, spec.memory_bytes, spec.processes,
              spec.file_bytes, spec.state_directory);
}

template <class Member>
void add_member(Packer& out, const Member& member) {
  if constexpr (std::is_same_v<Member, std::string>)
    out.add(std::string_view(member));
  else if constexpr (std::is_same_v<Member, Duration>)
    out.add(std::int64_t{member.count()});
  else if constexpr (std::is_same_v<Member, bool>)
    out.add(std::uint32_t{member});
  else
    out.add(member);
}

template <class Member>
void take_member(Unpacker& in, Member& member) {
  if constexpr (std::is_same_v<Member, std::string>)
    member = in.text();
  else if constexpr (std::is_same_v<Member, koord_str>)
    member = in.str();
  else if constexpr (std::is_same_v<Member, Duration>)
    member = Duration(in.number<std::int64_t>());
  else if constexpr (std::is_same_v<Member, bool>)
    member = in.number<std::uint32_t>() != 0;
  else
    member = in.number<Member>();
}

void add_members(Packer& out, const auto& record) {
  visit(record, [&](const auto&... members) { (add_member(out, members), ...); });
}

void take_members(Unpacker& in, auto& record) {
  visit(record, [&](auto&... members) { (take_member(in, members), ...); });
}

}  // namespace koord::child
