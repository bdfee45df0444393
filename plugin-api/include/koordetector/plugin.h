/* SPDX-License-Identifier: Apache-2.0 */
/* clang-format off */
/*
 * The Koordetector plugin ABI, version 1.
 *
 * A plugin is a shared object with one exported function, koord_entry_v1(), and one ELF section,
 * ".koord_manifest", that says in plain text what the plugin is and needs. The host reads the section from the
 * file and decides; only then it maps the file. The same .so runs inside the host or in a supervised child
 * process without being rebuilt: it links to nothing of the host.
 *
 * THE LAW
 *  - Layout. Every table and every growable record begins with its own struct_size. Members are appended, never
 *    moved, retyped or given another meaning. Ask KOORD_HAS() before using a function of a host table that came
 *    after revision /1 was published. Compare the struct_size of a host's record with the end of a newer member
 *    before reading it, and never copy the whole record: on an older host it is shorter. Records marked
 *    "frozen" never change.
 *  - Versions. "Since 1.1" marks additions after 1.0; CHANGELOG.md beside the README lists them. A minor
 *    version only adds, and no host refuses a plugin because of its minor: `requires` of the manifest
 *    decides (but for a manifest with two gates, which a host of 1.0 refuses). On an older host KOORD_HAS() of a
 *    newer function is 0, and a record with newer members that are not all zero is refused with KOORD_E_TOO_NEW.
 *    A newer host takes a record of an older plugin and reads the missing members as zero.
 *  - Arrays travel as (pointer, count, stride in bytes): step by the stride, never by sizeof.
 *  - Text in is UTF-8 {pointer, length}, not terminated, borrowed for the call. Keep a copy, never the pointer.
 *  - Text or arrays out go to the caller's buffer: (buf, cap, &need). The host stores in *need what the whole
 *    answer takes; KOORD_E_TOO_SMALL says that cap was less, and then nothing was written.
 *  - Memory never changes hands: nothing allocated on one side is freed on the other.
 *  - Times are uint64_t nanoseconds of *host time*: it never steps, includes suspend, starts near the Unix epoch's
 *    count and goes on across restarts of the host. Compute intervals with it. Wall time is for labels only.
 *  - Errors. Return a koord_status; call host->set_error() just before to say why. The host adds plugin, call and
 *    duration. No exception, panic or longjmp may leave a plugin function (plugin.hpp guards this for C++).
 *  - Threads. Each function says where it is called:
 *      [control]     one host thread at a time, before or after all ticks
 *      [strand]      serial for one instance, but on any OS thread: no thread-locals
 *      [own thread]  a thread that belongs to this instance alone
 *      [in-call]     only while the host is inside one of the plugin's functions, on that thread
 *      [any]         any thread, at any time between create() and the return of destroy()
 *    Host services are [any] unless marked otherwise.
 */
#ifndef KOORDETECTOR_PLUGIN_H
#define KOORDETECTOR_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define KOORD_ASSERT_(condition) static_assert(condition, #condition)
#else
#define KOORD_ASSERT_(condition) _Static_assert(condition, #condition)
#endif

#define KOORD_EXPORT __attribute__((visibility("default")))

/* The major is also in the entry's name: another major is another symbol. A minor only adds. */
#define KOORD_ABI_MAJOR 1u
#define KOORD_ABI_MINOR 1u
/* Both as text, for the manifest: "abi=" KOORD_ABI_TEXT "\n". Since 1.1. */
#define KOORD_ABI_TEXT "1.1"

/* Does this table, made by whatever version of the other side, have this member, and is it set? */
#define KOORD_HAS(table, member)                                                                             \
  ((table) && (table)->struct_size >= offsetof(__typeof__(*(table)), member) + sizeof((table)->member) &&     \
   (table)->member)

/* ---- status ---------------------------------------------------------------------------------------------- */

typedef int32_t koord_status;
#define KOORD_OK 0
#define KOORD_E_INVALID (-1)     /* an argument is wrong; the text says which and what was expected */
#define KOORD_E_UNSUPPORTED (-2) /* this node, kernel or host cannot do it; from init(): a capability is absent */
#define KOORD_E_AGAIN (-3)       /* not now: a queue is full, a budget is spent, a state is not known yet */
#define KOORD_E_DEADLINE (-4)    /* the deadline passed */
/* A record has members that this host does not know, and they are not all zero. Nothing of the call was done. Set them
 * to zero to do without, or name the version that the plugin needs in its documentation. */
#define KOORD_E_TOO_NEW (-5)
#define KOORD_E_DENIED (-6)      /* not granted to this plugin */
#define KOORD_E_NOMEM (-7)
#define KOORD_E_PANIC (-8)       /* an exception or a panic was caught at the ABI boundary */
#define KOORD_E_GONE (-9)        /* the cgroup, pod or series has ended; drop it, this is ordinary */
#define KOORD_E_NOT_FOUND (-10)
#define KOORD_E_TOO_SMALL (-11) /* the caller's buffer is; *need is the size */
#define KOORD_E_IO (-12)

/* ---- the frozen core ------------------------------------------------------------------------------------- */

/* UTF-8, borrowed for the call. Frozen. */
typedef struct koord_str {
  const char *p;
  uint64_t n;
} koord_str;

/* Frozen. */
typedef struct koord_label {
  koord_str key, value;
} koord_label;

#define KOORD_LOG_DEBUG 0
#define KOORD_LOG_INFO 1
#define KOORD_LOG_WARN 2
#define KOORD_LOG_ERROR 3

/* The access of an instance to its host, valid as long as the instance. Frozen: everything else is a service. */
typedef struct koord_host {
  uint32_t struct_size;
  uint16_t abi_major, abi_minor;
  void *impl;

  /* A table named "name/revision", or NULL: not offered by this host, or not granted to this plugin. Ask once, in
   * init(), and keep the pointer: it is valid until destroy() returns. [any] */
  const void *(*get_service)(const struct koord_host *host, const char *id);

  /* One line, level KOORD_LOG_*. The host adds the plugin's id and limits the rate. Never waits for a disk; in a process of
   * its own it waits, as every call does, while another thread's call is under way or the plugin's CPU limit is used up. [any] */
  void (*log)(const struct koord_host *host, int32_t level, koord_str message);

  /* Why the status about to be returned is what it is. [in-call] */
  void (*set_error)(const struct koord_host *host, koord_status status, koord_str why);
} koord_host;

/* How an instance's own thread learns that it is to end. Frozen. */
typedef struct koord_stop {
  uint32_t struct_size;
  int32_t fd; /* becomes readable on stop; for poll(2). Do not read or close it. */
  void *impl;
  int32_t (*wait)(const struct koord_stop *stop, uint64_t timeout_ns); /* 1 = stop now, 0 = time is up */
} koord_stop;

/* ---- koord.metrics/1: one path for every value ------------------------------------------------------------
 * A value that is appended goes to /metrics at once and to the metric cache (history, aggregates). Define and
 * intern once; per tick append one batch. The host adds node, pod and container labels from the subject.
 *
 * The time of a batch has a resolution of 1 ms in the cache and must not be before an earlier batch of any of its
 * metrics: such a batch shows in /metrics and is missing in the cache. So give each metric to one thread. A time in the
 * future is KOORD_E_INVALID. */

#define KOORD_GAUGE 1u
#define KOORD_COUNTER 2u   /* only grows; appended as the running total */
#define KOORD_HISTOGRAM 3u /* appended with append_histograms() as running totals */

