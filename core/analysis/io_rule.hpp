// SPDX-License-Identifier: Apache-2.0
// The rule for block I/O: judges one container in one window. Pure. [any thread]
//
// The figure for harm is the latency of requests from submission to completion. Others cause the part of it that is
// charged to them, as far as it is longer than in quiet times. Own limits delay requests before their submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/cpu_rule.hpp"

namespace koord::analysis {

// The part of a container's latencies that is charged to one other, per second of the window.
struct IoPart {
  SuspectKind kind = SuspectKind::container;
  Subject subject = 0;  // of SuspectKind::container
  double seconds = 0;
  double requests = 0;  // parts of the victim's requests
  double usage = 0;     // of that one on the device, in bytes/s
};

// Requests of one direction to one device.
struct IoStream {
  std::uint32_t device = 0;
  bool is_write = false;
  double requests = 0;        // completed, per second
  double mean = 0, p99 = 0;   // of their latencies, in seconds
  double alone_requests = 0;  // that met no requests of others at the device, per second
  double alone_mean = 0;
  IoPart own, unexplained;  // charged to itself, and to nothing known; kind and subject do not count
  std::vector<IoPart> others;
};

struct IoWindow {
  Subject subject = 0;
  std::vector<IoStream> streams;
  double limit_used = 0;  // the largest part of one of its own limits that it used; 0: none has a limit
};

// Latencies of a stream in quiet times, in seconds; 0: unknown.
struct QuietLatency {
  double mean = 0, p99 = 0;
  bool is_own = true;  // false: that of all workloads on the device
};

// Each a setting.
struct IoRule {
  double over_quiet = 1.5;        // a latency must be this many times that of quiet times …
  double excess = 0.0005;         // … and this many seconds longer
  double requests_for_mean = 10;  // per second; fewer prove nothing
  double requests_for_p99 = 100;  // the same
  double limit_used = 0.95;       // of its own limit, for self_quota
  // The quiet latency is unknown before this many windows, and a window so old counts half.
  std::size_t quiet_windows = 10;
  Duration quiet_half_life = std::chrono::hours(6);
};

// `quiet`: of each stream, in their order.
Finding judge_io(const IoWindow& window, const std::vector<QuietLatency>& quiet, const IoRule& rule = {});

// Returns the stream that has the largest part of a finding's excess; null without one.
const IoStream* worst_stream(const IoWindow& window, const std::vector<QuietLatency>& quiet, const IoRule& rule = {});

}  // namespace koord::analysis
