// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-interference/other_resources.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "plugins/advisor-interference/kept_baselines.hpp"
#include "plugins/advisor-interference/looked_at.hpp"
#include "plugins/shared/node/value_file.hpp"
#include "plugins/shared/sdk/value_or_fail.hpp"

namespace koord::interference {
namespace {

using analysis::IoSubject;
using analysis::Kind;
using analysis::MemorySubject;
using analysis::Verdict;
using analysis::VerdictEvent;
using latency::CgroupTree;
using plugin::value_or_fail;

constexpr std::string_view kBlkio = "blkio", kMemory = "memory";
// Limits change rarely, and each container with requests needs the read of a file.
constexpr int kWindowsBetweenLimits = 5;

const std::vector<Kind>& kinds_of(std::string_view resource) {
  static const std::vector<Kind> kOfIo = {Kind::interfered, Kind::self_quota};
  static const std::vector<Kind> kOfMemory = {Kind::interfered, Kind::shared_parent, Kind::self_memory_limit};
  return resource == kBlkio ? kOfIo : kOfMemory;
}

std::string device_name(const std::string& sys, std::uint32_t device) {
  const std::string number = std::to_string(device >> 20) + ":" + std::to_string(device & ((1u << 20) - 1));
  return node::link_name(sys + "/dev/block/" + number).value_or(number);
}

}  // namespace

struct OtherResources::BlockPart {
  BlockBlame blame;
  ContainerCgroups cgroups;
  analysis::IoAnalysis analysis;
  KeptBlockIo kept;
  std::unordered_map<std::uint64_t, IoLimits> limits = {};
  int windows_since_limits = 0;

  const IoLimits& limits_of(const cgroup::Layout& layout, const KnownContainer& container) {
    const auto [at, is_new] = limits.try_emplace(container.handle);
    if (is_new) at->second = read_io_limits(layout, container.cgroup_dir);
    return at->second;
  }
  std::vector<IoSubject> next(const cgroup::Layout& layout, const std::vector<KnownContainer>& containers,
                              double seconds) {
    if (++windows_since_limits >= kWindowsBetweenLimits) {
      windows_since_limits = 0;
      limits.clear();
    }
    const BlockReading reading = value_or_fail(blame.read());
    return io_subjects(
        containers, reading, cgroups.container_of(), seconds,
        [&](const KnownContainer& container) -> const IoLimits& { return limits_of(layout, container); });
  }
};

struct OtherResources::MemoryPart {
  MemoryBlame blame;
  ContainerCgroups cgroups;
  MemoryWindows files;
  analysis::MemoryAnalysis analysis;
  KeptMemory kept;
  latency::Windows<FreedPages> windows = {};