#define KOORD_METRIC_EXPORT 1u /* flag: also on /metrics, as koordetector_<name> */

#define KOORD_NO_SUBJECT 0u /* a series of the node, or of what its labels say */

typedef struct koord_metric_desc {
  uint32_t struct_size, type; /* KOORD_GAUGE … */
  uint32_t flags, n_bounds;
  koord_str name;       /* [a-zA-Z_][a-zA-Z0-9_]*, unit in the name as Prometheus has it: "acme_wait_seconds" */
  koord_str unit, help; /* "seconds", "bytes", "cores", …; one sentence for HELP */
  double resolution;    /* the smallest step worth keeping, in `unit`, > 0: history keeps round(value / resolution) */
  const double *bounds; /* KOORD_HISTOGRAM: n_bounds upper bounds, ascending, without +Inf */
} koord_metric_desc;

/* Frozen. NaN: no value this time. */
typedef struct koord_point {
  uint64_t series;
  double value;
} koord_point;

/* Frozen. */
typedef struct koord_histogram {
  uint64_t series;
  const uint64_t *cumulative; /* n_bounds + 1 counts, each including those before; the last is the count of all */
  uint32_t n, rsv;
  double sum;
} koord_histogram;

#define KOORD_AGG_LAST 1u
#define KOORD_AGG_AVG 2u
#define KOORD_AGG_MIN 3u
#define KOORD_AGG_MAX 4u
#define KOORD_AGG_COUNT 5u
#define KOORD_AGG_P50 6u /* sorted ascending, the value at floor(n * p) - 1, at least 0: koordlet's rule */
#define KOORD_AGG_P90 7u
#define KOORD_AGG_P95 8u
#define KOORD_AGG_P99 9u

typedef struct koord_query {
  uint32_t struct_size, aggregation; /* KOORD_AGG_*; ignored by samples() */
  koord_str metric;
  uint64_t from_ns, to_ns;   /* host time, inclusive; to_ns 0 = now */
  uint64_t subject;          /* KOORD_NO_SUBJECT = every subject */
  const koord_label *labels; /* all must be equal; none = every series of the metric */
  uint32_t n_labels, label_stride;
} koord_query;

/* One row a series. A series without a sample in the window has no row: absence is never 0. Frozen. */
typedef struct koord_agg_row {
  uint64_t subject, series; /* series 0: the series has ended, its history is still here */
  double value;
  uint64_t count;          /* samples in the window */
  uint64_t from_ns, to_ns; /* the time range that the samples cover */
} koord_agg_row;

/* Frozen. */
typedef struct koord_sample {
  uint64_t t_ns, series;
  double value;
} koord_sample;

typedef struct koord_svc_metrics { /* "koord.metrics/1" */
  uint32_t struct_size, rsv;

  /* Same name and description again: same metric. A name that another plugin defined: KOORD_E_INVALID. */
  koord_status (*define)(const koord_host *host, const koord_metric_desc *desc, uint32_t *metric);

  /* The series of `metric` for this subject (a handle from koord.state/1, or KOORD_NO_SUBJECT) and these labels.
   * Idempotent. The host ends it when the subject ends. Beyond the plugin's series budget all further ones
   * become one series with the label values "other", and a counter says how many. KOORD_E_GONE: the subject has ended. */
  koord_status (*series)(const koord_host *host, uint32_t metric, uint64_t subject, const koord_label *labels,
                         uint32_t n, uint32_t stride, uint64_t *series);
  koord_status (*end_series)(const koord_host *host, uint64_t series);

  /* A batch of one moment: all or nothing. Points of ended series are skipped and counted, not an error. */
  koord_status (*append)(const koord_host *host, uint64_t t_ns, const koord_point *points, uint32_t n,
                         uint32_t stride);
  /* The same from two parallel arrays. */
  koord_status (*append_columns)(const koord_host *host, uint64_t t_ns, const uint64_t *series,
                                 const double *values, uint32_t n);
  koord_status (*append_histograms)(const koord_host *host, uint64_t t_ns, const koord_histogram *histograms,
                                    uint32_t n, uint32_t stride);

  /* One answer for every subject of a metric, of any plugin: ask once, not once a pod. */
  koord_status (*aggregate)(const koord_host *host, const koord_query *query, koord_agg_row *rows, uint32_t cap,
                            uint32_t stride, uint32_t *need);
  koord_status (*samples)(const koord_host *host, const koord_query *query, koord_sample *out, uint32_t cap,
                          uint32_t stride, uint32_t *need);
} koord_svc_metrics;

/* ---- koord.state/1: the node, its pods, NodeSLO and topology, as immutable snapshots ----------------------- */

/* Parts of the state: bits for subscribe() and on_event(), and one of them for version(). */
#define KOORD_ON_NODE 1u
#define KOORD_ON_PODS 2u
#define KOORD_ON_NODE_SLO 4u
#define KOORD_ON_TOPOLOGY 8u
#define KOORD_ON_CONFIG 16u /* on_event() only: this instance's configuration changed */
/* Since 1.1. on_event() only, for those that subscribe() of koord.verdict/1 named; the version is the generation. */
#define KOORD_ON_VERDICTS 32u

#define KOORD_QOS_NONE 0u /* neither a label koordinator.sh/qosClass nor a Kubernetes class to go by */
#define KOORD_QOS_LSE 1u
#define KOORD_QOS_LSR 2u
#define KOORD_QOS_LS 3u
#define KOORD_QOS_BE 4u
#define KOORD_QOS_SYSTEM 5u

#define KOORD_KUBE_QOS_UNKNOWN 0u
#define KOORD_KUBE_QOS_GUARANTEED 1u
#define KOORD_KUBE_QOS_BURSTABLE 2u
#define KOORD_KUBE_QOS_BEST_EFFORT 3u

#define KOORD_PRIORITY_NONE 0u
#define KOORD_PRIORITY_PROD 1u
#define KOORD_PRIORITY_MID 2u
#define KOORD_PRIORITY_BATCH 3u
#define KOORD_PRIORITY_FREE 4u

#define KOORD_PHASE_UNKNOWN 0u
#define KOORD_PHASE_PENDING 1u
#define KOORD_PHASE_RUNNING 2u
#define KOORD_PHASE_SUCCEEDED 3u
#define KOORD_PHASE_FAILED 4u

#define KOORD_CONTAINER_REGULAR 0u
#define KOORD_CONTAINER_INIT 1u
#define KOORD_CONTAINER_SIDECAR 2u /* a restartable init container */
#define KOORD_CONTAINER_EPHEMERAL 3u
#define KOORD_CONTAINER_SANDBOX 4u
#define KOORD_CONTAINER_SERVICE 5u /* outside any pod: a systemd service */
#define KOORD_CONTAINER_CGROUP 6u  /* outside any pod: some other cgroup that was asked for */

#define KOORD_CONTAINER_UNKNOWN 0u
#define KOORD_CONTAINER_WAITING 1u
#define KOORD_CONTAINER_RUNNING 2u
#define KOORD_CONTAINER_TERMINATED 3u

#define KOORD_ABSENT INT64_MIN /* a quantity that was not given; a key that this kernel does not have */

typedef struct koord_snapshot koord_snapshot; /* opaque, immutable, counted by the host */

typedef struct koord_resource {
  uint32_t struct_size, rsv;
  koord_str name;         /* "cpu", "memory", "kubernetes.io/batch-cpu", … */
  int64_t request, limit; /* milli-units for CPU kinds, bytes for memory kinds, else as is; or KOORD_ABSENT */
} koord_resource;

