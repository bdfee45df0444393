// SPDX-License-Identifier: Apache-2.0
// Measures which cgroups occupied a block device while requests of other cgroups waited for it. When a request arrives
// at the device, the program takes a snapshot of the cgroups with requests there. When the request completes, its
// latency is charged to these cgroups.
//
// A request arrives at its device when it is inserted into a queue (of an I/O scheduler, or of the block layer), or
// when it is issued without an insertion. Before that, a thread may wait for a free request, because a device has only
// a few. This wait is measured from the submission of the bio and is part of the latency.
//
// A request is identified by its address. Sectors repeat, but an address is reused only after the completion. If the
// program misses a completion, the request leaves its device when a different request with its address arrives.
#include "block_requests.bpf.h"
#include "cgroup_slots.bpf.h"
#include "delay_buckets.bpf.h"

#include "block_blame.h"

#include <bpf/bpf_tracing.h>

char program_license[] SEC("license") = "Dual BSD/GPL";

#define ENTRIES (BLOCK_BLAME_CGROUPS + 1)
#define SNAPSHOT_BITS 16

// Shorter waits for a free request are not stored in the map.
#define LEAST_WAIT_NS 10000

struct request_record {
  __u64 since_ns;
  __u64 bio;  // address of its first bio
  __u64 bytes;
  __u32 device;
  __u32 slot;
  __u32 operation;
  __u32 place;              // index in the device's entries
  __u32 snapshot[ENTRIES];  // slot << 16 | requests in flight, at most 65535
  __u32 is_issued;
};

struct submission {
  __u64 bio;  // address of the bio; 0: no bio waits for a request
  __u64 since_ns;
  __u64 waited_for_cpu_ns;  // time for which the thread had waited for a CPU until since_ns
};

// The bio that a thread is submitting.
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct submission);
} submissions SEC(".maps");

// How long a thread waited for a free request; the key is the address of the bio. An LRU map, because bios that were
// merged into a different request are never looked up.
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 1);
  __type(key, __u64);
  __type(value, __u64);
} waited_bios SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // requests in flight on all devices; this and the sizes below are set before loading
  __type(key, __u64);
  __type(value, struct request_record);
} requests SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // number of devices
  __type(key, __u32);
  __type(value, struct block_blame_device);
} devices SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // number of pairs of cgroup and device
  __type(key, struct block_blame_row_key);
  __type(value, struct block_blame_row);
} rows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // number of triples of victim, culprit and device
  __type(key, struct block_blame_pair_key);
  __type(value, struct block_blame_pair);
} pairs SEC(".maps");

// ---- requests in flight

static __always_inline struct block_blame_device* find_or_make_device(__u32 number) {
  static const struct block_blame_device idle;
  struct block_blame_device* device = bpf_map_lookup_elem(&devices, &number);
  if (device) return device;
  bpf_map_update_elem(&devices, &number, &idle, BPF_NOEXIST);
  return bpf_map_lookup_elem(&devices, &number);
}

static __always_inline __u32 snapshot_of(__u64 slot, __u64 entry) {
  __u64 number = entry & 0xffffffff;
  if (!number) return 0;
  return slot << SNAPSHOT_BITS | (number < 0xffff ? number : 0xffff);
}

static __always_inline void take_snapshot(const struct block_blame_device* device, struct request_record* record) {
#pragma unroll
  for (int i = 0; i < BLOCK_BLAME_CGROUPS; ++i) {
    __u64 entry = *(const volatile __u64*)&device->entries[i];
    record->snapshot[i] = snapshot_of(entry >> 32, entry);
  }
  __u64 further = *(const volatile __u64*)&device->entries[BLOCK_BLAME_CGROUPS];
  record->snapshot[BLOCK_BLAME_CGROUPS] = snapshot_of(BLOCK_BLAME_FURTHER, further);
}

static __always_inline bool change(__u64* entry, __u64 from, __u64 to) {
  return __sync_val_compare_and_swap(entry, from, to) == from;
}

