// SPDX-License-Identifier: Apache-2.0
// Measures which cgroups occupied a CPU while threads waited for it, exactly, from scheduler events. When a thread runs
// after a long wait, the cgroups that ran on its CPU in that time are charged with it, in a matrix of (victim,
// culprit).
//
// A thread that is moved while it waits is charged on the CPU that it leaves. A wait that still lasts when user space
// reads is charged up to that time. So a wait of three seconds is in each of three windows of a second. All times are
// from the run queue's clock, which does not advance inside the scheduler, so the sums are exact to the nanosecond.
//
// It also counts all waits by length, like bpf/sched_latency, because one program costs less than two.
#include "cpu_threads.bpf.h"
#include "delay_buckets.bpf.h"
#include "throttled_waits.bpf.h"

#include "cpu_blame.h"
#include "cpu_pairs.bpf.h"

char program_license[] SEC("license") = "Dual BSD/GPL";

#define PF_KTHREAD 0x00200000
#define ON_RQ_MIGRATING 2

// State of a wait when user space visited it. The wait continues from here.
struct thread_visit {
  __u64 charged_ns, at_ns, throttled_ns, waited_ns, cpu;  // same as in thread_wait; at_ns is left_ns
};

// State of a thread between its events. The values that each switch uses come first.
struct thread_wait {
  __u64 charged_ns;  // the thread's run delay when it was last charged
  __u64 left_ns;     // when the thread left a CPU
  __u64 waited_ns;   // part of the present wait on CPUs from which the thread was moved
  // The last visit: (1 + charged_ns of the wait) << 1 | its index in `visits`. It is valid while charged_ns does not
  // change.
  __u64 visit_key;
  __u64 cpu;           // 1 + the CPU that the thread left; 0: the thread was moved after it left
  __u64 throttled_ns;  // the throttled time of its run queue when it left
  __u64 counted_ns;    // the part of waited_ns that is in the slot's values
  __u64 moved_ns;      // the part of waited_ns that is in no pair of the matrix yet
  __u64 taken_key;     // key of the visit from which a wait continued
  struct thread_visit visits[2];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_wait);
} threads SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);  // number of slots, set before loading
  __type(key, __u32);
  __type(value, struct blame_slot);
} blame_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);  // number of slots, set before loading
  __type(key, __u32);
  __type(value, struct blame_lengths);
} wait_lengths SEC(".maps");

// ---- threads

