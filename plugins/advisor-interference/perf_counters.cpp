// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/perf_counters.hpp"

#include <algorithm>
#include <iterator>
#include <unordered_set>

#include "core/base/cpu_set.hpp"
#include "core/base/file.hpp"
#include "plugins/shared/counters/descriptors.hpp"
#include "plugins/shared/counters/perf_hierarchy.hpp"

namespace koord::interference {
namespace {

using performance::CgroupCounters;
using performance::EventSet;
using performance::GroupReading;

Result<std::vector<unsigned>> online_cpus(const std::string& sys) {
  const std::string path = sys + "/devices/system/cpu/online";
  const std::string text = TRY(read_file(path));
  const CpuSet online = TRY(CpuSet::parse(text));
  if (online.empty()) return invalid("'" + path + "' lists no CPU");
  return online.members();
}

std::uint64_t enabled_ns(const std::vector<GroupReading>& groups) {
  std::uint64_t ns = 0;
  for (const GroupReading& group : groups) ns += group.enabled_ns;
  return ns;
}

}  // namespace

Result<std::unique_ptr<PerfCounters>> PerfCounters::open(const NodeRoots& roots, const Limits& limits,
                                                         const performance::EventSettings& settings) {
  std::string tree = TRY(performance::find_perf_hierarchy(roots.cgroup));
  const performance::EncodedEvents encoded = TRY(performance::encode_events(settings));
  const UniqueFd root = TRY(open_directory(tree));
  const std::vector<unsigned> cpus = TRY(online_cpus(roots.sys));
  Result<EventSet> events = performance::choose_events(encoded, root.get(), cpus.front());
  if (!events) {
    if (const auto why = performance::why_node_cannot(events.error())) return invalid(*why);
    return events.error();
  }
  const Limits within{std::min(limits.descriptors, performance::quarter_of_descriptors()), limits.turn_seconds};
  return std::unique_ptr<PerfCounters>(new PerfCounters(std::move(tree), roots.sys, std::move(*events), within));
}

std::size_t PerfCounters::descriptors() const {
  std::size_t n = 0;
  for (const auto& one : counted_) n += one.second.counters.descriptors();
  return n;
}

std::string PerfCounters::why_no_llc_misses() const {
  return events_.left_out.empty() ? std::string() : events_.left_out.front().why;
}

// Follows the online CPUs. After a change all counters are opened again, so each container is counted on all CPUs.
Result<void> PerfCounters::follow_cpus() {
  std::vector<unsigned> cpus = TRY(online_cpus(sys_));
  if (cpus == cpus_) return {};
  cpus_ = std::move(cpus);
  counted_.clear();
  return {};
}

std::vector<CounterTotals> PerfCounters::read_all(double seconds) {
  std::vector<CounterTotals> all;
  for (auto at = counted_.begin(); at != counted_.end();) {
    Counted& counted = at->second;
    auto groups = counted.counters.read();
    if (!groups) {
      at = counted_.erase(at);
      continue;
    }
    counted.enabled_ns = enabled_ns(*groups);
    counted.seconds += seconds;
    all.push_back({at->first, std::move(*groups)});
    ++at;
  }
  return all;
}

// Returns whether the container used little CPU in its turn, and begins its next turn. A container that was counted for
// less than half of a turn is not judged.
bool PerfCounters::is_little_used(Counted& counted) const {
  if (counted.seconds < turn_seconds_ / 2) return false;
  const auto used_ns = static_cast<double>(counted.enabled_ns - counted.enabled_ns_at_turn);
  const bool is_little = used_ns < kBusyCpus * counted.seconds * 1e9;
  counted.enabled_ns_at_turn = counted.enabled_ns;
  counted.seconds = 0;
  return is_little;
}

void PerfCounters::make_way(double seconds) {
  seconds_in_turn_ += seconds;
  if (seconds_in_turn_ < turn_seconds_) return;
  seconds_in_turn_ = 0;
  ++turn_;
  for (auto at = counted_.begin(); at != counted_.end();) {
    const bool makes_way = is_little_used(at->second) && others_wait_;
    if (makes_way) made_way_[at->first] = turn_;
    at = makes_way ? counted_.erase(at) : std::next(at);
  }
}

// Opens counters for containers without counters. New containers come first, then containers that lost their counters,
// beginning with the longest ago.
void PerfCounters::open_for(const std::vector<KnownContainer>& containers) {
  std::vector<std::pair<std::uint64_t, const KnownContainer*>> waiting;
  for (const KnownContainer& container : containers) {
    if (counted_.contains(container.handle)) continue;
    const auto made_way = made_way_.find(container.handle);
    waiting.emplace_back(made_way == made_way_.end() ? 0 : made_way->second, &container);
  }
  std::stable_sort(waiting.begin(), waiting.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  others_wait_ = false;
  std::size_t open = descriptors();
  const std::size_t each = cpus_.size() * events_.events.size();
  for (const auto& one : waiting) {
    others_wait_ = !budget_.admits(open, each);
    if (others_wait_) break;
    const Result<void> opened = open_for(*one.second);
    if (opened) open += each;
    if (opened || !(opened.error().is(std::errc::too_many_files_open) ||
                    opened.error().is(std::errc::too_many_files_open_in_system)))
      continue;
    others_wait_ = true;
    return budget_.ran_short(open);
  }
  budget_.had_enough();
}

// Opens counters for a container. If it has no cgroup there, or the kernel refuses, the next window tries again.
Result<void> PerfCounters::open_for(const KnownContainer& container) {
  if (container.cgroup_dir.empty()) return not_found("it has no cgroup");
  const UniqueFd cgroup = TRY(open_directory(tree_ + "/" + container.cgroup_dir));
  CgroupCounters counters = TRY(CgroupCounters::open(cgroup.get(), events_.events, cpus_));
  counted_.emplace(container.handle, Counted{std::move(counters)});
  made_way_.erase(container.handle);
  return {};
}

Result<std::vector<CounterTotals>> PerfCounters::read(const std::vector<KnownContainer>& containers, double seconds) {
  TRY(follow_cpus());
  std::unordered_set<std::uint64_t> living;
  for (const KnownContainer& container : containers) living.insert(container.handle);
  const auto has_ended = [&](const auto& one) { return !living.contains(one.first); };
  std::erase_if(counted_, has_ended);
  std::erase_if(made_way_, has_ended);
  std::vector<CounterTotals> all = read_all(seconds);
  make_way(seconds);
  open_for(containers);
  return all;
}

}  // namespace koord::interference