// Adds a request and returns the place that counts it: the place of the cgroup, a free place, or the last place. The
// last place is used if no place is free, or if other CPUs took the free place first at each attempt.
static __always_inline __u32 join(struct block_blame_device* device, __u64 slot) {
#pragma unroll
  for (int attempt = 0; attempt < 2; ++attempt) {
#pragma unroll
    for (int i = 0; i < BLOCK_BLAME_CGROUPS; ++i) {
      __u64 entry = *(volatile __u64*)&device->entries[i];
      if (entry >> 32 == slot && change(&device->entries[i], entry, entry + 1)) return i;
    }
#pragma unroll
    for (int i = 0; i < BLOCK_BLAME_CGROUPS; ++i) {
      __u64 entry = *(volatile __u64*)&device->entries[i];
      if (!(entry & 0xffffffff) && change(&device->entries[i], entry, slot << 32 | 1)) return i;
    }
  }
  __sync_fetch_and_add(&device->entries[BLOCK_BLAME_CGROUPS], 1);
  return BLOCK_BLAME_CGROUPS;
}

// Removes a request from a place. The number must not become negative, because the upper half of the entry is the slot.
// Like charge(), a global function that the verifier checks only once.
__noinline int leave(__u32 device_number, __u32 place_number) {
  __u64 place = place_number;
  struct block_blame_device* device = bpf_map_lookup_elem(&devices, &device_number);
  asm volatile("" : "+r"(place)); /* keeps the check, which the verifier needs, from being removed by the compiler */
  if (!device || place >= ENTRIES) return 0;
#pragma unroll
  for (int attempt = 0; attempt < 8; ++attempt) {
    __u64 entry = *(volatile __u64*)&device->entries[place];
    if (!(entry & 0xffffffff) || change(&device->entries[place], entry, entry - 1)) return 0;
  }
  /* At each attempt other CPUs changed the entry first, and it was never zero. */
  __sync_fetch_and_add(&device->entries[place], -1);
  return 0;
}

static __always_inline __u64 take_wait_of(__u64 bio) {
  __u64* found = bpf_map_lookup_elem(&waited_bios, &bio);
  if (!found) return 0;
  __u64 ns = *found;
  bpf_map_delete_elem(&waited_bios, &bio);
  return ns;
}

static __always_inline int come(const struct request* request, __u64 bio, __u32 is_issued) {
  __u64 key = (__u64)request;
  const struct cgroup_subsys_state* css = css_of(request);
  struct request_record record = {.since_ns = bpf_ktime_get_ns() - take_wait_of(bio),
                                  .bio = bio,
                                  .bytes = BPF_CORE_READ(request, __data_len),
                                  .device = device_of(request),
                                  .slot = css ? slot_of(css, BPF_CORE_READ(css, serial_nr)) : LATENCY_NO_CGROUP_SLOT,
                                  .operation = kernel_operation_of(request),
                                  .is_issued = is_issued};
  struct block_blame_device* device = find_or_make_device(record.device);
  if (!device) {
    count_lost_begin();
    return 0;
  }
  take_snapshot(device, &record);
  record.place = join(device, record.slot);
  if (!bpf_map_update_elem(&requests, &key, &record, BPF_NOEXIST)) return 0;
  struct request_record* before = bpf_map_lookup_elem(&requests, &key);
  if (before) {
    __u32 device_before = before->device, place_before = before->place;
    /* The program that replaces the record leaves its place, once. The kernel may refuse the replacement: -EBUSY. */
    if (!bpf_map_update_elem(&requests, &key, &record, BPF_EXIST)) {
      leave(device_before, place_before);
      return 0;
    }
  }
  count_lost_begin();
  leave(record.device, record.place);
  return 0;
}

// Returns the record of a request that waits in a queue. NULL: the request arrives now.
static __always_inline struct request_record* waiting_record_of(const struct request* request, __u64 bio) {
  __u64 key = (__u64)request;
  struct request_record* found = bpf_map_lookup_elem(&requests, &key);
  return found && !found->is_issued && found->bio == bio ? found : NULL;
}

