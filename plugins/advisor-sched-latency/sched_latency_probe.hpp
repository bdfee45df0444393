// SPDX-License-Identifier: Apache-2.0
// A probe reads running totals of scheduling latency from the kernel. open_probe() takes the cheapest source
// that this kernel accepts and says why it refused the cheaper ones. A probe is used by one thread at a time.
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

// Only sched_info knows throttled times.
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
  std::string btf;                  // the kernel's types, when /sys/kernel/btf/vmlinux does not have them
  std::uint32_t slots = 0;          // cgroups measured separately; 0: as many as 16 MiB of kernel memory hold
  std::uint32_t threads = 32768;    // that may wait at once, for raw_tracepoint
  std::optional<Source> only = {};  // this source or none
};

class Probe {
 public:
  Probe() = default;
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  virtual ~Probe() = default;

  virtual Source source() const = 0;

  // Running totals. The programs in the kernel see every cgroup; schedstat only the ones of `watched`.
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

// Fails when no source at all can be used; the text then has the reason of each.
Result<OpenedProbe> open_probe(const latency::CgroupTree& tree, const ProbeOptions& options);

}  // namespace koord::sched_latency