typedef struct koord_container {
  uint32_t struct_size, kind; /* KOORD_CONTAINER_REGULAR … */
  uint32_t state, n_resources;
  uint64_t handle;           /* the subject of its series */
  koord_str id, name;        /* id with its scheme: "containerd://<hex>" */
  koord_str cgroup_dir;      /* relative to the hierarchy's root, no leading slash; empty: not known yet, never the root */
  const koord_resource *resources;
  uint32_t resource_stride, rsv;
} koord_container;

typedef struct koord_pod {
  uint32_t struct_size, phase;
  uint64_t handle; /* the subject of its series */
  koord_str uid, ns, name, cgroup_dir;
  uint32_t qos, kube_qos; /* KOORD_QOS_*, KOORD_KUBE_QOS_* */
  int32_t priority;       /* spec.priority */
  uint32_t priority_class; /* KOORD_PRIORITY_* */
  int64_t start_time_ns;  /* wall time, or KOORD_ABSENT */
  koord_str owner_kind, owner_name;
  const koord_label *labels, *annotations;
  const koord_resource *resources; /* sums over the containers */
  const koord_container *containers;
  uint32_t n_labels, n_annotations, n_resources, n_containers;
  uint32_t label_stride, resource_stride, container_stride, rsv;
} koord_pod;

typedef struct koord_node {
  uint32_t struct_size, rsv;
  koord_str name;
  const koord_label *labels, *annotations;
  const koord_resource *resources; /* request = allocatable, limit = capacity */
  uint32_t n_labels, n_annotations, n_resources;
  uint32_t label_stride, resource_stride, rsv2;
  /* Since 1.1: the amounts of the annotation node.koordinator.sh/reservation, in units of koord_resource, or KOORD_ABSENT. CPUs
   * that it names one by one count 1000 each. Which CPUs they are: KOORD_CPU_RESERVED. */
  int64_t reserved_cpu, reserved_memory;
} koord_node;

/* Flags of a CPU. All but KOORD_CPU_ONLINE change with the node's annotations and with its pods: then the topology has a new
 * version. Since 1.1, but for KOORD_CPU_ONLINE. */
#define KOORD_CPU_ONLINE 1u
#define KOORD_CPU_RESERVED 2u /* by the node's reservation: named there, or picked for its amount */
#define KOORD_CPU_SYSTEM 4u   /* for pods of the class SYSTEM alone */
#define KOORD_CPU_LSE 8u      /* given by the scheduler to a pod of the class LSE */
#define KOORD_CPU_LSR 16u     /* … of the class LSR */
#define KOORD_CPU_PINNED 32u  /* … of another class */

/* Frozen. Ids from the kernel's sysfs; UINT32_MAX: unknown. */
typedef struct koord_cpu {
  uint32_t cpu, core, socket, numa_node, l3, flags;
} koord_cpu;

/* Frozen. */
typedef struct koord_numa_node {
  uint32_t id, rsv;
  uint64_t memory_bytes;
} koord_numa_node;

typedef struct koord_topology {
  uint32_t struct_size, rsv;
  const koord_cpu *cpus;
  const koord_numa_node *numa_nodes;
  uint32_t n_cpus, cpu_stride, n_numa_nodes, numa_node_stride;
} koord_topology;

typedef struct koord_svc_state { /* "koord.state/1" */
  uint32_t struct_size, rsv;

  /* The newest snapshot. KOORD_E_AGAIN: nothing is known yet, which is not "no pods". */
  koord_status (*acquire)(const koord_host *host, const koord_snapshot **snapshot);
  void (*release)(const koord_host *host, const koord_snapshot *snapshot);

  /* Functions of an acquired snapshot; all their results are valid until release. */
  /* 0: this part is not known yet. Ask for KOORD_ON_PODS before taking "no pods" for an answer: pods() has none until then. */
  uint64_t (*version)(const koord_snapshot *snapshot, uint32_t part);
  const koord_node *(*node)(const koord_snapshot *snapshot); /* NULL: not known yet */
  const koord_pod *(*pods)(const koord_snapshot *snapshot, uint32_t *n, uint32_t *stride);
  /* Containers outside any pod: docker, podman, systemd services, cgroups named in the configuration. */
  const koord_container *(*containers)(const koord_snapshot *snapshot, uint32_t *n, uint32_t *stride);
  const koord_topology *(*topology)(const koord_snapshot *snapshot); /* NULL: not known yet */
  /* The merged NodeSLO's spec as JSON; parse it once a version. Empty if missing. */
  koord_str (*node_slo)(const koord_snapshot *snapshot);

  /* Call on_event() when one of these parts has changed; replaces what was asked before. */
  koord_status (*subscribe)(const koord_host *host, uint32_t parts);

  /* Since 1.1. The ids of all processes in the cgroup of a pod or container and in the cgroups below it, ascending, each
   * once, as the node's PID namespace numbers them: for KOORD_ROOT_PROC. `subject` is a handle from the newest snapshot.
   * Stores the count in *need; KOORD_E_TOO_SMALL: `cap` was less, and nothing was written. Processes come and go: ask
   * again with room to spare, and take a process that is missing in proc as ended.
   * KOORD_E_INVALID: KOORD_NO_SUBJECT. KOORD_E_GONE: the subject or its cgroup has ended. KOORD_E_AGAIN: its cgroup is not
   * known yet. KOORD_E_UNSUPPORTED: the agent is in a PID namespace of its own and cannot see the processes. [any] */
  koord_status (*processes)(const koord_host *host, uint64_t subject, int32_t *pids, uint32_t cap, uint32_t *need);
} koord_svc_state;

/* ---- koord.kv/1: facts that change rarely (CPU model, disk maps), with an expiry --------------------------- */

typedef struct koord_svc_kv { /* "koord.kv/1" */
  uint32_t struct_size, rsv;
  /* Any plugin's key may be read, as "<plugin id>/<key>"; an own key needs no prefix. */
  koord_status (*get)(const koord_host *host, koord_str key, void *buf, uint64_t cap, uint64_t *need);
  koord_status (*set)(const koord_host *host, koord_str key, const void *buf, uint64_t n, uint64_t ttl_ns);
  /* Since 1.1. Removes an own key; a key that does not exist is no error. */
  koord_status (*remove)(const koord_host *host, koord_str key);
} koord_svc_kv; /* set: ttl_ns 0 keeps the value until it is replaced or removed */

/* ---- koord.config/1: this instance's own part of the configuration ----------------------------------------- */

typedef struct koord_svc_config { /* "koord.config/1" */
  uint32_t struct_size, rsv;
  koord_status (*json)(const koord_host *host, char *buf, uint64_t cap, uint64_t *need); /* "{}" when none */
  /* `pointer` as RFC 6901: "/limits/cpu". Not there: KOORD_E_NOT_FOUND; another type: KOORD_E_INVALID. */
  koord_status (*i64)(const koord_host *host, koord_str pointer, int64_t *value);
  koord_status (*f64)(const koord_host *host, koord_str pointer, double *value);
  koord_status (*boolean)(const koord_host *host, koord_str pointer, int32_t *value);
  koord_status (*string)(const koord_host *host, koord_str pointer, char *buf, uint64_t cap, uint64_t *need);
} koord_svc_config;

/* ---- koord.clock/1 ------------------------------------------------------------------------------------------ */

typedef struct koord_svc_clock { /* "koord.clock/1" */
  uint32_t struct_size, rsv;
  uint64_t (*now_ns)(const koord_host *host);  /* host time */
  uint64_t (*wall_ns)(const koord_host *host); /* Unix time; may step */
} koord_svc_clock;