static __always_inline int insert(const struct request* request) {
  __u64 bio = (__u64)BPF_CORE_READ(request, bio);
  return waiting_record_of(request, bio) ? 0 : come(request, bio, 0);
}

static __always_inline int issue(const struct request* request) {
  __u64 bio = (__u64)BPF_CORE_READ(request, bio);
  struct request_record* waiting = waiting_record_of(request, bio);
  if (!waiting) return come(request, bio, 1);
  waiting->is_issued = 1;
  waiting->bytes = BPF_CORE_READ(request, __data_len); /* other requests may have been merged into it */
  return 0;
}

// The device had no room for the request, but the issue was counted already. The request will be issued again.
static __always_inline int return_to_queue(const struct request* request) {
  __u64 key = (__u64)request;
  struct request_record* found = bpf_map_lookup_elem(&requests, &key);
  if (found) found->is_issued = 0;
  return 0;
}

// Removes a request that was merged into a different request.
static __always_inline int leave_by_merge(const struct request* request) {
  __u64 key = (__u64)request;
  struct request_record* found = bpf_map_lookup_elem(&requests, &key);
  if (!found) return 0;
  __u32 device = found->device, place = found->place;
  take_wait_of((__u64)BPF_CORE_READ(request, bio));
  if (!bpf_map_delete_elem(&requests, &key)) leave(device, place);
  return 0;
}

// ---- blame

// A global function with plain numbers as arguments, because the verifier checks it only once, not at each call.
__noinline int charge(__u32 device, __u32 victim_and_culprit, __u32 direction, __u64 requests, __u64 ns) {
  static const struct block_blame_pair empty;
  struct block_blame_pair_key key = {
      .device = device, .victim = victim_and_culprit >> 16, .culprit = victim_and_culprit & 0xffff};
  struct block_blame_pair* pair = bpf_map_lookup_elem(&pairs, &key);
  if (!pair) {
    bpf_map_update_elem(&pairs, &key, &empty, BPF_NOEXIST);
    pair = bpf_map_lookup_elem(&pairs, &key);
  }
  if (!pair || direction >= BLOCK_BLAME_DIRECTIONS) {
    count_lost_begin();
    return 0;
  }
  __sync_fetch_and_add(&pair->requests[direction], requests);
  __sync_fetch_and_add(&pair->ns[direction], ns);
  return 0;
}

static __always_inline struct block_blame_row* find_or_make_row(const struct request_record* record) {
  static const struct block_blame_row empty;
  struct block_blame_row_key key = {.device = record->device, .slot = record->slot};
  struct block_blame_row* row = bpf_map_lookup_elem(&rows, &key);
  if (row) return row;
  bpf_map_update_elem(&rows, &key, &empty, BPF_NOEXIST);
  return bpf_map_lookup_elem(&rows, &key);
}

// The requests in flight when a request arrived: of all cgroups, and of its own cgroup.
struct in_flight {
  __u64 all, own;
};

static __always_inline void count(struct block_blame_stream* stream, const struct request_record* record,
                                  const struct in_flight* flight, __u64 ns) {
  __sync_fetch_and_add(&stream->requests, 1);
  __sync_fetch_and_add(&stream->bytes, record->bytes);
  __sync_fetch_and_add(&stream->ns, ns);
  __u64 bucket = bucket_of(ns);
  asm volatile("" : "+r"(bucket));
  if (bucket < LATENCY_BUCKETS) __sync_fetch_and_add(&stream->buckets[bucket], 1);
  if (flight->own == flight->all) {
    __sync_fetch_and_add(&stream->alone_requests, 1);
    __sync_fetch_and_add(&stream->alone_ns, ns);
  }
  if (!flight->own) return;
  __sync_fetch_and_add(&stream->own_requests, BLOCK_BLAME_REQUEST * flight->own / flight->all);
  __sync_fetch_and_add(&stream->own_ns, ns * flight->own / flight->all);
}

