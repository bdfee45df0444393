// SPDX-License-Identifier: Apache-2.0
// The rule for block I/O: judges one container in one window. Pure. [any thread]
//
// The measure of harm is the latency of requests from submission to completion. Others cause the part of it that is
// charged to them, if the latency exceeds the quiet latency. Own limits delay requests before their submission.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/analysis/cpu_rule.hpp"

namespace koord::analysis {

// The part of a container's latencies that is charged to one other subject, per second of the window.
struct IoPart {
  SuspectKind kind = SuspectKind::container;
  Subject subject = 0;  // set for SuspectKind::container
  double seconds = 0;
  double requests = 0;  // charged parts of the victim's requests
  double usage = 0;     // the subject's usage of the device, in bytes/s
};

// Requests of one direction to one device.
struct IoStream {
  std::uint32_t device = 0;
  bool is_write = false;
  double requests = 0;        // completed requests per second
  double mean = 0, p99 = 0;   // latencies in seconds
  double alone_requests = 0;  // requests per second that met no requests of others at the device
  double alone_mean = 0;
  IoPart own, unexplained;  // charged to the container itself; to no known subject (kind and subject are not set)
  std::vector<IoPart> others;
};

struct IoWindow {
  Subject subject = 0;
  std::vector<IoStream> streams;
  double limit_used = 0;  // the largest used part of its own limits; 0: no limit
};

// Latencies of a stream in quiet times, in seconds; 0: unknown.
struct QuietLatency {
  double mean = 0, p99 = 0;
  bool is_own = true;  // false: the latency of all workloads on the device
};

// The settings of the rule.
struct IoRule {
  double over_quiet = 1.5;        // minimum ratio of a latency to the quiet latency …
  double excess = 0.0005;         // … and minimum difference in seconds
  double requests_for_mean = 10;  // per second; fewer requests are not judged
  double requests_for_p99 = 100;  // per second; with fewer requests, the p99 is not judged
  double limit_used = 0.95;       // minimum used part of its own limit for self_quota
  // The quiet latency is unknown before this many windows. A window of the age of the half-life counts half.
  std::size_t quiet_windows = 10;
  Duration quiet_half_life = std::chrono::hours(6);
};

// Judges a window. `quiet`: the quiet latency of each stream, in the order of the streams.
Finding judge_io(const IoWindow& window, const std::vector<QuietLatency>& quiet, const IoRule& rule = {});

// Returns the stream that has the largest part of a finding's excess; null if no stream has a too high latency.
const IoStream* worst_stream(const IoWindow& window, const std::vector<QuietLatency>& quiet, const IoRule& rule = {});

}  // namespace koord::analysis