/* ---- koord.fs/1: the node's trees, wherever they are mounted ------------------------------------------------ */

#define KOORD_ROOT_PROC 1u
#define KOORD_ROOT_SYS 2u
#define KOORD_ROOT_CGROUP 3u
#define KOORD_ROOT_RESCTRL 4u
#define KOORD_ROOT_RUN 5u

typedef struct koord_svc_fs { /* "koord.fs/1" */
  uint32_t struct_size, rsv;
  koord_status (*path)(const koord_host *host, uint32_t root, char *buf, uint64_t cap, uint64_t *need);
  /* The content of a regular file of at most 4 MiB below a root; `relative` may not leave it. KOORD_E_DENIED: the plugin
   * has no grant for it, the text says which; KOORD_E_INVALID: the name, no regular file, or more bytes;
   * KOORD_E_NOT_FOUND; KOORD_E_IO. */
  koord_status (*read)(const koord_host *host, uint32_t root, koord_str relative, char *buf, uint64_t cap,
                       uint64_t *need);
} koord_svc_fs;

/* ---- koord.cgroup/1: typed cgroup values, the same on v1 and v2 ---------------------------------------------
 * Logical files and their keys (core/cgroup/files.hpp is the table), units normalised:
 *   "cpu.usage"        usage_ns
 *   "cpu.stat"         nr_periods nr_throttled throttled_ns nr_bursts burst_ns
 *   "cpu.max"          quota_us (-1: none) period_us
 *   "memory.usage"     usage_bytes
 *   "memory.limit"     limit_bytes (-1: none)
 *   "memory.peak"      peak_bytes
 *   "memory.swap"      swap_bytes (subtree)
 *   "memory.events"    max oom_kill; v2 only: low high oom oom_group_kill; v1 only: under_oom. v2: events of the
 *                      subtree, v1: of this very cgroup, as "memory.events.local" with the same keys on both
 *   "memory.stat"      anon file inactive_anon active_anon inactive_file active_file unevictable … (bytes, subtree)
 *   "memory.numa_stat" "anon N0" "file N0" "unevictable N0", N1 …: the node's part of the LRU lists, the same on v1
 *                      and v2, shmem within anon; "N0": anonymous memory as the kernel's version counts it (bytes,
 *                      subtree)
 *   "pids.current"     pids
 *   "cpu.pressure" "memory.pressure" "io.pressure"   some_avg10 some_avg60 some_avg300 (hundredths of a percent)
 *                      some_total_us, full_… likewise; on v1 where the kernel or a unified tree has it
 * Since 1.1: nr_bursts, burst_ns, "memory.peak", "memory.swap", "memory.events", "memory.events.local", "memory.numa_stat",
 * "pids.current" and the averages of the pressure files; a host of 1.0 answers KOORD_E_INVALID.
 * Source of the v1/v2 equivalences: Documentation/admin-guide/cgroup-v1 and cgroup-v2.rst of the kernel. */

typedef struct koord_svc_cgroup { /* "koord.cgroup/1" */
  uint32_t struct_size, rsv;
  /* Keeps the file open. KOORD_E_GONE: no such cgroup; KOORD_E_UNSUPPORTED: this kernel has no such file;
   * KOORD_E_INVALID: no such logical file or key. */
  koord_status (*open)(const koord_host *host, koord_str cgroup_dir, koord_str file, const koord_str *keys,
                       uint32_t n_keys, uint64_t *handle);
  /* Values in the order of the keys, KOORD_ABSENT for a key this kernel lacks. *read_ns: when they were read (may be
   * NULL): rates are over this time. One read of a kernel's file serves all plugins that ask within half a second, but
   * no handle gets the same read twice. Exceptions are "memory.stat" and "memory.numa_stat" (and on v1 also
   * "memory.swap", which comes out of them): they are read every 5 s or as configured, and repeat values and *read_ns
   * in between; "memory.usage" is read each time. KOORD_E_GONE: close the handle, the cgroup has ended. KOORD_E_AGAIN,
   * of open as well: another plugin's read of this file does not return. KOORD_E_INVALID: `n` is not the number of
   * keys. */
  koord_status (*read)(const koord_host *host, uint64_t handle, int64_t *values, uint32_t n, uint64_t *read_ns);
  void (*close)(const koord_host *host, uint64_t handle);
} koord_svc_cgroup;

/* ---- koord.capabilities/1: abilities of this node ----------------------------------------------------------- */

#define KOORD_CAPABILITY_SUPPORTED 1u
#define KOORD_CAPABILITY_ABSENT 2u /* the node does not have it; reported once, not an error */
#define KOORD_CAPABILITY_BROKEN 3u /* it should work and does not */

typedef struct koord_svc_capabilities { /* "koord.capabilities/1" */
  uint32_t struct_size, rsv;
  /* State of one of the host's capabilities ("bpf", "btf", "psi", …; `koordctl capabilities` lists them)
   * or of one that a plugin reported. */
  koord_status (*get)(const koord_host *host, koord_str name, uint32_t *state);
  /* Reports how this plugin does on this node, shown to operators beside the plugin's name. A third-party plugin reports
   * under its id or under names that begin with "ID/", such as "com.acme.x/nvml"; KOORD_E_DENIED: any other name. */
  koord_status (*report)(const koord_host *host, koord_str name, uint32_t state, koord_str detail);
} koord_svc_capabilities;

/* ---- koord.knobs/1, koord.evict/1, koord.audit/1: requests of strategies ------------------------------------ */

#define KOORD_LEVEL_QOS 0u
#define KOORD_LEVEL_POD 1u
#define KOORD_LEVEL_CONTAINER 2u
#define KOORD_LEVEL_NODE 3u /* since 1.1: a knob of the whole node: cgroup_dir is empty, or the name of a resctrl group */

/* Since 1.1. The part that an intent has in a knob's value. The host composes:
 *   value = base x all scales, at most the strictest cap, at least the largest floor; a cap beats a floor.
 * SET replaces the base and the scales of its own priority and below; caps and floors bind all the same. KNOBS.md beside the
 * README says which roles a knob takes. A host of 1.0 knows no roles: it takes KOORD_ROLE_SET, which is 0, and refuses a plan
 * with any other role with KOORD_E_TOO_NEW. */
#define KOORD_ROLE_SET 0u   /* the whole value; what intents without a role mean */
#define KOORD_ROLE_BASE 1u  /* the value before scales; without one the host takes that of the pod's spec, else the original */
#define KOORD_ROLE_SCALE 2u /* a factor, "1.5": above 0, at most 1000; for knobs that are one amount (cpu.max, memory.max, …) */
#define KOORD_ROLE_CAP 3u   /* at most this; of a CPU set: only these CPUs */
#define KOORD_ROLE_FLOOR 4u /* at least this */

/* An intent: this value, or this part of a value, for this knob of this cgroup. The host arbitrates, writes, verifies and
 * reverts. One SET wins per knob: the one of the highest priority; among equals the strictest, which is the value that
 * leaves the cgroup less, or for memory.min, memory.low, cpu.idle and memory.oom.group the larger one. */
