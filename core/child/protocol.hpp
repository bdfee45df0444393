// SPDX-License-Identifier: Apache-2.0
// The messages between host and child. The host makes Calls, one at a time on a channel; each is answered by
//   status, text of set_error(), CPU time in ns, then the results of the call.
// The child asks for Services, one at a time; each is answered by status, text, then the results of the service, except
// for those marked "no answer". Host and child are of one build: this is no ABI.
#pragma once

#include <cstdint>

namespace koord::child {

// The descriptors that a child begins with.
enum : int {
  kCallsFd = 3,     // Calls, except for handle
  kHooksFd = 4,     // handle: it must not wait for a tick
  kServicesFd = 5,  // Services
  kSamplesFd = 6,   // the ring of samples, a memfd
};

enum class Call : std::uint32_t {
  describe = 1,  // LaunchSpec, with the descriptor of the plugin's file → n classes
  create,        // class index, n granted services
  init,
  run,          // with the stop signal's descriptor; answered at once, ends with Service::run_returned
  on_event,     // changed part, version
  collect,      // now, deadline
  evaluate,     // now, deadline
  on_applied,   // n results
  url,          // → url
  targets,      // → n (name, url, files, limits)
  map_metrics,  // target, n names → n (status, its name)
  map_series,   // target, n (metric, n labels) → n (status, subject, n labels)
  map_samples,  // target, n (name, n labels, value) → n (status, value)
  handle,  // request, whether devices and mounts are granted → n (field, value), n (field, factor), whether it rejects
           // and why
  stop,
  destroy,
};

enum class Service : std::uint32_t {
  log = 1,          // level, message; no answer
  run_returned,     // status, text; no answer
  samples_waiting,  // in the ring, and no call is running that would fetch them; no answer
  define,
  series,
  end_series,
  append,        // batches too large for the ring
  append_until,  // → the latest time that a sample may have now
  append_histograms,
  aggregate,
  samples,
  acquire,  // → serial, with its image's descriptor when the child has another
  subscribe,
  processes,  // subject, room → count, ids
  kv_get,
  kv_set,
  kv_remove,
  config_json,
  config_i64,
  config_f64,
  config_boolean,
  config_string,
  clock_now,
  clock_wall,
  fs_path,
  fs_read,
  cgroup_open,
  cgroup_read,
  cgroup_close,  // no answer
  audit_record,
  capability_get,
  capability_report,
  propose,
  refuse_plan,  // the intents before one that the child's own checks refuse, its status, a line for the log, the text
  refuse_plan_size,  // of a plan that is too large: its intents, the bytes of its texts
  current,
  base,
  evict_request,
  refuse_eviction,  // as refuse_plan
  verdict_post,     // n verdicts
  refuse_verdicts,  // as refuse_plan
  verdict_end,      // victim, resource, kind, why
  verdict_acquire,  // version of the list that the child has → whether there is another, and that
  verdict_subscribe,
};

// Returns the id of the table that the service belongs to and is granted with; nullptr if it needs no grant or is
// unknown.
const char* table_of(Service service);

}  // namespace koord::child
