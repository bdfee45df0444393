// SPDX-License-Identifier: Apache-2.0
// A probe reads running totals of scheduling latency from the kernel. open_probe() selects the cheapest source that
// this kernel accepts and returns why the kernel refused the cheaper sources. A probe is used by one thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "plugins/shared/latency/cgroup_tree.hpp"
#include "plugins/shared/latency/waits.hpp"
#include "plugins/shared/latency/windows.hpp"

namespace koord::sched_latency {

// Throttled times are only known to sched_info.
using latency::Waits;
using Reading = latency::Reading<Waits>;

// Cheapest first. The first three are programs in the kernel (bpf/sched_latency); the last only reads /proc.
enum class Source { sched_info, task_storage, raw_tracepoint, schedstat };
inline constexpr Source kSources[] = {Source::sched_info, Source::task_storage, Source::raw_tracepoint,
                                      Source::schedstat};
std::string_view name_of(Source source);
std::optional<Source> source_of(std::string_view name);

struct ProbeOptions {
  std::string proc = "/proc";
  std::string btf;                  // file with the kernel's types, if /sys/kernel/btf/vmlinux is missing
  std::uint32_t slots = 0;          // cgroups measured separately; 0: as many as fit into 16 MiB of kernel memory
  std::uint32_t threads = 32768;    // maximum number of waiting threads, for raw_tracepoint
  std::optional<Source> only = {};  // if set, only this source is tried
};

class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  virtual Source source() const = 0;

  // Returns running totals. The programs in the kernel see every cgroup; schedstat sees only the cgroups in `watched`.
  virtual Result<Reading> read(std::span<const latency::CgroupDirectory> watched) = 0;
};

struct Refusal {
  Source source;
  std::string why;
};

struct OpenedProbe {
  std::unique_ptr<Probe> probe;
  std::vector<Refusal> refused;
};

// Fails if no source can be used. In that case the error has the reason for each source.
Result<OpenedProbe> open_probe(const latency::CgroupTree& tree, const ProbeOptions& options);

}  // namespace koord::sched_latency
