// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/schedstat_probe.hpp"

#include <unistd.h>

#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::sched_latency {

Result<std::unique_ptr<Probe>> SchedstatProbe::open(const latency::CgroupTree& tree, const ProbeOptions& options) {
  std::unique_ptr<SchedstatProbe> probe(new SchedstatProbe(options.proc, tree.threads_file()));
  auto own = probe->waited(::getpid());
  if (!own) return std::move(own).error();
  if (own->turns == 0)
    return invalid(options.proc + "/self/schedstat says 0 turns: the kernel keeps no such statistics");
  return std::unique_ptr<Probe>(std::move(probe));
}

// Parses three numbers: time on a CPU and time waiting for a CPU (both ns), and turns on a CPU.
Result<SchedstatProbe::Waited> SchedstatProbe::waited(int tid) const {
  const std::string text = TRY(read_file(proc_ + "/" + std::to_string(tid) + "/schedstat"));
  std::string_view rest = trim(text);
  next_word(rest);
  auto delay = next_word(rest);
  auto turns = next_word(rest);
  if (!delay || !turns) return invalid("schedstat of thread " + std::to_string(tid) + " is '" + text + "'");
  const std::uint64_t waited_ns = TRY(parse_uint(*delay)), waits = TRY(parse_uint(*turns));
  return Waited{waited_ns, waits};
}

void SchedstatProbe::update(Cgroup& cgroup, const std::string& path) const {
  auto tids = read_file(path + "/" + threads_file_);
  if (!tids) return;  // the cgroup was removed, so its total is final
  std::unordered_map<int, Waited> threads;
  std::string_view rest = *tids;
  while (auto line = next_field(rest, '\n')) {
    auto tid = parse_int(*line);
    if (!tid) continue;
    auto now = waited(static_cast<int>(*tid));
    if (!now) continue;  // the thread has ended
    // A thread not seen before has started since the last reading, unless the cgroup is new. If its number of turns has
    // decreased, the id now belongs to a different thread.
    Waited before = cgroup.begun ? Waited{} : *now;
    if (auto known = cgroup.threads.find(static_cast<int>(*tid));
        known != cgroup.threads.end() && known->second.turns <= now->turns)
      before = known->second;
    cgroup.total.sum_ns += now->delay_ns - before.delay_ns;
    cgroup.total.count += now->turns - before.turns;
    threads.emplace(static_cast<int>(*tid), *now);
  }
  cgroup.threads = std::move(threads);
  cgroup.begun = true;
}

Result<Reading> SchedstatProbe::read(std::span<const latency::CgroupDirectory> watched) {
  Reading reading;
  std::unordered_map<std::uint64_t, Cgroup> next;
  for (const latency::CgroupDirectory& directory : watched) {
    auto [at, is_new] = next.try_emplace(directory.id);
    if (!is_new) continue;
    if (auto known = cgroups_.find(directory.id); known != cgroups_.end()) at->second = std::move(known->second);
    update(at->second, directory.path);
    reading.cgroups.push_back({directory.id, at->second.total});
  }
  cgroups_ = std::move(next);
  return reading;
}

}  // namespace koord::sched_latency