typedef struct koord_intent {
  uint32_t struct_size, level;
  koord_str knob;             /* logical name, that of cgroup v2 (or "cpu.shares"): "cpu.max", "memory.high", …: KNOBS.md */
  koord_str cgroup_dir;       /* as in koord_pod and koord_container; for KOORD_LEVEL_NODE: empty, or a resctrl group */
  koord_str value;            /* "20000 100000", "0-3", "max", …, the same on v1: the host converts; of a scale its factor */
  koord_str reason;           /* one sentence for the decision record */
  const koord_label *inputs;  /* values that the decision used: ("node_cpu_usage", "7.3") */
  uint32_t n_inputs, input_stride;
  int32_t priority;           /* the highest wins; among equals the strictest value */
  uint32_t flags;             /* 0 */
  uint64_t ttl_ns;            /* withdrawn unless proposed again within this time */
  uint32_t role, rsv;         /* since 1.1: KOORD_ROLE_*, KOORD_E_TOO_NEW on a host of 1.0 unless it is 0; rsv is 0 */
} koord_intent;

/* The result of an intent. KOORD_OK: it holds, or another's for the same value does. KOORD_E_AGAIN: the
 * winner's holds. KOORD_E_DENIED: the operator lets this strategy run and not write. KOORD_E_GONE: the cgroup
 * has ended. KOORD_E_UNSUPPORTED: this node has no such knob. KOORD_E_IO: the kernel, or another writer, has
 * set another value. KOORD_E_DEADLINE: ttl_ns is over. */
typedef struct koord_intent_result {
  uint32_t struct_size;
  koord_status status;
  koord_str knob, cgroup_dir;
  koord_str final_value; /* the knob's now; empty: not known */
  koord_str winner;      /* the plugin of the intent that holds or would hold; empty: none */
} koord_intent_result;

typedef struct koord_svc_knobs { /* "koord.knobs/1", granted to QoS strategies */
  uint32_t struct_size, rsv;
  /* All that is proposed during one evaluate() is one plan and replaces the plan before; an evaluate() that succeeds without a
   * proposal withdraws it. After an evaluate() that fails the plan before stays until its ttl_ns, and what this one proposed
   * and requested is dropped. KOORD_E_INVALID refuses the whole plan: a ttl_ns of 0, an empty reason, a text that is not
   * UTF-8. A proposal outside evaluate() becomes part of the next plan. [in-call: evaluate] */
  koord_status (*propose)(const koord_host *host, const koord_intent *intents, uint32_t n, uint32_t stride);
  /* The value that the knob has now, in the form of koord_intent.value, which may be one that this host wrote: not to be
   * computed with, see base(). Errors are those of base(). [any] */
  koord_status (*current)(const koord_host *host, koord_str knob, koord_str cgroup_dir, char *buf, uint64_t cap,
                          uint64_t *need);
  /* Since 1.1; on an older host KOORD_HAS() of it is 0. The base that the host takes when no intent gives one, in the form
   * of koord_intent.value: from the pod's spec, else the value before the host's first write, else the current value. Never
   * a value that this host wrote. The text goes to `buf` by the rule above: *need is its length, without a NUL;
   * KOORD_E_TOO_SMALL when `cap` is less, and then nothing was written. `buf` may be NULL when `cap` is 0. Reads the kernel's
   * file where neither spec nor journal has the value.
   * KOORD_E_INVALID: no such knob, or a cgroup_dir that leads out of the hierarchy. KOORD_E_UNSUPPORTED: this node has no
   * such knob. KOORD_E_GONE: no such cgroup. KOORD_E_IO: the kernel's file cannot be read. [any] */
  koord_status (*base)(const koord_host *host, koord_str knob, koord_str cgroup_dir, char *buf, uint64_t cap, uint64_t *need);
} koord_svc_knobs;

typedef struct koord_eviction {
  uint32_t struct_size, n_pods;
  const uint64_t *pods;      /* handles, the first to go first */
  koord_str resource, reason; /* "cpu", "memory": a pod releases what it uses; "<resource>.request": what it requests */
  int64_t amount;            /* to be released in all, milli-cores or bytes; the host itself takes off what pods release that go already */
  const koord_label *inputs; /* ("feature", "BECPUEvict"): as pods name it in koordinator.sh/eviction-policy; else the plugin's id */
  uint32_t n_inputs, input_stride;
} koord_eviction;

typedef struct koord_svc_evict { /* "koord.evict/1", granted to QoS strategies */
  uint32_t struct_size, rsv;
  koord_status (*request)(const koord_host *host, const koord_eviction *eviction); /* [in-call: evaluate] */
} koord_svc_evict;

typedef struct koord_svc_audit { /* "koord.audit/1" */
  uint32_t struct_size, rsv;
  /* An event for operators: an action or observation, its subject (a handle or 0), why. UTF-8, cut to 1024 bytes
   * each. */
  koord_status (*record)(const koord_host *host, uint64_t subject, koord_str what, koord_str why);
} koord_svc_audit;

/* ---- koord.verdict/1: containers that are held up, the resource, and the cause ------------------------------
 * Since 1.1. Advisors post verdicts, others read them. A verdict stands for one victim, one resource and one kind, by one
 * plugin. It stands until its plugin ends it, until ttl_ns has passed since the last post, until its victim has ended, or
 * until its plugin has ended (stopped, crashed, parked, its gate switched off). The host shows standing and ended verdicts to
 * operators, always with the id of their plugin.
 *
 * Limits of a plugin: 4096 standing verdicts with 4 MiB of text and suspects; of a third party's 256 and 256 KiB. */

/* The cause. */
#define KOORD_VERDICT_INTERFERED 1u        /* others */
#define KOORD_VERDICT_SELF_QUOTA 2u        /* its own CPU quota */
#define KOORD_VERDICT_SELF_THREADS 3u      /* it wants more CPUs than it may use */
#define KOORD_VERDICT_SELF_MEMORY_LIMIT 4u /* its own memory limit */
#define KOORD_VERDICT_SHARED_PARENT 5u     /* a limit of a cgroup above it, which others use up */
#define KOORD_VERDICT_UNKNOWN 6u           /* it is held up, and the cause is unknown */

#define KOORD_RESOURCE_CPU 1u
#define KOORD_RESOURCE_BLKIO 2u
#define KOORD_RESOURCE_MEMORY 3u
#define KOORD_RESOURCE_CACHE 4u /* caches of the CPU and memory bandwidth */

/* The method: how the suspects are known. */
#define KOORD_METHOD_EXACT 1u     /* counted by the kernel */
#define KOORD_METHOD_ESTIMATED 2u /* counted, but a part was distributed by a rule */
#define KOORD_METHOD_SUSPECTED 3u /* correlation, or a rule of thumb */

#define KOORD_SUSPECT_SUBJECT 1u /* a pod or container */
#define KOORD_SUSPECT_OUTSIDE 2u /* cgroups of the node that belong to no pod */
#define KOORD_SUSPECT_KERNEL 3u  /* the kernel's own threads */
#define KOORD_SUSPECT_OTHER 4u   /* something else, which `name` names */

#define KOORD_ORIGIN_OWN 1u         /* one of the node's own plugins (plugins.ownDirectories) */
#define KOORD_ORIGIN_THIRD_PARTY 2u /* any other */

/* One that used the resource while the victim waited for it. NaN in a double: unknown. No double is infinite or negative, but
 * `excess` may be negative. */
typedef struct koord_suspect {
  uint32_t struct_size, kind; /* KOORD_SUSPECT_* */
  uint64_t subject;           /* KOORD_SUSPECT_SUBJECT: its handle, from koord.state/1; else KOORD_NO_SUBJECT */
  koord_str name;             /* at most 256 bytes; of a pod or container the host's: "shop/cart-7d9/app" */
  double value;               /* the part of the victim's waits that it caused, in amount_unit of the verdict */
  double share;               /* that part of all waits, own ones included: 0 to 1; those of all suspects at most 1 together */
  double excess;              /* `value` minus its usual value in quiet times */
  double usage, request;      /* of the resource: CPUs; bytes (memory, cache); bytes/s (blkio) */
} koord_suspect;

