// SPDX-License-Identifier: Apache-2.0
// The cgroups that occupied a CPU while threads waited for it: exact, from what the scheduler did. When a thread comes
// to a CPU after a long wait, the cgroups that ran there in that time are charged with it, in a matrix of (victim,
// culprit).
//
// A thread that is moved while it waits is charged on the CPU that it leaves. A wait that lasts is charged each time
// when user space reads, up to that time: one of three seconds is in each of three windows of a second. All times are
// of the run queue's clock, which stands still in the scheduler, so that they add up to the nanosecond.
#include "cpu_threads.bpf.h"
#include "throttled_waits.bpf.h"

#include "cpu_blame.h"
#include "cpu_history.bpf.h"

char program_license[] SEC("license") = "Dual BSD/GPL";

#define PF_KTHREAD 0x00200000
#define ON_RQ_MIGRATING 2

// A wait at the time when user space visited it: it goes on from here.
struct thread_visit {
  __u64 charged_ns, at_ns, throttled_ns, waited_ns, cpu;  // as in thread_wait; at_ns: left_ns
};

// State of a thread between its events.
struct thread_wait {
  __u64 charged_ns;    // its run delay when it was last charged
  __u64 left_ns;       // when it left a CPU
  __u64 throttled_ns;  // the throttled time of its run queue then
  __u64 waited_ns;     // of the wait that lasts: on CPUs that it was moved away from
  __u64 moved_ns;      // the part of that which is in no pair yet
  __u64 cpu;           // 1 + the CPU that it left; 0: it was moved since
  __u64 counted_ns;    // the part of waited_ns that is in the slot's figures
  // The last visit: (1 + charged_ns of the wait) << 1 | its index in `visits`. It holds as long as charged_ns is the
  // same.
  __u64 visit_key;
  __u64 taken_key;  // of the visit from which a wait went on
  struct thread_visit visits[2];
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct thread_wait);
} threads SEC(".maps");

// By the CPU's number: a thread may be moved by another CPU, which holds the lock of the run queue then.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);  // CPUs, set before loading
  __type(key, __u32);
  __type(value, struct blame_cpu);
} cpus SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);  // slots, set before loading
  __type(key, __u32);
  __type(value, struct blame_slot);
} blame_slots SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 1);  // pairs, set before loading
  __type(key, __u32);
  __type(value, __u64);
} matrix SEC(".maps");

// The time for which the matrix had no place.
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} unplaced SEC(".maps");

static __always_inline void count_unplaced(__u64 ns) {
  __u32 zero = 0;
  __u64* sum = bpf_map_lookup_elem(&unplaced, &zero);
  if (sum) __sync_fetch_and_add(sum, ns);
}

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

// ---- blame

// Functions that the verifier proves once, and not at each call: that takes them plain numbers.

__noinline int charge(__u32 victim, __u32 culprit, __u64 ns) {
  __u32 key = victim << BLAME_SLOT_BITS | culprit;
  __u64* pair = bpf_map_lookup_elem(&matrix, &key);
  if (!pair) {
    if (!bpf_map_update_elem(&matrix, &key, &ns, BPF_NOEXIST)) return 0;
    pair = bpf_map_lookup_elem(&matrix, &key);  // another CPU was faster, or there is no place
  }
  if (pair)
    __sync_fetch_and_add(pair, ns);
  else
    count_unplaced(ns);
  return 0;
}

// The cgroup that ran from `begin_ns` to the end of the wait. Returns where the rest of the wait ends.
__noinline __u64 blame_segment(__u32 victim, __u32 culprit, __u64 begin_ns, __u64 from_ns, __u64 to_ns) {
  __u64 begin = begin_ns > from_ns ? begin_ns : from_ns;
  if (begin >= to_ns) return to_ns;
  charge(victim, culprit, to_ns - begin);
  return begin;
}

