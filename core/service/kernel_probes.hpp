// SPDX-License-Identifier: Apache-2.0
// Probes that ask the running kernel by system calls; a fake node has no part in them. Each undoes what it
// did. [any thread]
#pragma once

#include <string>

#include "core/service/capability_board.hpp"

namespace koord::service {

struct Finding {
  CapabilityState state;
  std::string detail;
};

Finding supported(std::string detail = {});
Finding absent(std::string detail);
Finding broken(std::string detail);

Finding probe_bpf();              // a program of two instructions passes the verifier
Finding probe_bpf_tracepoint();   // one attaches to the raw tracepoint sched_switch
Finding probe_perf_event();       // a software counter
Finding probe_pmu();              // a hardware counter of CPU cycles
Finding probe_core_scheduling();  // prctl(PR_SCHED_CORE)
Finding probe_oom_score_adj();    // the rights to set scores of other processes
Finding probe_inotify();          // a watch can be set
Finding probe_pidfd();            // a process can be waited for without racing its pid

}  // namespace koord::service