// A latency is less than 2^40 ns (18 minutes) and a number of requests is less than 2^20, so their product is less than
// 2^64.
static __always_inline void blame(const struct request_record* record, __u64 ns) {
  __u64 direction = record->operation;
  asm volatile("" : "+r"(direction));
  if (direction >= BLOCK_BLAME_DIRECTIONS || ns >> 40) return;
  struct in_flight flight = {};
#pragma unroll
  for (int i = 0; i < ENTRIES; ++i) {
    __u32 number = record->snapshot[i] & 0xffff;
    flight.all += number;
    if (record->snapshot[i] >> SNAPSHOT_BITS == record->slot) flight.own += number;
  }
  struct block_blame_row* row = find_or_make_row(record);
  if (!row) {
    count_lost_begin();
    return;
  }
  count(&row->streams[direction], record, &flight, ns);
  if (flight.own == flight.all) return;
#pragma unroll
  for (int i = 0; i < ENTRIES; ++i) {
    __u64 number = record->snapshot[i] & 0xffff;
    __u32 culprit = record->snapshot[i] >> SNAPSHOT_BITS;
    if (!number || culprit == record->slot) continue;
    charge(record->device, record->slot << 16 | culprit, direction, BLOCK_BLAME_REQUEST * number / flight.all,
           ns * number / flight.all);
  }
}

// A request may complete in parts. A request that never arrived at the device does not count as lost; see
// bpf/block_latency.
static __always_inline int complete(const struct request* request, __u32 bytes) {
  __u64 key = (__u64)request;
  struct request_record* found = bpf_map_lookup_elem(&requests, &key);
  if (!found && bytes) count_lost_begin();
  if (!found || bytes < BPF_CORE_READ(request, __data_len)) return 0;
  struct request_record record = *found;
  if (bpf_map_delete_elem(&requests, &key)) {
    count_lost_begin();
    return 0;
  }
  leave(record.device, record.place);
  blame(&record, bpf_ktime_get_ns() - record.since_ns);
  return 0;
}

SEC("tp_btf/block_bio_queue")
int wait_on_submission(__u64* context) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct submission* submission = bpf_task_storage_get(&submissions, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (!submission) return 0;
  submission->bio = context[0];
  submission->waited_for_cpu_ns = BPF_CORE_READ(task, sched_info.run_delay);
  submission->since_ns = bpf_ktime_get_ns();
  return 0;
}

// A bio that is split first passes its parts to other bios' requests, and its own request comes last. Time in which the
// thread waited for a CPU is not a wait for the device.
SEC("tp_btf/block_getrq")
int wait_until_request(__u64* context) {
  struct task_struct* task = bpf_get_current_task_btf();
  struct submission* submission = bpf_task_storage_get(&submissions, task, 0, 0);
  __u64 bio = context[0];
  if (!submission || submission->bio != bio) return 0;
  submission->bio = 0;
  __u64 ns = bpf_ktime_get_ns() - submission->since_ns;
  __u64 for_cpu_ns = BPF_CORE_READ(task, sched_info.run_delay) - submission->waited_for_cpu_ns;
  ns -= for_cpu_ns < ns ? for_cpu_ns : ns;
  if (ns >= LEAST_WAIT_NS)
    bpf_map_update_elem(&waited_bios, &bio, &ns, BPF_ANY);
  else
    bpf_map_delete_elem(&waited_bios, &bio); /* the entry belongs to an earlier, merged bio with this address */
  return 0;
}

SEC("tp_btf/block_rq_insert")
int blame_on_insert(__u64* context) { return insert((const struct request*)context[0]); }

SEC("tp_btf/block_rq_requeue")
int return_on_requeue(__u64* context) { return return_to_queue((const struct request*)context[0]); }

SEC("tp_btf/block_rq_merge")
int leave_on_merge(__u64* context) { return leave_by_merge((const struct request*)context[0]); }

SEC("tp_btf/block_rq_issue")
int blame_on_issue(__u64* context) { return issue(issued_request(context)); }

SEC("tp_btf/block_rq_complete")
int blame_on_complete(__u64* context) { return complete((const struct request*)context[0], context[2]); }

SEC("tp_btf/cgroup_rmdir")
int BPF_PROG(on_cgroup_rmdir, struct cgroup* cgroup) {
  release_slot_of(cgroup);
  return 0;
}
