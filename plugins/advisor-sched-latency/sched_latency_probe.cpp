// SPDX-License-Identifier: Apache-2.0
#include "plugins/advisor-sched-latency/sched_latency_probe.hpp"

#include <utility>

#include "plugins/advisor-sched-latency/bpf_probe.hpp"
#include "plugins/advisor-sched-latency/schedstat_probe.hpp"

namespace koord::sched_latency {
namespace {

Result<std::unique_ptr<Probe>> open_source(Source source, const latency::CgroupTree& tree,
                                           const ProbeOptions& options) {
  if (source == Source::schedstat) return SchedstatProbe::open(tree, options);
  return BpfProbe::open(source, tree, options);
}

}  // namespace

std::string_view name_of(Source source) {
  switch (source) {
    case Source::sched_info:
      return "sched_info";
    case Source::task_storage:
      return "task_storage";
    case Source::raw_tracepoint:
      return "raw_tracepoint";
    case Source::schedstat:
      return "schedstat";
  }
  return "unknown";
}

std::optional<Source> source_of(std::string_view name) {
  for (Source source : kSources)
    if (name_of(source) == name) return source;
  return std::nullopt;
}

Result<OpenedProbe> open_probe(const latency::CgroupTree& tree, const ProbeOptions& options) {
  OpenedProbe opened;
  std::string reasons;
  for (Source source : kSources) {
    if (options.only && source != *options.only) continue;
    auto probe = open_source(source, tree, options);
    if (probe) {
      opened.probe = std::move(*probe);
      return opened;
    }
    reasons += (reasons.empty() ? "" : "; ") + std::string(name_of(source)) + ": " + probe.error().message();
    opened.refused.push_back({source, probe.error().message()});
  }
  return invalid("no source of scheduling latency works on this kernel: " + reasons);
}

}  // namespace koord::sched_latency