static __always_inline void make_storage(struct task_struct* task) {
  struct thread_wait* wait = bpf_task_storage_get(&threads, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (wait) wait->charged_ns = task->sched_info.run_delay;
}

static __always_inline __u32 slot_of_thread(const struct task_struct* task) {
  if (!task->pid) return BLAME_IDLE;
  if (task->flags & PF_KTHREAD) return BLAME_KERNEL;
  const struct cgroup_subsys_state* css = css_of(task);
  return slot_of(css, css->serial_nr);
}

// ---- waits

// Adds to a sum. A visit runs in a thread, which the scheduler may interrupt to change the same values.
static __always_inline void add_to(__u64* sum, __u64 ns, bool is_visit) {
  if (is_visit)
    __sync_fetch_and_add(sum, ns);
  else
    *sum += ns;
}

// Adds the growth of a wait from `counted` to `waited` to the slot's values.
static __always_inline void add_wait(struct blame_slot* slot, __u64 counted, __u64 waited, __u64 throttled,
                                     bool is_visit) {
  add_to(&slot->wait_ns, waited - counted, is_visit);
  if (throttled) add_to(&slot->throttled_ns, throttled, is_visit);
  if (waited >= BLAME_LONG_NS) add_to(&slot->long_ns, waited - counted, is_visit);
  for (int level = 0; level < BLAME_LEVELS; ++level) {
    __u64 most = (__u64)BLAME_FIRST_LEVEL_NS << level;
    if (waited <= most) break;
    add_to(&slot->excess_ns[level], waited - (counted > most ? counted : most), is_visit);
  }
}

// Continues a wait from its last visit.
static __always_inline void continue_from_visit(struct thread_wait* wait) {
  __u64 key = *(volatile __u64*)&wait->visit_key;
  if (key >> 1 != wait->charged_ns + 1) return;
  const struct thread_visit* visit = &wait->visits[key & 1];
  *(volatile __u64*)&wait->taken_key = key;
  *(volatile __u64*)&wait->charged_ns = visit->charged_ns;
  wait->left_ns = visit->at_ns;
  wait->throttled_ns = visit->throttled_ns;
  wait->waited_ns = wait->counted_ns = visit->waited_ns;
  wait->moved_ns = 0;
  wait->cpu = visit->cpu;
}

static __always_inline void count_length(__u32 slot, __u64 ns) {
  struct blame_lengths* lengths = bpf_map_lookup_elem(&wait_lengths, &slot);
  __u32 bucket = bucket_of(ns);
  if (lengths && bucket < LATENCY_BUCKETS) lengths->buckets[bucket]++;
}

// Returns the throttled part of a wait that ends and lasted `waited` ns on this CPU. `throttled`: the throttled time of
// the run queue.
static __always_inline __u64 take_throttled(const struct thread_wait* wait, struct blame_slot* slot, __u32 number,
                                            __u64 throttled, __u64 waited, __u64 now) {
  __u64 part = throttled_part(&slot->throttled, throttled, now - waited, now);
  // The thread has waited since it left the CPU, so all throttled times since then lie in the wait.
  if (wait->cpu == number + 1 && now - waited <= wait->left_ns) part = throttled - wait->throttled_ns;
  return part < waited ? part : waited;
}

static __always_inline void end_wait(struct blame_cpu* cpu, __u32 number, struct task_struct* next, __u32 victim,
                                     __u64 now) {
  struct thread_wait* wait = bpf_task_storage_get(&threads, next, 0, 0);
  if (!wait) {
    count_lost_begin();
    return;
  }
  continue_from_visit(wait);
  __u64 queued = next->sched_info.last_queued;
  __u64 run_delay = next->sched_info.run_delay + delay_until(next, now);
  __u64 waited = run_delay - wait->charged_ns;
  wait->charged_ns = run_delay;
  // Time that the kernel counted while the thread's storage was not accessible belongs to a different wait.
  if (wait->left_ns && waited > now - wait->left_ns) waited = now - wait->left_ns;
  __u64 before = wait->waited_ns;
  if (!queued && !waited && !before) return;
  __u64 throttled = throttled_time_of(next->se.cfs_rq);
  if (!throttled && !before && waited <= BLAME_FIRST_LEVEL_NS) {
    cpu->waited_ns += waited;
    cpu->waits++;
    count_length(victim, waited);
    return;
  }
  struct blame_slot* slot = bpf_map_lookup_elem(&blame_slots, &victim);
  if (!slot) return;
  if (throttled) throttled = take_throttled(wait, slot, number, throttled, waited, now);
  __u64 here = waited - throttled;
  __u64 all = here + before;
  slot->waits++;
  count_length(victim, all);
  add_wait(slot, before ? wait->counted_ns : 0, all, throttled, false);
  if (all >= BLAME_LONG_NS) {
    if (here) blame(cpu, number, victim, now - here, now);
    if (before && wait->moved_ns) charge(victim, BLAME_MOVED, wait->moved_ns);
  }
  if (before) wait->waited_ns = wait->moved_ns = wait->counted_ns = 0;
}

// Counts the wait of a kernel thread in its cgroup's sum and lengths, without a culprit.
static __always_inline void end_kernel_wait(struct task_struct* next, __u64 now) {
  struct thread_wait* wait = bpf_task_storage_get(&threads, next, 0, 0);
  if (!wait) {
    count_lost_begin();
    return;
  }
  __u64 run_delay = next->sched_info.run_delay + delay_until(next, now);
  __u64 waited = run_delay - wait->charged_ns;
  wait->charged_ns = run_delay;
  if (!next->sched_info.last_queued && !waited) return;
  const struct cgroup_subsys_state* css = css_of(next);
  __u32 index = slot_of(css, css->serial_nr);
  struct blame_slot* slot = bpf_map_lookup_elem(&blame_slots, &index);
  if (!slot) return;
  slot->wait_ns += waited;
  count_length(index, waited);
}

// Records that a runnable thread leaves the CPU and waits from now on. The wait of a sleeping thread begins later.
static __always_inline void begin_wait(struct task_struct* prev, __u32 number, __u64 now) {
  struct thread_wait* wait = bpf_task_storage_get(&threads, prev, 0, 0);
  if (!wait) return;
  wait->left_ns = now;
  wait->throttled_ns = throttled_time_of(prev->se.cfs_rq);
  wait->cpu = number + 1;
}

// Counts the time and the short waits of the cgroup that ran until now. Not called while threads of one cgroup
// alternate.
static __always_inline void count_run(struct blame_cpu* cpu, const struct task_struct* prev, __u64 now) {
  __u32 index = cpu->current.slot;
  struct blame_slot* slot = bpf_map_lookup_elem(&blame_slots, &index);
  if (slot) {
    slot->run_ns += now - cpu->counted_ns;
    slot->wait_ns += cpu->waited_ns;
    slot->waits += cpu->waits;
    slot->throttled.left_ns = now;
    if (!slot->throttled.seen) slot->throttled.seen = 1 + throttled_time_of(prev->se.cfs_rq);
  }
  cpu->counted_ns = now;
  cpu->waited_ns = cpu->waits = 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(blame_on_switch, bool preempt, struct task_struct* prev, struct task_struct* next) {
  __u64 now = next->se.cfs_rq->rq->clock;
  __u32 number = bpf_get_smp_processor_id();
  struct blame_cpu* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  if (!cpu->counted_ns) {
    cpu->current.begin_ns = cpu->counted_ns = now;
    cpu->current.slot = BLAME_UNKNOWN;
  }
  __u32 next_slot = slot_of_thread(next), slot = cpu->current.slot;
  if (next_slot != slot || now - cpu->counted_ns >= BLAME_RUN_NS) count_run(cpu, prev, now);
  if (slot < BLAME_MAX_SLOTS && (preempt || is_runnable(prev))) begin_wait(prev, number, now);
  if (next_slot < BLAME_MAX_SLOTS)
    end_wait(cpu, number, next, next_slot, now);
  else if (next_slot == BLAME_KERNEL)
    end_kernel_wait(next, now);
  if (next_slot == slot) return 0;
  keep_segment(cpu);
  cpu->current.begin_ns = now;
  cpu->current.slot = next_slot;
  return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(blame_on_migrate, struct task_struct* task, int destination) {
  if (task->on_rq != ON_RQ_MIGRATING || !task->pid || task->flags & PF_KTHREAD) return 0;
  struct thread_wait* wait = bpf_task_storage_get(&threads, task, 0, 0);
  if (!wait) return 0;
  continue_from_visit(wait);
  __u64 now = task->se.cfs_rq->rq->clock;
  __u32 number = task->se.cfs_rq->rq->cpu;
  __u64 run_delay = task->sched_info.run_delay;  // includes the wait until now, which the kernel has added
  __u64 waited = run_delay - wait->charged_ns;
  wait->charged_ns = run_delay;
  if (wait->cpu == number + 1 && now - waited <= wait->left_ns) {
    __u64 throttled = throttled_time_of(task->se.cfs_rq) - wait->throttled_ns;
    waited -= throttled < waited ? throttled : waited;
  }
  wait->cpu = 0;
  wait->waited_ns += waited;
  struct blame_cpu* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (cpu && waited >= BLAME_LONG_NS)
    blame(cpu, number, slot_of_thread(task), now - waited, now);
  else
    wait->moved_ns += waited;
  return 0;
}

// ---- waits that last

// Returns the throttled part of a wait that still lasts on its CPU; the whole wait if that part is unknown.
static __always_inline __u64 throttled_until_now(const struct thread_visit* from, __u32 victim, __u64 throttled,
                                                 __u64 begin, __u64 now, __u32 number) {
  if (from->cpu == number + 1 && begin <= from->at_ns) return throttled - from->throttled_ns;
  if (!throttled) return 0;
  const struct blame_slot* slot = value_on_cpu(&blame_slots, &victim, number);
  if (!slot || !slot->throttled.seen) return now - begin;
  __u64 throttled_begin, throttled_end;
  find_throttled(&slot->throttled, throttled, now, &throttled_begin, &throttled_end);
  if (begin >= throttled_end) return 0;
  return throttled_end - (begin > throttled_begin ? begin : throttled_begin);
}

// Stores the wait up to now. Returns false if it ended meanwhile and was counted as a whole. This is exact, except for
// a wait that ends in the same few nanoseconds.
static __always_inline bool keep_visit(struct thread_wait* wait, __u64 charged, __u64 key,
                                       const struct thread_visit* visit) {
  wait->visits[key & 1] = *visit;
  asm volatile("" ::: "memory");
  *(volatile __u64*)&wait->visit_key = key;
  if (*(volatile __u64*)&wait->charged_ns == charged) return true;
  return *(volatile __u64*)&wait->taken_key == key;
}

// Visits a wait without the lock of the run queue. The thread may get a CPU at any time.
static __always_inline void visit_waiting(struct task_struct* task, struct thread_wait* wait, __u64 queued) {
  const struct cfs_rq* queue = task->se.cfs_rq;
  __u64 now = queue->rq->clock;
  __u32 number = queue->rq->cpu;
  __u64 charged = *(volatile __u64*)&wait->charged_ns, key = wait->visit_key;
  struct thread_visit visit = {charged, wait->left_ns, wait->throttled_ns, wait->waited_ns, wait->cpu};
  __u64 counted = wait->counted_ns, moved = wait->moved_ns;
  if (key >> 1 == charged + 1) {
    visit = wait->visits[key & 1];
    counted = visit.waited_ns;
    moved = 0;
  }
  __u64 run_delay = task->sched_info.run_delay + (now > queued ? now - queued : 0);
  if (run_delay <= visit.charged_ns || now <= visit.at_ns) return;
  __u64 waited = run_delay - visit.charged_ns;
  if (visit.at_ns && waited > now - visit.at_ns) waited = now - visit.at_ns;
  __u32 victim = slot_of_thread(task);
  __u64 throttled_time = throttled_time_of(queue);
  __u64 throttled = throttled_until_now(&visit, victim, throttled_time, now - waited, now, number);
  if (throttled + BLAME_LONG_NS > waited) return;
  __u64 here = waited - throttled;
  visit.charged_ns = run_delay;
  visit.at_ns = now;
  visit.throttled_ns = throttled_time;
  visit.waited_ns += here;
  visit.cpu = number + 1;
  if (!keep_visit(wait, charged, (charged + 1) << 1 | (~key & 1), &visit)) return;
  struct blame_slot* slot = bpf_map_lookup_elem(&blame_slots, &victim);
  if (slot) add_wait(slot, counted, visit.waited_ns, throttled, true);
  struct blame_cpu* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (cpu) blame(cpu, number, victim, now - here, now);
  if (moved) charge(victim, BLAME_MOVED, moved);
}

// User space runs it before it reads.
SEC("iter/task")
int for_each_waiting_thread(struct bpf_iter__task* context) {
  struct task_struct* task = context->task;
  if (!task || !task->pid || task->flags & PF_KTHREAD) return 0;
  __u64 queued = task->sched_info.last_queued;
  if (!queued || is_throttled(task->se.cfs_rq)) return 0;
  struct thread_wait* wait = bpf_task_storage_get(&threads, task, 0, 0);
  if (wait) visit_waiting(task, wait, queued);
  return 0;
}
