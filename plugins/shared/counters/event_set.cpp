// SPDX-License-Identifier: Apache-2.0
#include "plugins/shared/counters/event_set.hpp"

#include <memory>
#include <system_error>
#include <utility>

#include "plugins/shared/counters/cgroup_counters.hpp"

namespace koord::performance {
namespace {

Result<void> try_group(const std::vector<EventCode>& events, int cgroup, unsigned cpu) {
  TRY(CgroupCounters::open(cgroup, events, std::vector{cpu}));
  return {};
}

// Returns the index of the event in the group, or nullopt if the node cannot count it and it was left out.
Result<std::optional<std::size_t>> add_if_it_opens(EventSet& set, const EventCode& event, int cgroup, unsigned cpu) {
  set.events.push_back(event);
  const Result<void> opened = try_group(set.events, cgroup, cpu);
  if (opened) return std::optional(set.events.size() - 1);
  set.events.pop_back();
  std::optional<std::string> why = why_node_cannot(opened.error());
  if (!why) return opened.error();
  set.left_out.push_back({event.name, std::move(*why)});
  return std::optional<std::size_t>();
}

}  // namespace

Result<EncodedEvents> encode_events(const EventSettings& settings) {
  const std::unique_ptr<EventNames> names = TRY(EventNames::load());
  EncodedEvents encoded;
  encoded.cycles = TRY(names->encode(settings.cycles));
  encoded.instructions = TRY(names->encode(settings.instructions));
  if (!settings.llc_misses.empty()) encoded.llc_misses = TRY(names->encode(settings.llc_misses));
  for (const std::string& name : settings.further) encoded.further.push_back(TRY(names->encode(name)));
  return encoded;
}

Result<EventSet> choose_events(const EncodedEvents& encoded, int cgroup, unsigned cpu) {
  EventSet set;
  set.events = {encoded.cycles, encoded.instructions};
  TRY(try_group(set.events, cgroup, cpu));
  if (encoded.llc_misses) set.llc_misses = TRY(add_if_it_opens(set, *encoded.llc_misses, cgroup, cpu));
  for (const EventCode& event : encoded.further)
    if (const auto at = TRY(add_if_it_opens(set, event, cgroup, cpu))) set.further.push_back(*at);
  return set;
}

std::optional<std::string> why_node_cannot(const Error& error) {
  const auto with = [&](const char* reason) { return error.message() + "; " + reason; };
  if (error.is(std::errc::no_such_file_or_directory) || error.is(std::errc::operation_not_supported) ||
      error.is(std::errc::no_such_device))
    return with("there is no such counter, as in most virtual machines");
  if (error.is(std::errc::permission_denied) || error.is(std::errc::operation_not_permitted))
    return with("CAP_PERFMON or CAP_SYS_ADMIN is missing, see /proc/sys/kernel/perf_event_paranoid");
  if (error.is(std::errc::bad_file_descriptor)) return with("perf_event belongs to a v1 hierarchy that is not mounted");
  if (error.is(std::errc::invalid_argument))
    return with("the kernel has no counters for cgroups, or not these in one group");
  if (error.is(std::errc::function_not_supported)) return with("the kernel was built without CONFIG_PERF_EVENTS");
  return std::nullopt;
}

}  // namespace koord::performance