// Those of one epoch, the newest first, each with the part that lies in the wait. Returns where the rest of the wait
// ends.
__noinline __u64 blame_epoch(__u32 number, __u32 age, __u32 victim, __u64 from_ns, __u64 to_ns) {
  const struct blame_cpu* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return from_ns;
  const struct blame_epoch* epoch = &cpu->epochs[(cpu->n_epochs - 1 - age) % BLAME_EPOCHS];
  if (age >= BLAME_EPOCHS)
    epoch = &cpu->long_epochs[(cpu->n_long_epochs - 1 - (age - BLAME_EPOCHS)) % BLAME_LONG_EPOCHS];
  __u64 begin = epoch->begin_ns > from_ns ? epoch->begin_ns : from_ns;
  if (begin >= to_ns) return to_ns;
  // In µs, so that a product of two times is less than 2^64.
  __u64 length_us = (to_ns - epoch->begin_ns) / 1000 + 1, part_us = (to_ns - begin) / 1000;
  __u64 rest = to_ns - begin;
  for (__u32 i = 0; i < BLAME_EPOCH_SLOTS; ++i) {
    __u64 ns = epoch->ns[i];
    if (begin != epoch->begin_ns) ns = ns / 1000 * part_us / length_us * 1000;
    if (ns > rest) ns = rest;
    if (!ns) continue;
    charge(victim, epoch->slots[i], ns);
    rest -= ns;
  }
  if (rest) charge(victim, BLAME_UNKNOWN, rest);
  return begin;
}

// Those who ran on a CPU between two times are charged with the wait of the victim.
static __noinline int blame(const struct blame_cpu* cpu, __u32 number, __u32 victim, __u64 from_ns, __u64 to_ns) {
  to_ns = blame_segment(victim, cpu->current.slot, cpu->current.begin_ns, from_ns, to_ns);
  for (__u32 i = 0; i < BLAME_SEGMENTS && i < cpu->n_segments && to_ns > from_ns; ++i) {
    const struct blame_segment* segment = &cpu->segments[(cpu->n_segments - 1 - i) % BLAME_SEGMENTS];
    to_ns = blame_segment(victim, segment->slot, segment->begin_ns, from_ns, to_ns);
  }
  for (__u32 age = 0; age < BLAME_EPOCHS + BLAME_LONG_EPOCHS && to_ns > from_ns; ++age) {
    if (age < BLAME_EPOCHS ? age >= cpu->n_epochs : age - BLAME_EPOCHS >= cpu->n_long_epochs) break;
    to_ns = blame_epoch(number, age, victim, from_ns, to_ns);
  }
  if (to_ns > from_ns) charge(victim, BLAME_UNKNOWN, to_ns - from_ns);
  return 0;
}

// ---- waits

// A visit runs in a thread, which the scheduler may interrupt to change the same values.
static __always_inline void add_to(__u64* sum, __u64 ns, bool is_visit) {
  if (is_visit)
    __sync_fetch_and_add(sum, ns);
  else
    *sum += ns;
}

// The figures of a wait that grew from `counted` to `waited`.
static __always_inline void add_wait(struct blame_slot* slot, __u64 counted, __u64 waited, __u64 throttled,
                                     bool is_visit) {
  add_to(&slot->wait_ns, waited - counted, is_visit);
  add_to(&slot->throttled_ns, throttled, is_visit);
  if (waited >= BLAME_LONG_NS) add_to(&slot->long_ns, waited - counted, is_visit);
  for (int level = 0; level < BLAME_LEVELS; ++level) {
    __u64 most = (__u64)BLAME_FIRST_LEVEL_NS << level;
    if (waited <= most) break;
    add_to(&slot->excess_ns[level], waited - (counted > most ? counted : most), is_visit);
  }
}

// A wait that was visited goes on from there.
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

