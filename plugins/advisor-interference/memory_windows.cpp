// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/memory_windows.hpp"

#include <unistd.h>

#include <algorithm>

#include "core/base/file.hpp"
#include "core/base/page_size.hpp"
#include "core/base/parse.hpp"

namespace koord::interference {
namespace {

using analysis::IoStream;
using analysis::IoSubject;
using analysis::MemoryLimit;
using analysis::MemorySharer;
using analysis::MemorySubject;
using analysis::SuspectKind;
using cgroup::Controller;

std::optional<std::uint64_t> count_in(const std::string& path) {
  const Result<std::string> text = read_file(path);
  const Result<std::uint64_t> number = text ? parse_uint(trim(*text)) : Result<std::uint64_t>(text.error());
  return number ? std::optional(*number) : std::nullopt;
}

// Returns the sum of the keys that the text has; nullopt if it has none of them.
std::optional<std::uint64_t> sum_of(std::string_view text, std::initializer_list<std::string_view> keys) {
  std::optional<std::uint64_t> sum;
  for (std::string_view key : keys)
    if (const auto value = find_flat_key(text, key)) sum = sum.value_or(0) + *value;
  return sum;
}

// Returns the mean time of a read of the container on all devices. Readahead reads many pages with one request, so the
// time for all refaults is limited to the time of all reads.
double read_time_of(const IoSubject& io, double refaults) {
  double requests = 0, time = 0;
  for (const IoStream& stream : io.window.streams) {
    if (stream.is_write) continue;
    requests += stream.requests;
    time += stream.requests * stream.mean;
  }
  if (requests <= 0) return 0;
  const double mean = time / requests;
  return refaults > 0 ? std::min(mean, time / refaults) : mean;
}

double node_bytes() { return static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(page_size()); }

}  // namespace

FreedByContainer freed_by_container(const latency::Windows<FreedPages>& windows,
                                    const latency::Reading<FreedPages>& reading,
                                    const ContainerOfCgroup& container_of) {
  FreedByContainer freed;
  for (const auto* list : {&reading.cgroups, &reading.ended})
    for (const auto& one : *list) {
      const auto container = container_of.find(one.cgroup);
      freed[container == container_of.end() ? 0 : container->second] += windows.of(one.cgroup);
    }
  return freed;
}

double MemoryWindows::added_to(const std::string& name, std::optional<std::uint64_t> value) {
  if (!value) return 0;
  Counter& counter = counters_[name];
  if (counter.read_in != window_) {
    counter.before = counter.read_in == window_ - 1 ? counter.now : *value;
    counter.now = *value;
    counter.read_in = window_;
  }
  return counter.now > counter.before ? static_cast<double>(counter.now - counter.before) : 0;
}

bool MemoryWindows::is_worth_reading(const std::vector<IoSubject>& io, double seconds) {
  const std::string vmstat = read_file(proc_ + "/vmstat").value_or("");
  const auto refaults = sum_of(vmstat, {"workingset_refault_file", "workingset_refault_anon"});
  const auto freed = sum_of(vmstat, {"pgsteal_kswapd", "pgsteal_direct"});
  is_node_short_ = added_to("pgsteal", freed) > 0;
  const double per_second = added_to("refaults", refaults) / seconds;
  double slowest = 0;
  for (const IoSubject& subject : io) slowest = std::max(slowest, read_time_of(subject, 0));
  return per_second * slowest >= least_refault_time_ / 2;
}

MemoryWindows::Memory MemoryWindows::memory_of(const KnownContainer& container, double seconds) {
  const std::string directory = layout_.directory(Controller::memory, container.cgroup_dir);
  const bool is_v2 = layout_.version(Controller::memory) == cgroup::Version::v2;
  const auto usage = count_in(directory + (is_v2 ? "/memory.current" : "/memory.usage_in_bytes"));
  const std::string stat = read_file(directory + "/memory.stat").value_or("");
  const auto refaults = is_v2 ? sum_of(stat, {"workingset_refault_file", "workingset_refault_anon"})
                              : sum_of(stat, {"total_workingset_refault_file", "total_workingset_refault_anon"});
  return {static_cast<double>(usage.value_or(0)), added_to(directory + " usage", usage) / seconds,
          added_to(directory + " refaults", refaults) / seconds};
}

bool MemoryWindows::met_limit(const std::string& cgroup) {
  const auto [at, is_new] = met_.try_emplace(cgroup);
  if (!is_new) return at->second;
  const std::string directory = layout_.directory(Controller::memory, cgroup);
  const auto times = layout_.version(Controller::memory) == cgroup::Version::v2
                         ? sum_of(read_file(directory + "/memory.events.local").value_or(""), {"max", "high"})
                         : count_in(directory + "/memory.failcnt");
  at->second = added_to(directory + " limit", times) > 0;
  return at->second;
}

// Checks all ancestor cgroups in each window, because the next window needs the totals of this window.
std::pair<MemoryLimit, std::string> MemoryWindows::limit_of(const std::string& cgroup) {
  const bool own = met_limit(cgroup);
  std::string nearest;
  for (auto slash = cgroup.rfind('/'); slash != std::string::npos && slash > 0; slash = cgroup.rfind('/', slash - 1)) {
    const std::string above = cgroup.substr(0, slash);
    if (met_limit(above) && nearest.empty()) nearest = above;
  }
  if (own) return {MemoryLimit::own, {}};
  if (!nearest.empty()) return {MemoryLimit::ancestor, nearest};
  return {is_node_short_ ? MemoryLimit::node : MemoryLimit::none, {}};
}

std::vector<MemorySharer> MemoryWindows::sharers_below(const std::string& cgroup,
                                                       const std::vector<KnownContainer>& containers,
                                                       const FreedByContainer& freed, double seconds) const {
  const bool is_node = cgroup.empty();
  const auto pages_of = [&](std::uint64_t handle) {
    const auto found = freed.find(handle);
    if (found == freed.end()) return 0.0;
    return static_cast<double>(is_node ? found->second.on_node : found->second.at_limit) / seconds;
  };
  std::vector<MemorySharer> sharers;
  double used = 0;
  for (const KnownContainer& container : containers) {
    const auto memory = memory_.find(container.handle);
    if (memory == memory_.end() || !(is_node || container.cgroup_dir.starts_with(cgroup + "/"))) continue;
    const Memory& values = memory->second;
    used += values.usage;
    sharers.push_back({SuspectKind::container, container.handle, pages_of(container.handle), values.usage,
                       values.growth, values.refaults, values.usage});
  }
  const double all = is_node ? std::max(used, node_bytes()) : used;
  if (is_node) sharers.push_back({SuspectKind::outside, 0, pages_of(0), all - used, 0, 0, all - used});
  if (all > 0)
    for (MemorySharer& sharer : sharers) sharer.share /= all;
  return sharers;
}

std::vector<MemorySubject> MemoryWindows::next(const std::vector<KnownContainer>& containers,
                                               const std::vector<IoSubject>& io, const FreedByContainer& freed,
                                               double seconds) {
  ++window_;
  memory_.clear();
  met_.clear();
  std::vector<MemorySubject> subjects;
  const bool is_worth_it = is_worth_reading(io, seconds);
  if (is_worth_it)
    for (const KnownContainer& container : containers) memory_[container.handle] = memory_of(container, seconds);
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const KnownContainer& container = containers[i];
    MemorySubject& subject =
        subjects.emplace_back(MemorySubject{container.workload, {.subject = container.handle}, container.rules});
    if (!is_worth_it || read_time_of(io[i], 0) <= 0) continue;
    subject.window.refaults = memory_[container.handle].refaults;
    subject.window.read_time = read_time_of(io[i], subject.window.refaults);
    const auto [limit, cgroup] = limit_of(container.cgroup_dir);
    subject.window.limit = limit;
    if (limit == MemoryLimit::ancestor || limit == MemoryLimit::node)
      subject.window.sharers = sharers_below(cgroup, containers, freed, seconds);
  }
  std::erase_if(counters_, [this](const auto& one) { return one.second.read_in != window_; });
  return subjects;
}

}  // namespace koord::interference