/* A verdict. All texts are UTF-8. NaN in a double: unknown. No double is infinite or negative. */
typedef struct koord_verdict {
  uint32_t struct_size, kind; /* KOORD_VERDICT_* */
  uint32_t resource, method;  /* KOORD_RESOURCE_*, KOORD_METHOD_* */
  uint64_t victim;            /* handle of a pod or container, from koord.state/1 */
  uint64_t from_ns, to_ns;    /* host time: begin of the first and end of the last window with a finding */
  uint32_t windows_over, windows_seen; /* windows in that time with a finding, and all; 0 and 0: the rule has no windows */
  koord_str statistic, statistic_unit; /* the figure that the verdict rests on: "held_up", "ratio"; 1 to 64 bytes each */
  double value, baseline, threshold;   /* of the statistic: now (required), in quiet times, and the rule's limit */
  koord_str amount_unit;               /* of the next three and of the suspects' values: "seconds/second"; at most 64 bytes */
  double own, throttled, unexplained;  /* parts that the victim causes, that its own limits cause, and without a known cause */
  const koord_suspect *suspects;       /* the largest value first; at most 32 */
  uint32_t n_suspects, suspect_stride;
  const koord_label *others;           /* other resources looked at: ("memory", "0 refaults/s"); at most 16, 256 bytes each text */
  uint32_t n_others, other_stride;
  koord_str note;                      /* one sentence for operators, or empty; at most 1024 bytes */
  uint64_t ttl_ns;                     /* ends unless posted again within this time; 0: 60 s; at most 1 h */
  /* Written by the host. In post() they are zero and empty. */
  uint64_t id;           /* the same for all posts of a standing verdict, and never used again while the host runs */
  uint64_t since_ns;     /* host time of its first post */
  koord_str plugin;      /* the id of the plugin that posted it */
  koord_str victim_name; /* "shop/cart-7d9/app" */
  uint32_t origin, rsv;  /* KOORD_ORIGIN_* */
} koord_verdict;

typedef struct koord_verdict_list koord_verdict_list; /* opaque, immutable, counted by the host */

typedef struct koord_svc_verdict { /* "koord.verdict/1", since 1.1; granted to all kinds but runtime hooks */
  uint32_t struct_size, rsv;

  /* Adds these verdicts; one that stands for the same victim, resource and kind by this plugin is replaced and keeps its id. All
   * or nothing: after an error none is taken, and those before stay. `stride` is the size of an element.
   * KOORD_E_INVALID: a member is outside of what it may be, or one that the host writes is set. KOORD_E_GONE: a victim has ended,
   * the text says which; a suspect that has ended is no error. KOORD_E_AGAIN: the plugin's limit is used up. [any] */
  koord_status (*post)(const koord_host *host, const koord_verdict *verdicts, uint32_t n, uint32_t stride);
  /* Ends a standing verdict of this plugin. `why` is for operators: UTF-8, at most 1024 bytes, may be empty.
   * KOORD_E_NOT_FOUND: none stands, which is ordinary after its victim has ended. [any] */
  koord_status (*end)(const koord_host *host, uint64_t victim, uint32_t resource, uint32_t kind, koord_str why);

  /* All standing verdicts of all plugins, in the order of their ids; those of third parties too: look at `origin` and `plugin`
   * before acting on one. KOORD_E_AGAIN: the plugin holds too many lists, release one. [any] */
  koord_status (*acquire)(const koord_host *host, const koord_verdict_list **list);
  void (*release)(const koord_host *host, const koord_verdict_list *list);
  /* Functions of an acquired list; all their results are valid until release. */
  const koord_verdict *(*verdicts)(const koord_verdict_list *list, uint32_t *n, uint32_t *stride);
  /* Grows when a verdict begins, ends, or has another method or other suspects; not with values. Never 0. */
  uint64_t (*generation)(const koord_verdict_list *list);
  /* 1: call on_event(KOORD_ON_VERDICTS) when the generation has grown; several changes may be one call. 0: no longer.
   * Apart from subscribe() of koord.state/1. [any] */
  koord_status (*subscribe)(const koord_host *host, int32_t on);
} koord_svc_verdict;

/* ---- the four kinds of plugin ------------------------------------------------------------------------------- */

typedef struct koord_class koord_class;

/* The beginning of every kind's table. Frozen. Order of calls:
 *   create → init → (collect | evaluate | handle | on_event)*, run beside them → stop → run returns → destroy */
typedef struct koord_lifecycle {
  uint32_t struct_size, rsv; /* struct_size: of the WHOLE kind's table */

  /* Required. Make an instance; there may be several at once. No service may be used yet. [control] */
  koord_status (*create)(const koord_host *host, const koord_class *cls, void **self);
  /* Required. Get services, define metrics, open files. KOORD_E_UNSUPPORTED: this node cannot have this plugin; it
   * is listed as absent with the text of set_error() and not tried again. After a failure: destroy(). A process that is
   * stopped before init() has returned is ended with SIGTERM, without stop() and destroy(): leave nothing outside of it that
   * only these two would remove. [control] */
  koord_status (*init)(void *self);
  /* Optional. For those that wait for events themselves; returns when `stop` fires. stop(), the end of run() and destroy()
   * have 2 s together in a process of their own, which is ended then, and 5 s in the agent's. [own thread] */
  koord_status (*run)(void *self, const koord_stop *stop);
  /* Optional. A part of the state changed (KOORD_ON_*), to this version. Without it a new configuration restarts the
   * instance. [strand] */
  koord_status (*on_event)(void *self, uint32_t what, uint64_t version);
  /* Optional. No further tick will come; may overlap run(). [control] */
  koord_status (*stop)(void *self);
  /* Required. All threads of the instance are joined when it returns. [control] */
  void (*destroy)(void *self);
} koord_lifecycle;

/* "koord.advisor/1": collects metrics. */
typedef struct koord_advisor {
  koord_lifecycle life;
  /* One tick. Needed unless there is run(). If it runs past deadline_ns, the next ticks are skipped. [strand] */
  koord_status (*collect)(void *self, uint64_t now_ns, uint64_t deadline_ns);
} koord_advisor;

/* Since 1.1. An endpoint of several. Empty and zero mean the host's default; the host lowers what is too much. The host opens
 * the files, and so only for the node's own plugins (plugins.ownDirectories): scrapes that need one fail for others. */
typedef struct koord_scrape_target {
  uint32_t struct_size, rsv;
  koord_str name;       /* distinguishes it from the others; shown to operators */
  koord_str url;        /* as url() has it; "https://127.0.0.1:10250/metrics", or a file, "file:/dir/x.prom" */
  koord_str ca_file;    /* PEM: the authorities to trust, in place of the system's */
  koord_str certificate_file, key_file; /* PEM: the host's certificate and key for this endpoint */
  koord_str server_name;                /* the name that the certificate must have, in place of the URL's host */
  koord_str token_file;                 /* a bearer token; read for each scrape */
  uint64_t period_ns, timeout_ns;       /* period: rounded up to ticks, 0 is each tick */
  /* max_body_bytes: 0 is 16 MiB, at most 64 MiB. max_samples: 0 is 100,000, at most 1,000,000. max_series: 0 is maxSeries of the
   * plugin's settings, which is also the most. All scrapes of a third-party plugin share maxScrapeMemory of its settings, in bytes
   * (4 MiB): bodies, samples, names and labels. A scrape that needs more fails, and the last values stay. */
  uint64_t max_body_bytes, max_samples, max_series;
} koord_scrape_target;