  std::vector<MemorySubject> next(const std::vector<KnownContainer>& containers, const std::vector<IoSubject>& io,
                                  double seconds) {
    const latency::Reading<FreedPages> reading = value_or_fail(blame.read());
    windows.advance(reading);
    const FreedByContainer freed = freed_by_container(windows, reading, cgroups.container_of());
    return files.next(containers, io, freed, seconds);
  }
};

struct OtherResources::Windows {
  std::vector<IoSubject> io;
  std::vector<MemorySubject> memory;
};

OtherResources::OtherResources(const koord_host* host, const cgroup::Layout& layout, const NodeRoots& roots,
                               const std::string& btf, plugin::Metric interference, Duration window,
                               const RuleInForce& rule)
    : host_(host),
      layout_(layout),
      sys_(roots.sys),
      interference_(std::move(interference)),
      latencies_(host, window, {.resource = KOORD_RESOURCE_BLKIO, .statistic = "seconds"}),
      io_limits_(host, window, {.resource = KOORD_RESOURCE_BLKIO}),
      refaults_(host, window, {.resource = KOORD_RESOURCE_MEMORY, .statistic = "seconds/second"}) {
  report_capability("verdict.blkio", open_block(roots, btf, rule), "exact: requests in flight on each device (eBPF)");
  // Needs blkio, because the cost of a refault comes from its requests.
  report_capability("verdict.memory",
                    block_ ? open_memory(roots, btf, rule) : Result<void>(invalid("needs verdict.blkio")),
                    "estimated: refaults, and pages that threads had to free (eBPF)");
}

OtherResources::~OtherResources() = default;

Result<void> OtherResources::open_block(const NodeRoots& roots, const std::string& btf, const RuleInForce& rule) {
  CgroupTree tree = TRY(CgroupTree::find("blkio", roots.cgroup, roots.proc));
  BlockBlame blame = TRY(BlockBlame::open(tree, btf));
  block_ = std::make_unique<BlockPart>(
      BlockPart{std::move(blame), ContainerCgroups(std::move(tree)), analysis::IoAnalysis(rule.rules()),
                KeptBlockIo(host_, rule.rules().baseline.save_interval,
                            {[this](std::uint32_t device) { return device_name(sys_, device); }})});
  return {};
}

Result<void> OtherResources::open_memory(const NodeRoots& roots, const std::string& btf, const RuleInForce& rule) {
  CgroupTree tree = TRY(CgroupTree::find("memory", roots.cgroup, roots.proc));
  MemoryBlame blame = TRY(MemoryBlame::open(tree, btf));
  memory_ = std::make_unique<MemoryPart>(
      MemoryPart{std::move(blame), ContainerCgroups(std::move(tree)), MemoryWindows(layout_, roots.proc),
                 analysis::MemoryAnalysis(rule.rules()), KeptMemory(host_, rule.rules().baseline.save_interval)});
  memory_->files.set_least_refault_time(rule.least_refault_time());
  return {};
}

std::vector<OtherResources::Event> OtherResources::set_rules(const RuleInForce& rule) {
  std::vector<Event> ended;
  if (!block_) return ended;
  for (VerdictEvent& event : block_->analysis.set_rules(rule.rules())) ended.push_back(block_event(std::move(event)));
  block_->kept.set_interval(rule.rules().baseline.save_interval);
  if (!memory_) return ended;
  for (VerdictEvent& event : memory_->analysis.set_rules(rule.rules()))
    ended.push_back({kMemory, {}, std::move(event)});
  memory_->files.set_least_refault_time(rule.least_refault_time());
  memory_->kept.set_interval(rule.rules().baseline.save_interval);
  return ended;
}

OtherResources::Event OtherResources::block_event(VerdictEvent event) const {
  const bool has_device = event.verdict.kind == Kind::interfered;
  std::string device = has_device ? device_name(sys_, block_->analysis.device_of(event.verdict.victim)) : std::string();
  return {kBlkio, std::move(device), std::move(event)};
}

void OtherResources::report_capability(std::string_view name, const Result<void>& opened,
                                       std::string_view method) const {
  const auto* capabilities = plugin::require<koord_svc_capabilities>(host_, "koord.capabilities/1");
  const std::string detail = opened ? std::string(method) : opened.error().message();
  capabilities->report(host_, plugin::str(name), opened ? KOORD_CAPABILITY_SUPPORTED : KOORD_CAPABILITY_ABSENT,
                       plugin::str(detail));
}

OtherResources::Windows OtherResources::next(const std::vector<KnownContainer>& containers, double seconds,
                                             bool refreshes) {
  Windows windows;
  if (!block_) return windows;
  if (refreshes) block_->cgroups.refresh(containers);
  windows.io = block_->next(layout_, containers, seconds);
  if (!memory_) return windows;
  if (refreshes) memory_->cgroups.refresh(containers);
  windows.memory = memory_->next(containers, windows.io, seconds);
  return windows;
}

void OtherResources::skip(const std::vector<KnownContainer>& containers, bool refreshes) {
  constexpr double kAnyLength = 1;
  next(containers, kAnyLength, refreshes);
}

std::vector<std::string> OtherResources::restore(Time now, bool takes_offered) {
  std::vector<std::string> problems;
  const auto add = [&](std::vector<std::string> more) {
    problems.insert(problems.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  if (block_) add(block_->kept.restore_once(block_->analysis, now));
  if (!memory_) return problems;
  add(memory_->kept.restore_once(memory_->analysis, now));
  if (takes_offered) add(memory_->kept.adopt_offered(memory_->analysis, now));
  return problems;
}

void OtherResources::save_if_due(Time now) {
  if (block_) block_->kept.save_if_due(block_->analysis, now);
  if (memory_) memory_->kept.save_if_due(memory_->analysis, now);
}

void OtherResources::save(Time now) {
  if (block_) block_->kept.save(block_->analysis, now);
  if (memory_) memory_->kept.save(memory_->analysis, now);
}

std::vector<OtherResources::Event> OtherResources::collect(Time now, double seconds,
                                                           const std::vector<KnownContainer>& containers,
                                                           bool refreshes) {
  std::vector<Event> events;
  handles_.clear();
  for (const KnownContainer& container : containers) handles_.push_back(container.handle);
  last_ = std::make_unique<Windows>(next(containers, seconds, refreshes));
  const Windows& windows = *last_;
  if (!block_) return events;
  for (VerdictEvent& event : block_->analysis.add(now, windows.io)) events.push_back(block_event(std::move(event)));
  if (!memory_) return events;
  for (VerdictEvent& event : memory_->analysis.add(now, windows.memory))
    events.push_back({kMemory, {}, std::move(event)});
  return events;
}

void OtherResources::report(plugin::Batch& batch) {
  std::erase_if(series_, [this](const auto& one) {
    return std::find(handles_.begin(), handles_.end(), one.first.second) == handles_.end();
  });
  if (block_) report(batch, kBlkio, block_->analysis.standing());
  if (memory_) report(batch, kMemory, memory_->analysis.standing());
}

// Posts verdicts in two units, because the use of a limit is a ratio and a latency is a time.
void OtherResources::post(const LookedAt& looked_at, const std::function<double(std::uint64_t)>& requested_memory) {
  std::vector<Verdict> latencies, limits;
  if (block_)
    for (const Verdict& verdict : block_->analysis.standing())
      (verdict.kind == Kind::self_quota ? limits : latencies).push_back(verdict);
  latencies_.update(latencies, {{}, looked_at, "requests in flight when it came to the device"});
  io_limits_.update(limits, {{}, looked_at, "requests and bytes beside its limits"});
  if (memory_)
    refaults_.update(memory_->analysis.standing(),
                     {requested_memory, looked_at, "refaults, and pages that threads had to free"});
}

void OtherResources::add_looked_at(std::uint64_t handle,
                                   std::vector<std::pair<std::string, std::string>>& found) const {
  if (!last_) return;
  const auto has_verdict = [handle](const std::vector<Verdict>& standing) {
    return std::any_of(standing.begin(), standing.end(),
                       [handle](const Verdict& verdict) { return verdict.victim == handle; });
  };
  if (block_ && !has_verdict(block_->analysis.standing()))
    for (const IoSubject& subject : last_->io)
      if (subject.window.subject == handle)
        found.emplace_back(
            kBlkio, looked_at(subject.window, [this](std::uint32_t device) { return device_name(sys_, device); }));
  if (memory_ && !has_verdict(memory_->analysis.standing()))
    for (const MemorySubject& subject : last_->memory)
      if (subject.window.subject == handle) found.emplace_back(kMemory, looked_at(subject.window));
}

void OtherResources::report(plugin::Batch& batch, std::string_view resource, const std::vector<Verdict>& verdicts) {
  std::map<std::uint64_t, Kind> standing;
  for (const Verdict& verdict : verdicts) standing[verdict.victim] = verdict.kind;
  for (std::uint64_t handle : handles_) {
    const auto [at, is_new] = series_.try_emplace({resource, handle});
    if (is_new)
      for (Kind kind : kinds_of(resource))
        at->second[kind] = interference_.series(handle, {{"resource", resource}, {"kind", analysis::name_of(kind)}});
    const auto verdict = standing.find(handle);
    for (const auto& [kind, series] : at->second)
      batch.add(series, verdict != standing.end() && verdict->second == kind ? 1 : 0);
  }
}

}  // namespace koord::interference