static __always_inline void end_wait(struct blame_cpu* cpu, __u32 number, struct task_struct* next, __u32 victim,
                                     __u64 now) {
  struct thread_wait* wait = bpf_task_storage_get(&threads, next, 0, 0);
  struct blame_slot* slot = bpf_map_lookup_elem(&blame_slots, &victim);
  if (!wait || !slot) {
    if (!wait) count_lost_begin();
    return;
  }
  continue_from_visit(wait);
  __u64 run_delay = next->sched_info.run_delay + delay_until(next, now);
  __u64 waited = run_delay - wait->charged_ns;
  wait->charged_ns = run_delay;
  // Time that the kernel counted while the thread's storage was out of reach belongs to another wait.
  if (wait->left_ns && waited > now - wait->left_ns) waited = now - wait->left_ns;
  if (!waited && !wait->waited_ns) return;
  __u64 throttled_time = throttled_time_of(next->se.cfs_rq);
  __u64 throttled = throttled_part(&slot->throttled, throttled_time, now - waited, now);
  // It waits since it left the CPU: all throttled times since then lie in the wait.
  if (wait->cpu == number + 1 && now - waited <= wait->left_ns) throttled = throttled_time - wait->throttled_ns;
  if (throttled > waited) throttled = waited;
  __u64 here = waited - throttled;
  __u64 all = here + wait->waited_ns;
  slot->waits++;
  add_wait(slot, wait->counted_ns, all, throttled, false);
  if (all >= BLAME_LONG_NS) {
    if (here) blame(cpu, number, victim, now - here, now);
    if (wait->moved_ns) charge(victim, BLAME_MOVED, wait->moved_ns);
  }
  wait->waited_ns = wait->moved_ns = wait->counted_ns = 0;
}

// A thread that waits since it left the CPU. One that sleeps waits from a later time on.
static __always_inline void begin_wait(struct task_struct* prev, __u32 number, __u64 now) {
  struct thread_wait* wait = bpf_task_storage_get(&threads, prev, 0, 0);
  if (!wait) return;
  wait->left_ns = now;
  wait->throttled_ns = throttled_time_of(prev->se.cfs_rq);
  wait->cpu = number + 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(blame_on_switch, bool preempt, struct task_struct* prev, struct task_struct* next) {
  __u64 now = next->se.cfs_rq->rq->clock;
  __u32 number = bpf_get_smp_processor_id();
  struct blame_cpu* cpu = bpf_map_lookup_elem(&cpus, &number);
  if (!cpu) return 0;
  __u32 next_slot = slot_of_thread(next);
  if (!cpu->switched_ns) {
    cpu->current.begin_ns = now;
    cpu->current.slot = BLAME_UNKNOWN;
  } else {
    __u32 slot_index = cpu->current.slot;
    struct blame_slot* slot = bpf_map_lookup_elem(&blame_slots, &slot_index);
    if (slot) {
      slot->run_ns += now - cpu->switched_ns;
      slot->throttled.left_ns = now;
    }
    if (slot_index < BLAME_MAX_SLOTS && (preempt || is_runnable(prev))) begin_wait(prev, number, now);
  }
  cpu->switched_ns = now;
  if (next_slot < BLAME_MAX_SLOTS) end_wait(cpu, number, next, next_slot, now);
  if (next_slot == cpu->current.slot) return 0;
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
  __u64 run_delay = task->sched_info.run_delay;  // the kernel has added the wait until now
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

// The throttled part of a wait that lasts, on its CPU; all of it where that is unknown.
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

// Stores the wait up to now. Returns false if it ended meanwhile, and was counted as a whole. That is exact but for a
// wait that ends in the same few nanoseconds.
static __always_inline bool keep_visit(struct thread_wait* wait, __u64 charged, __u64 key,
                                       const struct thread_visit* visit) {
  wait->visits[key & 1] = *visit;
  asm volatile("" ::: "memory");
  *(volatile __u64*)&wait->visit_key = key;
  if (*(volatile __u64*)&wait->charged_ns == charged) return true;
  return *(volatile __u64*)&wait->taken_key == key;
}

// Without the lock of the run queue: the thread may come to a CPU at any time.
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

// Run by user space before it reads.
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