/* Since 1.1. */
typedef struct koord_scrape_targets {
  uint32_t struct_size, rsv;
  void *impl;
  /* KOORD_E_INVALID: a name or a URL that is none, or a name twice; KOORD_E_AGAIN: there are too many. [in-call] */
  koord_status (*add)(const struct koord_scrape_targets *targets, const koord_scrape_target *target);
} koord_scrape_targets;

/* Since 1.1. How one scraped series is labelled here. Valid during map_series() only. */
typedef struct koord_series_map {
  uint32_t struct_size, rsv;
  void *impl;
  /* Binds it to this pod or container, a handle from koord.state/1: the host labels it so, and ends it with its subject.
   * [in-call: map_series] */
  koord_status (*subject)(const struct koord_series_map *map, uint64_t handle);
  /* Adds a label, or gives one another value; an empty value removes the label. [in-call: map_series] */
  koord_status (*label)(const struct koord_series_map *map, koord_str name, koord_str value);
} koord_series_map;

/* "koord.external-advisor/1": brings in another program's metrics; the host scrapes. */
typedef struct koord_external_advisor {
  koord_lifecycle life;
  /* Required, unless there is targets(). "http://127.0.0.1:9100/metrics" or "unix:/run/x.sock:/metrics"; asked at start
   * and after a configuration event. At most 4096 bytes. [strand] */
  koord_status (*url)(void *self, char *buf, uint64_t cap, uint64_t *need);
  /* Optional. Receives one scraped sample and may change its value; non-zero drops it. Called once for all
   * lines of a histogram, with the count as the value, which stays as it is. After KOORD_E_PANIC nothing of
   * the scrape is taken. [strand] */
  koord_status (*map_sample)(void *self, koord_str name, const koord_label *labels, uint32_t n, uint32_t stride,
                             double *value);
  /* Optional. Writes the name of the endpoint's metric on this node, valid as in koord_metric_desc; non-zero
   * leaves the metric out. Asked once for each metric, before map_sample(), and again after a configuration
   * event. Without it a metric keeps its name, and a metric with a reserved name is left out (host_, http_,
   * kube_, plugin_, predict_, report_, store_ are the host's). [strand] */
  koord_status (*map_metric)(void *self, koord_str name, char *buf, uint64_t cap, uint64_t *need);

  /* Since 1.1. Optional, in place of url(): adds all current endpoints. Asked before each tick, so be quick; a target that
   * is missing now ends with its series, one that has changed begins anew. After a failure those before stay. [strand] */
  koord_status (*targets)(void *self, const koord_scrape_targets *targets);
  /* Since 1.1. Optional. The map_… calls that follow are about the target of this name. [strand] */
  koord_status (*on_target)(void *self, koord_str name);
  /* Since 1.1. Optional. Names the subject of a series and its labels. Asked once for each series, before map_sample() and
   * only of metrics that map_metric() keeps; again after a configuration event, and when its subject has ended. KOORD_E_AGAIN
   * leaves it out of this scrape and is asked again in the next; any other non-zero leaves it out for good. [strand] */
  koord_status (*map_series)(void *self, koord_str metric, const koord_label *labels, uint32_t n, uint32_t stride,
                             const koord_series_map *map);
} koord_external_advisor;

/* "koord.qos-strategy/1": decides which knobs to turn, through koord.knobs/1 only. */
typedef struct koord_qos_strategy {
  koord_lifecycle life;
  koord_status (*evaluate)(void *self, uint64_t now_ns, uint64_t deadline_ns); /* required [strand] */
  /* Optional. Reports the results of the plan: of all intents when the plan is new; while it is repeated, of each intent
   * with a changed result, and of each one-shot, which is done again. [strand] */
  koord_status (*on_applied)(void *self, const koord_intent_result *results, uint32_t n, uint32_t stride);
} koord_qos_strategy;

/* Stages of a RuntimeHook, bits; names as Koordinator's. */
#define KOORD_STAGE_PRE_RUN_POD_SANDBOX 1u
#define KOORD_STAGE_POST_STOP_POD_SANDBOX 2u
#define KOORD_STAGE_PRE_REMOVE_RUN_POD_SANDBOX 4u
#define KOORD_STAGE_PRE_CREATE_CONTAINER 8u
#define KOORD_STAGE_PRE_START_CONTAINER 16u
#define KOORD_STAGE_POST_START_CONTAINER 32u
#define KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES 64u
#define KOORD_STAGE_POST_STOP_CONTAINER 128u

/* Pointers are valid until handle() returns. */
typedef struct koord_hook_request {
  uint32_t struct_size, stage;
  uint64_t deadline_ns; /* host time; a later answer is not taken */
  const koord_pod *pod;
  const koord_container *container; /* NULL at the pod stages */
  koord_str node_slo;               /* as in koord.state/1 */
  koord_str cri_json;               /* the runtime's own request; empty if no runtime asks */
} koord_hook_request;

typedef struct koord_hook_response {
  uint32_t struct_size, rsv;
  void *impl;
  /* Sets a field; another call replaces its value. Numbers are decimal text.
   *   linux.cpu.shares     2 to 262144                    linux.cpuset.cpus   "0-3,8"
   *   linux.cpu.quota      us in a period, from 1000;     linux.memory.limit  bytes; -1: no limit
   *                        -1: no limit                   env:NAME, annotation:key  text of at most 64 KiB
   * Since 1.1; an older host returns KOORD_E_INVALID:
   *   linux.cpu.period     us, 1000 to 1000000, default   linux.cpuset.mems   "0-1"
   *                        100000; only with a quota      linux.memory.swap   bytes, memory included; -1: no limit
   *   linux.cpu.idle       0, 1                           linux.oom_score_adj -1000 to 1000
   *   linux.cpu.bvt_warp_ns  -1 to 2                      linux.rdt.closid    the name of a resctrl group
   *   linux.net_cls.classid  0 to 4294967295              linux.core_sched.group  text of at most 253 bytes: processes of
   *                                                       one group may share a core; empty: with all without a group
   *   device:/dev/NAME  "c MAJOR:MINOR MODE" or "b …"; MODE is octal, may be missing, default 0666
   *   mount:/PATH       the path on the node, a bind mount; " ro" behind it: read-only. No path has a space.
   * For existing pods and containers the host proposes shares, quota with its period, idle, bvt_warp_ns, cpus, mems, limit,
   * closid, classid, oom_score_adj and core_sched.group as KOORD_ROLE_BASE, and writes them in mode enforce only. The other
   * fields have an effect only at a creation.
   * KOORD_E_INVALID: no such field or value; KOORD_E_AGAIN: more than 256 fields; KOORD_E_DEADLINE: the request was answered
   * without this hook; KOORD_E_NOMEM. [in-call: handle] */
  koord_status (*set)(const struct koord_hook_response *response, koord_str field, koord_str value);
  /* The runtime is not to make the pod or container; `why` is cut to 1024 bytes, and no field of the answer is used. No effect on
   * one that exists. KOORD_E_DEADLINE as in set(). [in-call: handle] */
  koord_status (*reject)(const struct koord_hook_response *response, koord_str why);
  /* Since 1.1; on an older host KOORD_HAS() of it is 0. Multiplies "linux.cpu.quota" or "linux.memory.limit", also one that the
   * pod's spec gives, by a factor above 0 and at most 1000; factors of several hooks multiply. No limit stays no limit. Another
   * call for the same field replaces the factor. KOORD_E_INVALID: another field or factor; KOORD_E_DEADLINE, KOORD_E_NOMEM as in
   * set(). [in-call: handle] */
  koord_status (*scale)(const struct koord_hook_response *response, koord_str field, double factor);
} koord_hook_response;

