// SPDX-License-Identifier: Apache-2.0
// Measures latency and bytes of requests to block devices, per cgroup and device. Two variants yield the same values.
// They need different type information of the kernel:
//   btf_tracepoint  tracepoints with types
//   raw_tracepoint  tracepoints without types
// Each variant also has a program for the removal of cgroups. User space loads the programs of one variant only.
//
// A request is identified by its address, because sectors repeat, but an address is reused only after the completion.
#define LATENCY_HISTOGRAM_MAP BPF_MAP_TYPE_ARRAY
#include "block_requests.bpf.h"
#include "cgroup_histograms.bpf.h"

#include "block_latency.h"

#include <bpf/bpf_tracing.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

struct issued {
  __u64 since_ns;
  __u64 queue_ns;
  __u64 bytes;
};

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // maximum number of requests at all devices, set before loading
  __type(key, __u64);
  __type(value, struct issued);
} issued_requests SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // number of pairs of cgroup and device, set before loading
  __type(key, struct block_row_key);
  __type(value, struct block_row);
} rows SEC(".maps");

// Requests that are in no row because the map was full.
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} lost_rows SEC(".maps");

static __always_inline __u32 operation_of(const struct request* request) {
  __u32 operation = kernel_operation_of(request);
  return operation < BLOCK_OTHER ? operation : BLOCK_OTHER;
}

static __always_inline struct block_row* row_of(__u32 slot, __u32 device) {
  static const struct block_row empty;
  struct block_row_key key = {.slot = slot, .device = device};
  struct block_row* row = bpf_map_lookup_elem(&rows, &key);
  if (row) return row;
  bpf_map_update_elem(&rows, &key, &empty, BPF_NOEXIST);
  row = bpf_map_lookup_elem(&rows, &key);
  if (row) return row;
  __u32 zero = 0;
  __u64* lost = bpf_map_lookup_elem(&lost_rows, &zero);
  if (lost) __sync_fetch_and_add(lost, 1);
  return NULL;
}

static __always_inline int issue(const struct request* request) {
  __u64 key = (__u64)request;
  __u64 now = bpf_ktime_get_ns();
  __u64 made = BPF_CORE_READ(request, start_time_ns);
  struct issued issued = {
      .since_ns = now, .queue_ns = made && made < now ? now - made : 0, .bytes = BPF_CORE_READ(request, __data_len)};
  bpf_map_update_elem(&issued_requests, &key, &issued, BPF_ANY);
  return 0;
}

static __always_inline void charge(const struct request* request, const struct issued* issued, __u32 error) {
  __u64 device_ns = bpf_ktime_get_ns() - issued->since_ns;
  __u32 operation = operation_of(request);
  const struct cgroup_subsys_state* css = css_of(request);
  __u32 slot = css ? slot_of(css, BPF_CORE_READ(css, serial_nr)) : LATENCY_NO_CGROUP_SLOT;
  if (operation < BLOCK_HISTOGRAMS) add_delay_shared(slot * BLOCK_HISTOGRAMS + operation, device_ns);
  struct block_row* row = row_of(slot, device_of(request));
  __u64 index = operation;
  asm volatile("" : "+r"(index)); /* keeps the check, which the verifier of Linux 6.12 needs, in the code */
  if (!row || index >= BLOCK_OPERATIONS) return;
  struct block_operation_totals* totals = &row->operations[index];
  __sync_fetch_and_add(&totals->requests, 1);
  if (!error) __sync_fetch_and_add(&totals->bytes, issued->bytes);
  __sync_fetch_and_add(&totals->device_ns, device_ns);
  __sync_fetch_and_add(&totals->queue_ns, issued->queue_ns);
}

// A request may complete in parts. A request that was never issued and moved no bytes does not count as lost: a request
// for a flush completes by itself, after the flush that the device received in its place.
static __always_inline int complete(const struct request* request, __u32 error, __u32 bytes) {
  __u64 key = (__u64)request;
  struct issued* found = bpf_map_lookup_elem(&issued_requests, &key);
  if (!found) {
    if (bytes) count_lost_begin();
    return 0;
  }
  if (bytes < BPF_CORE_READ(request, __data_len)) return 0;
  struct issued issued = *found;
  bpf_map_delete_elem(&issued_requests, &key);
  charge(request, &issued, error);
  return 0;
}

// ---- btf_tracepoint

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup* cgroup) {
  release_slot_of(cgroup);
  return 0;
}

SEC("tp_btf/block_rq_issue")
int on_issue(__u64* context) { return issue(issued_request(context)); }

SEC("tp_btf/block_rq_complete")
int on_complete(__u64* context) { return complete((const struct request*)context[0], context[1], context[2]); }

// ---- raw_tracepoint

SEC("raw_tp/cgroup_rmdir")
int raw_on_cgroup_rmdir(struct bpf_raw_tracepoint_args* context) {
  release_slot_of((const struct cgroup*)context->args[0]);
  return 0;
}

SEC("raw_tp/block_rq_issue")
int raw_on_issue(struct bpf_raw_tracepoint_args* context) { return issue(issued_request(context->args)); }

SEC("raw_tp/block_rq_complete")
int raw_on_complete(struct bpf_raw_tracepoint_args* context) {
  return complete((const struct request*)context->args[0], context->args[1], context->args[2]);
}