/* "koord.runtime-hook/1": adjusts pods and containers. The answer depends only on the request, the Node, the NodeSLO, the topology
 * and the configuration: the host keeps it, and asks again when one of them changes. It asks about existing pods
 * (KOORD_STAGE_PRE_RUN_POD_SANDBOX) and their regular, init and sidecar containers (KOORD_STAGE_PRE_CREATE_CONTAINER), and about
 * those that a container runtime is about to make or to update, if one asks the agent (NRI, koord-cri-proxy). */
typedef struct koord_runtime_hook {
  koord_lifecycle life;
  uint32_t stages, rsv; /* KOORD_STAGE_* */
  /* Required. Called between the return of init() and destroy(), also beside run(), on_event() and stop(). [any], several at
   * once, unless the class has KOORD_SERIAL. */
  koord_status (*handle)(void *self, const koord_hook_request *request, const koord_hook_response *response);
} koord_runtime_hook;

/* ---- what a plugin exports ---------------------------------------------------------------------------------- */

#define KOORD_MAGIC 0x4b4f5244u /* koord_module.magic */
#define KOORD_SERIAL 1u         /* koord_class.flags: never call handle() twice at once */

struct koord_class {
  uint32_t struct_size, flags;
  const char *kind;          /* "koord.advisor/1" … */
  const char *name;          /* unique in the module */
  const char *config_schema; /* JSON Schema for koord.config/1, checked before init(); NULL: anything goes */
  const koord_lifecycle *vtable;
  uint64_t period_ns;        /* between ticks; the configuration may say otherwise. 0: no ticks */
};

typedef struct koord_module {
  uint32_t magic, struct_size;
  uint16_t abi_major, abi_minor;
  uint32_t n_classes, class_stride, rsv;
  const char *manifest; /* the text in the section ".koord_manifest" */
  const koord_class *classes;
} koord_module;

/* The one exported symbol. Returns a static table, does no work, may be called any number of times.
 *
 * The manifest is lines "key=value" behind the line "koord-manifest/1", UTF-8, at most 4096 bytes, NUL-terminated:
 *   id=com.acme.runq          required; reverse domain name, or a plain name for the host's own
 *   version=1.2.0             required
 *   abi=1.1                   required; the KOORD_ABI_MAJOR.MINOR it was built with. The major must be the host's; the minor
 *                             is for people, see "Versions" above
 *   kinds=koord.advisor/1     required; comma-separated, those of its classes
 *   gate=AcmeRunQueue         required; the feature gate that starts it, or since 1.1 several, comma-separated: it runs while
 *                             any is on, and `gates` of its configuration names those
 *   stage=alpha|beta|ga       default alpha
 *   default=true|false        is the gate on by default; only for the host's own plugins, else false
 *   requires=koord.metrics/1  services without which it cannot run: a refusal names the missing one
 *   optional=koord.kv/1       services it can use
 *   annotations=example.org/batch   annotations of pods that it reads beside those of koordinator.sh and koordetector.sh and
 *                             their subdomains, comma-separated, each a key, or a domain, "/" and an asterisk for all of the
 *                             domain. In a cluster the agent drops all others while it reads the list of pods, and keeps at
 *                             most 64 KiB of one pod. Since 1.1
 *   runtime=native|go|jvm|python   default native; the others always run in a child process
 *   license=…, description=…  shown to operators */
KOORD_EXPORT const koord_module *koord_entry_v1(void);

#define KOORD_MANIFEST_SECTION ".koord_manifest"

#if UINTPTR_MAX == 0xffffffffffffffffu
KOORD_ASSERT_(sizeof(koord_str) == 16);
KOORD_ASSERT_(sizeof(koord_label) == 32);
KOORD_ASSERT_(sizeof(koord_host) == 40);
KOORD_ASSERT_(sizeof(koord_stop) == 24);
KOORD_ASSERT_(sizeof(koord_metric_desc) == 80);
KOORD_ASSERT_(sizeof(koord_point) == 16);
KOORD_ASSERT_(sizeof(koord_histogram) == 32);
KOORD_ASSERT_(sizeof(koord_query) == 64);
KOORD_ASSERT_(sizeof(koord_agg_row) == 48);
KOORD_ASSERT_(sizeof(koord_sample) == 24);
KOORD_ASSERT_(sizeof(koord_svc_metrics) == 72);
KOORD_ASSERT_(sizeof(koord_resource) == 40);
KOORD_ASSERT_(sizeof(koord_container) == 88);
KOORD_ASSERT_(sizeof(koord_pod) == 200);
KOORD_ASSERT_(sizeof(koord_node) == 88);
KOORD_ASSERT_(sizeof(koord_cpu) == 24);
KOORD_ASSERT_(sizeof(koord_numa_node) == 16);
KOORD_ASSERT_(sizeof(koord_topology) == 40);
KOORD_ASSERT_(sizeof(koord_svc_state) == 88);
KOORD_ASSERT_(sizeof(koord_svc_kv) == 32);
KOORD_ASSERT_(sizeof(koord_svc_config) == 48);
KOORD_ASSERT_(sizeof(koord_svc_clock) == 24);
KOORD_ASSERT_(sizeof(koord_svc_fs) == 24);
KOORD_ASSERT_(sizeof(koord_svc_cgroup) == 32);
KOORD_ASSERT_(sizeof(koord_svc_capabilities) == 24);
KOORD_ASSERT_(sizeof(koord_intent) == 112);
KOORD_ASSERT_(sizeof(koord_intent_result) == 72);
KOORD_ASSERT_(sizeof(koord_svc_knobs) == 32);
KOORD_ASSERT_(sizeof(koord_eviction) == 72);
KOORD_ASSERT_(sizeof(koord_svc_evict) == 16);
KOORD_ASSERT_(sizeof(koord_svc_audit) == 16);
KOORD_ASSERT_(sizeof(koord_suspect) == 72);
KOORD_ASSERT_(sizeof(koord_verdict) == 256);
KOORD_ASSERT_(sizeof(koord_svc_verdict) == 64);
KOORD_ASSERT_(sizeof(koord_lifecycle) == 56);
KOORD_ASSERT_(sizeof(koord_advisor) == 64);
KOORD_ASSERT_(sizeof(koord_scrape_target) == 160);
KOORD_ASSERT_(sizeof(koord_scrape_targets) == 24);
KOORD_ASSERT_(sizeof(koord_series_map) == 32);
KOORD_ASSERT_(sizeof(koord_external_advisor) == 104);
KOORD_ASSERT_(sizeof(koord_qos_strategy) == 72);
KOORD_ASSERT_(sizeof(koord_hook_request) == 64);
KOORD_ASSERT_(sizeof(koord_hook_response) == 40);
KOORD_ASSERT_(sizeof(koord_runtime_hook) == 72);
KOORD_ASSERT_(sizeof(koord_class) == 48);
KOORD_ASSERT_(sizeof(koord_module) == 40);
#endif

#ifdef __cplusplus
}
#endif
#endif
