// SPDX-License-Identifier: Apache-2.0
//! The declarations of plugin.h under their own names, documented there. A function that may be missing, and so every
//! function, is an `Option`. generate_abi.py makes this file from plugin.h: do not edit it.

#![allow(non_camel_case_types, missing_docs)]

use std::os::raw::{c_char, c_void};

pub const KOORD_ABI_MAJOR: u16 = 1;
pub const KOORD_ABI_MINOR: u16 = 1;

// ---- status

pub type koord_status = i32;
pub const KOORD_OK: koord_status = 0;
pub const KOORD_E_INVALID: koord_status = -1;
pub const KOORD_E_UNSUPPORTED: koord_status = -2;
pub const KOORD_E_AGAIN: koord_status = -3;
pub const KOORD_E_DEADLINE: koord_status = -4;
pub const KOORD_E_TOO_NEW: koord_status = -5;
pub const KOORD_E_DENIED: koord_status = -6;
pub const KOORD_E_NOMEM: koord_status = -7;
pub const KOORD_E_PANIC: koord_status = -8;
pub const KOORD_E_GONE: koord_status = -9;
pub const KOORD_E_NOT_FOUND: koord_status = -10;
pub const KOORD_E_TOO_SMALL: koord_status = -11;
pub const KOORD_E_IO: koord_status = -12;

// ---- the frozen core

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_str {
    pub p: *const c_char,
    pub n: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_label {
    pub key: koord_str,
    pub value: koord_str,
}

pub const KOORD_LOG_DEBUG: i32 = 0;
pub const KOORD_LOG_INFO: i32 = 1;
pub const KOORD_LOG_WARN: i32 = 2;
pub const KOORD_LOG_ERROR: i32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_host {
    pub struct_size: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub r#impl: *mut c_void,
    pub get_service: Option<unsafe extern "C" fn(host: *const koord_host, id: *const c_char) -> *const c_void>,
    pub log: Option<unsafe extern "C" fn(host: *const koord_host, level: i32, message: koord_str)>,
    pub set_error: Option<unsafe extern "C" fn(host: *const koord_host, status: koord_status, why: koord_str)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_stop {
    pub struct_size: u32,
    pub fd: i32,
    pub r#impl: *mut c_void,
    pub wait: Option<unsafe extern "C" fn(stop: *const koord_stop, timeout_ns: u64) -> i32>,
}

// ---- koord.metrics/1: one path for every value

pub const KOORD_GAUGE: u32 = 1;
pub const KOORD_COUNTER: u32 = 2;
pub const KOORD_HISTOGRAM: u32 = 3;
pub const KOORD_METRIC_EXPORT: u32 = 1;
pub const KOORD_NO_SUBJECT: u64 = 0;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_metric_desc {
    pub struct_size: u32,
    pub r#type: u32,
    pub flags: u32,
    pub n_bounds: u32,
    pub name: koord_str,
    pub unit: koord_str,
    pub help: koord_str,
    pub resolution: f64,
    pub bounds: *const f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_point {
    pub series: u64,
    pub value: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_histogram {
    pub series: u64,
    pub cumulative: *const u64,
    pub n: u32,
    pub rsv: u32,
    pub sum: f64,
}

pub const KOORD_AGG_LAST: u32 = 1;
pub const KOORD_AGG_AVG: u32 = 2;
pub const KOORD_AGG_MIN: u32 = 3;
pub const KOORD_AGG_MAX: u32 = 4;
pub const KOORD_AGG_COUNT: u32 = 5;
pub const KOORD_AGG_P50: u32 = 6;
pub const KOORD_AGG_P90: u32 = 7;
pub const KOORD_AGG_P95: u32 = 8;
pub const KOORD_AGG_P99: u32 = 9;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_query {
    pub struct_size: u32,
    pub aggregation: u32,
    pub metric: koord_str,
    pub from_ns: u64,
    pub to_ns: u64,
    pub subject: u64,
    pub labels: *const koord_label,
    pub n_labels: u32,
    pub label_stride: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_agg_row {
    pub subject: u64,
    pub series: u64,
    pub value: f64,
    pub count: u64,
    pub from_ns: u64,
    pub to_ns: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_sample {
    pub t_ns: u64,
    pub series: u64,
    pub value: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_metrics {
    pub struct_size: u32,
    pub rsv: u32,
    pub define: Option<
        unsafe extern "C" fn(host: *const koord_host, desc: *const koord_metric_desc, metric: *mut u32) -> koord_status,
    >,
    pub series: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            metric: u32,
            subject: u64,
            labels: *const koord_label,
            n: u32,
            stride: u32,
            series: *mut u64,
        ) -> koord_status,
    >,
    pub end_series: Option<unsafe extern "C" fn(host: *const koord_host, series: u64) -> koord_status>,
    pub append: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            t_ns: u64,
            points: *const koord_point,
            n: u32,
            stride: u32,
        ) -> koord_status,
    >,
    pub append_columns: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            t_ns: u64,
            series: *const u64,
            values: *const f64,
            n: u32,
        ) -> koord_status,
    >,
    pub append_histograms: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            t_ns: u64,
            histograms: *const koord_histogram,
            n: u32,
            stride: u32,
        ) -> koord_status,
    >,
    pub aggregate: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            query: *const koord_query,
            rows: *mut koord_agg_row,
            cap: u32,
            stride: u32,
            need: *mut u32,
        ) -> koord_status,
    >,
    pub samples: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            query: *const koord_query,
            out: *mut koord_sample,
            cap: u32,
            stride: u32,
            need: *mut u32,
        ) -> koord_status,
    >,
}

// ---- koord.state/1: the node, its pods, NodeSLO and topology, as immutable snapshots

pub const KOORD_ON_NODE: u32 = 1;
pub const KOORD_ON_PODS: u32 = 2;
pub const KOORD_ON_NODE_SLO: u32 = 4;
pub const KOORD_ON_TOPOLOGY: u32 = 8;
pub const KOORD_ON_CONFIG: u32 = 16;
pub const KOORD_ON_VERDICTS: u32 = 32;
pub const KOORD_QOS_NONE: u32 = 0;
pub const KOORD_QOS_LSE: u32 = 1;
pub const KOORD_QOS_LSR: u32 = 2;
pub const KOORD_QOS_LS: u32 = 3;
pub const KOORD_QOS_BE: u32 = 4;
pub const KOORD_QOS_SYSTEM: u32 = 5;
pub const KOORD_KUBE_QOS_UNKNOWN: u32 = 0;
pub const KOORD_KUBE_QOS_GUARANTEED: u32 = 1;
pub const KOORD_KUBE_QOS_BURSTABLE: u32 = 2;
pub const KOORD_KUBE_QOS_BEST_EFFORT: u32 = 3;
pub const KOORD_PRIORITY_NONE: u32 = 0;
pub const KOORD_PRIORITY_PROD: u32 = 1;
pub const KOORD_PRIORITY_MID: u32 = 2;
pub const KOORD_PRIORITY_BATCH: u32 = 3;
pub const KOORD_PRIORITY_FREE: u32 = 4;
pub const KOORD_PHASE_UNKNOWN: u32 = 0;
pub const KOORD_PHASE_PENDING: u32 = 1;
pub const KOORD_PHASE_RUNNING: u32 = 2;
pub const KOORD_PHASE_SUCCEEDED: u32 = 3;
pub const KOORD_PHASE_FAILED: u32 = 4;
pub const KOORD_CONTAINER_REGULAR: u32 = 0;
pub const KOORD_CONTAINER_INIT: u32 = 1;
pub const KOORD_CONTAINER_SIDECAR: u32 = 2;
pub const KOORD_CONTAINER_EPHEMERAL: u32 = 3;
pub const KOORD_CONTAINER_SANDBOX: u32 = 4;
pub const KOORD_CONTAINER_SERVICE: u32 = 5;
pub const KOORD_CONTAINER_CGROUP: u32 = 6;
pub const KOORD_CONTAINER_UNKNOWN: u32 = 0;
pub const KOORD_CONTAINER_WAITING: u32 = 1;
pub const KOORD_CONTAINER_RUNNING: u32 = 2;
pub const KOORD_CONTAINER_TERMINATED: u32 = 3;
pub const KOORD_ABSENT: i64 = i64::MIN;

/// Opaque.
#[repr(C)]
pub struct koord_snapshot {
    opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_resource {
    pub struct_size: u32,
    pub rsv: u32,
    pub name: koord_str,
    pub request: i64,
    pub limit: i64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_container {
    pub struct_size: u32,
    pub kind: u32,
    pub state: u32,
    pub n_resources: u32,
    pub handle: u64,
    pub id: koord_str,
    pub name: koord_str,
    pub cgroup_dir: koord_str,
    pub resources: *const koord_resource,
    pub resource_stride: u32,
    pub rsv: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_pod {
    pub struct_size: u32,
    pub phase: u32,
    pub handle: u64,
    pub uid: koord_str,
    pub ns: koord_str,
    pub name: koord_str,
    pub cgroup_dir: koord_str,
    pub qos: u32,
    pub kube_qos: u32,
    pub priority: i32,
    pub priority_class: u32,
    pub start_time_ns: i64,
    pub owner_kind: koord_str,
    pub owner_name: koord_str,
    pub labels: *const koord_label,
    pub annotations: *const koord_label,
    pub resources: *const koord_resource,
    pub containers: *const koord_container,
    pub n_labels: u32,
    pub n_annotations: u32,
    pub n_resources: u32,
    pub n_containers: u32,
    pub label_stride: u32,
    pub resource_stride: u32,
    pub container_stride: u32,
    pub rsv: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_node {
    pub struct_size: u32,
    pub rsv: u32,
    pub name: koord_str,
    pub labels: *const koord_label,
    pub annotations: *const koord_label,
    pub resources: *const koord_resource,
    pub n_labels: u32,
    pub n_annotations: u32,
    pub n_resources: u32,
    pub label_stride: u32,
    pub resource_stride: u32,
    pub rsv2: u32,
    pub reserved_cpu: i64,
    pub reserved_memory: i64,
}

pub const KOORD_CPU_ONLINE: u32 = 1;
pub const KOORD_CPU_RESERVED: u32 = 2;
pub const KOORD_CPU_SYSTEM: u32 = 4;
pub const KOORD_CPU_LSE: u32 = 8;
pub const KOORD_CPU_LSR: u32 = 16;
pub const KOORD_CPU_PINNED: u32 = 32;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_cpu {
    pub cpu: u32,
    pub core: u32,
    pub socket: u32,
    pub numa_node: u32,
    pub l3: u32,
    pub flags: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_numa_node {
    pub id: u32,
    pub rsv: u32,
    pub memory_bytes: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_topology {
    pub struct_size: u32,
    pub rsv: u32,
    pub cpus: *const koord_cpu,
    pub numa_nodes: *const koord_numa_node,
    pub n_cpus: u32,
    pub cpu_stride: u32,
    pub n_numa_nodes: u32,
    pub numa_node_stride: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_state {
    pub struct_size: u32,
    pub rsv: u32,
    pub acquire:
        Option<unsafe extern "C" fn(host: *const koord_host, snapshot: *mut *const koord_snapshot) -> koord_status>,
    pub release: Option<unsafe extern "C" fn(host: *const koord_host, snapshot: *const koord_snapshot)>,
    pub version: Option<unsafe extern "C" fn(snapshot: *const koord_snapshot, part: u32) -> u64>,
    pub node: Option<unsafe extern "C" fn(snapshot: *const koord_snapshot) -> *const koord_node>,
    pub pods: Option<
        unsafe extern "C" fn(snapshot: *const koord_snapshot, n: *mut u32, stride: *mut u32) -> *const koord_pod,
    >,
    pub containers: Option<
        unsafe extern "C" fn(snapshot: *const koord_snapshot, n: *mut u32, stride: *mut u32) -> *const koord_container,
    >,
    pub topology: Option<unsafe extern "C" fn(snapshot: *const koord_snapshot) -> *const koord_topology>,
    pub node_slo: Option<unsafe extern "C" fn(snapshot: *const koord_snapshot) -> koord_str>,
    pub subscribe: Option<unsafe extern "C" fn(host: *const koord_host, parts: u32) -> koord_status>,
    pub processes: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            subject: u64,
            pids: *mut i32,
            cap: u32,
            need: *mut u32,
        ) -> koord_status,
    >,
}

// ---- koord.kv/1: facts that change rarely (CPU model, disk maps), with an expiry

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_kv {
    pub struct_size: u32,
    pub rsv: u32,
    pub get: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            key: koord_str,
            buf: *mut c_void,
            cap: u64,
            need: *mut u64,
        ) -> koord_status,
    >,
    pub set: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            key: koord_str,
            buf: *const c_void,
            n: u64,
            ttl_ns: u64,
        ) -> koord_status,
    >,
    pub remove: Option<unsafe extern "C" fn(host: *const koord_host, key: koord_str) -> koord_status>,
}

// ---- koord.config/1: this instance's own part of the configuration

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_config {
    pub struct_size: u32,
    pub rsv: u32,
    pub json: Option<
        unsafe extern "C" fn(host: *const koord_host, buf: *mut c_char, cap: u64, need: *mut u64) -> koord_status,
    >,
    pub i64: Option<unsafe extern "C" fn(host: *const koord_host, pointer: koord_str, value: *mut i64) -> koord_status>,
    pub f64: Option<unsafe extern "C" fn(host: *const koord_host, pointer: koord_str, value: *mut f64) -> koord_status>,
    pub boolean:
        Option<unsafe extern "C" fn(host: *const koord_host, pointer: koord_str, value: *mut i32) -> koord_status>,
    pub string: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            pointer: koord_str,
            buf: *mut c_char,
            cap: u64,
            need: *mut u64,
        ) -> koord_status,
    >,
}

// ---- koord.clock/1

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_clock {
    pub struct_size: u32,
    pub rsv: u32,
    pub now_ns: Option<unsafe extern "C" fn(host: *const koord_host) -> u64>,
    pub wall_ns: Option<unsafe extern "C" fn(host: *const koord_host) -> u64>,
}

// ---- koord.fs/1: the node's trees, wherever they are mounted

pub const KOORD_ROOT_PROC: u32 = 1;
pub const KOORD_ROOT_SYS: u32 = 2;
pub const KOORD_ROOT_CGROUP: u32 = 3;
pub const KOORD_ROOT_RESCTRL: u32 = 4;
pub const KOORD_ROOT_RUN: u32 = 5;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_fs {
    pub struct_size: u32,
    pub rsv: u32,
    pub path: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            root: u32,
            buf: *mut c_char,
            cap: u64,
            need: *mut u64,
        ) -> koord_status,
    >,
    pub read: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            root: u32,
            relative: koord_str,
            buf: *mut c_char,
            cap: u64,
            need: *mut u64,
        ) -> koord_status,
    >,
}

// ---- koord.cgroup/1: typed cgroup values, the same on v1 and v2

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_cgroup {
    pub struct_size: u32,
    pub rsv: u32,
    pub open: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            cgroup_dir: koord_str,
            file: koord_str,
            keys: *const koord_str,
            n_keys: u32,
            handle: *mut u64,
        ) -> koord_status,
    >,
    pub read: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            handle: u64,
            values: *mut i64,
            n: u32,
            read_ns: *mut u64,
        ) -> koord_status,
    >,
    pub close: Option<unsafe extern "C" fn(host: *const koord_host, handle: u64)>,
}

// ---- koord.capabilities/1: abilities of this node

pub const KOORD_CAPABILITY_SUPPORTED: u32 = 1;
pub const KOORD_CAPABILITY_ABSENT: u32 = 2;
pub const KOORD_CAPABILITY_BROKEN: u32 = 3;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_capabilities {
    pub struct_size: u32,
    pub rsv: u32,
    pub get: Option<unsafe extern "C" fn(host: *const koord_host, name: koord_str, state: *mut u32) -> koord_status>,
    pub report: Option<
        unsafe extern "C" fn(host: *const koord_host, name: koord_str, state: u32, detail: koord_str) -> koord_status,
    >,
}

// ---- koord.knobs/1, koord.evict/1, koord.audit/1: requests of strategies

pub const KOORD_LEVEL_QOS: u32 = 0;
pub const KOORD_LEVEL_POD: u32 = 1;
pub const KOORD_LEVEL_CONTAINER: u32 = 2;
pub const KOORD_LEVEL_NODE: u32 = 3;
pub const KOORD_ROLE_SET: u32 = 0;
pub const KOORD_ROLE_BASE: u32 = 1;
pub const KOORD_ROLE_SCALE: u32 = 2;
pub const KOORD_ROLE_CAP: u32 = 3;
pub const KOORD_ROLE_FLOOR: u32 = 4;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_intent {
    pub struct_size: u32,
    pub level: u32,
    pub knob: koord_str,
    pub cgroup_dir: koord_str,
    pub value: koord_str,
    pub reason: koord_str,
    pub inputs: *const koord_label,
    pub n_inputs: u32,
    pub input_stride: u32,
    pub priority: i32,
    pub flags: u32,
    pub ttl_ns: u64,
    pub role: u32,
    pub rsv: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_intent_result {
    pub struct_size: u32,
    pub status: koord_status,
    pub knob: koord_str,
    pub cgroup_dir: koord_str,
    pub final_value: koord_str,
    pub winner: koord_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_knobs {
    pub struct_size: u32,
    pub rsv: u32,
    pub propose: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            intents: *const koord_intent,
            n: u32,
            stride: u32,
        ) -> koord_status,
    >,
    pub current: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            knob: koord_str,
            cgroup_dir: koord_str,
            buf: *mut c_char,
            cap: u64,
            need: *mut u64,
        ) -> koord_status,
    >,
    pub base: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            knob: koord_str,
            cgroup_dir: koord_str,
            buf: *mut c_char,
            cap: u64,
            need: *mut u64,
        ) -> koord_status,
    >,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_eviction {
    pub struct_size: u32,
    pub n_pods: u32,
    pub pods: *const u64,
    pub resource: koord_str,
    pub reason: koord_str,
    pub amount: i64,
    pub inputs: *const koord_label,
    pub n_inputs: u32,
    pub input_stride: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_evict {
    pub struct_size: u32,
    pub rsv: u32,
    pub request: Option<unsafe extern "C" fn(host: *const koord_host, eviction: *const koord_eviction) -> koord_status>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_audit {
    pub struct_size: u32,
    pub rsv: u32,
    pub record: Option<
        unsafe extern "C" fn(host: *const koord_host, subject: u64, what: koord_str, why: koord_str) -> koord_status,
    >,
}

// ---- koord.verdict/1: containers that are held up, the resource, and the cause

pub const KOORD_VERDICT_INTERFERED: u32 = 1;
pub const KOORD_VERDICT_SELF_QUOTA: u32 = 2;
pub const KOORD_VERDICT_SELF_THREADS: u32 = 3;
pub const KOORD_VERDICT_SELF_MEMORY_LIMIT: u32 = 4;
pub const KOORD_VERDICT_SHARED_PARENT: u32 = 5;
pub const KOORD_VERDICT_UNKNOWN: u32 = 6;
pub const KOORD_RESOURCE_CPU: u32 = 1;
pub const KOORD_RESOURCE_BLKIO: u32 = 2;
pub const KOORD_RESOURCE_MEMORY: u32 = 3;
pub const KOORD_RESOURCE_CACHE: u32 = 4;
pub const KOORD_METHOD_EXACT: u32 = 1;
pub const KOORD_METHOD_ESTIMATED: u32 = 2;
pub const KOORD_METHOD_SUSPECTED: u32 = 3;
pub const KOORD_SUSPECT_SUBJECT: u32 = 1;
pub const KOORD_SUSPECT_OUTSIDE: u32 = 2;
pub const KOORD_SUSPECT_KERNEL: u32 = 3;
pub const KOORD_SUSPECT_OTHER: u32 = 4;
pub const KOORD_ORIGIN_OWN: u32 = 1;
pub const KOORD_ORIGIN_THIRD_PARTY: u32 = 2;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_suspect {
    pub struct_size: u32,
    pub kind: u32,
    pub subject: u64,
    pub name: koord_str,
    pub value: f64,
    pub share: f64,
    pub excess: f64,
    pub usage: f64,
    pub request: f64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_verdict {
    pub struct_size: u32,
    pub kind: u32,
    pub resource: u32,
    pub method: u32,
    pub victim: u64,
    pub from_ns: u64,
    pub to_ns: u64,
    pub windows_over: u32,
    pub windows_seen: u32,
    pub statistic: koord_str,
    pub statistic_unit: koord_str,
    pub value: f64,
    pub baseline: f64,
    pub threshold: f64,
    pub amount_unit: koord_str,
    pub own: f64,
    pub throttled: f64,
    pub unexplained: f64,
    pub suspects: *const koord_suspect,
    pub n_suspects: u32,
    pub suspect_stride: u32,
    pub others: *const koord_label,
    pub n_others: u32,
    pub other_stride: u32,
    pub note: koord_str,
    pub ttl_ns: u64,
    pub id: u64,
    pub since_ns: u64,
    pub plugin: koord_str,
    pub victim_name: koord_str,
    pub origin: u32,
    pub rsv: u32,
}

/// Opaque.
#[repr(C)]
pub struct koord_verdict_list {
    opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_svc_verdict {
    pub struct_size: u32,
    pub rsv: u32,
    pub post: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            verdicts: *const koord_verdict,
            n: u32,
            stride: u32,
        ) -> koord_status,
    >,
    pub end: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            victim: u64,
            resource: u32,
            kind: u32,
            why: koord_str,
        ) -> koord_status,
    >,
    pub acquire:
        Option<unsafe extern "C" fn(host: *const koord_host, list: *mut *const koord_verdict_list) -> koord_status>,
    pub release: Option<unsafe extern "C" fn(host: *const koord_host, list: *const koord_verdict_list)>,
    pub verdicts: Option<
        unsafe extern "C" fn(list: *const koord_verdict_list, n: *mut u32, stride: *mut u32) -> *const koord_verdict,
    >,
    pub generation: Option<unsafe extern "C" fn(list: *const koord_verdict_list) -> u64>,
    pub subscribe: Option<unsafe extern "C" fn(host: *const koord_host, on: i32) -> koord_status>,
}

// ---- the four kinds of plugin

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_lifecycle {
    pub struct_size: u32,
    pub rsv: u32,
    pub create: Option<
        unsafe extern "C" fn(
            host: *const koord_host,
            cls: *const koord_class,
            instance: *mut *mut c_void,
        ) -> koord_status,
    >,
    pub init: Option<unsafe extern "C" fn(instance: *mut c_void) -> koord_status>,
    pub run: Option<unsafe extern "C" fn(instance: *mut c_void, stop: *const koord_stop) -> koord_status>,
    pub on_event: Option<unsafe extern "C" fn(instance: *mut c_void, what: u32, version: u64) -> koord_status>,
    pub stop: Option<unsafe extern "C" fn(instance: *mut c_void) -> koord_status>,
    pub destroy: Option<unsafe extern "C" fn(instance: *mut c_void)>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_advisor {
    pub life: koord_lifecycle,
    pub collect: Option<unsafe extern "C" fn(instance: *mut c_void, now_ns: u64, deadline_ns: u64) -> koord_status>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_scrape_target {
    pub struct_size: u32,
    pub rsv: u32,
    pub name: koord_str,
    pub url: koord_str,
    pub ca_file: koord_str,
    pub certificate_file: koord_str,
    pub key_file: koord_str,
    pub server_name: koord_str,
    pub token_file: koord_str,
    pub period_ns: u64,
    pub timeout_ns: u64,
    pub max_body_bytes: u64,
    pub max_samples: u64,
    pub max_series: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_scrape_targets {
    pub struct_size: u32,
    pub rsv: u32,
    pub r#impl: *mut c_void,
    pub add: Option<
        unsafe extern "C" fn(targets: *const koord_scrape_targets, target: *const koord_scrape_target) -> koord_status,
    >,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_series_map {
    pub struct_size: u32,
    pub rsv: u32,
    pub r#impl: *mut c_void,
    pub subject: Option<unsafe extern "C" fn(map: *const koord_series_map, handle: u64) -> koord_status>,
    pub label:
        Option<unsafe extern "C" fn(map: *const koord_series_map, name: koord_str, value: koord_str) -> koord_status>,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_external_advisor {
    pub life: koord_lifecycle,
    pub url:
        Option<unsafe extern "C" fn(instance: *mut c_void, buf: *mut c_char, cap: u64, need: *mut u64) -> koord_status>,
    pub map_sample: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            name: koord_str,
            labels: *const koord_label,
            n: u32,
            stride: u32,
            value: *mut f64,
        ) -> koord_status,
    >,
    pub map_metric: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            name: koord_str,
            buf: *mut c_char,
            cap: u64,
            need: *mut u64,
        ) -> koord_status,
    >,
    pub targets:
        Option<unsafe extern "C" fn(instance: *mut c_void, targets: *const koord_scrape_targets) -> koord_status>,
    pub on_target: Option<unsafe extern "C" fn(instance: *mut c_void, name: koord_str) -> koord_status>,
    pub map_series: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            metric: koord_str,
            labels: *const koord_label,
            n: u32,
            stride: u32,
            map: *const koord_series_map,
        ) -> koord_status,
    >,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_qos_strategy {
    pub life: koord_lifecycle,
    pub evaluate: Option<unsafe extern "C" fn(instance: *mut c_void, now_ns: u64, deadline_ns: u64) -> koord_status>,
    pub on_applied: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            results: *const koord_intent_result,
            n: u32,
            stride: u32,
        ) -> koord_status,
    >,
}

pub const KOORD_STAGE_PRE_RUN_POD_SANDBOX: u32 = 1;
pub const KOORD_STAGE_POST_STOP_POD_SANDBOX: u32 = 2;
pub const KOORD_STAGE_PRE_REMOVE_RUN_POD_SANDBOX: u32 = 4;
pub const KOORD_STAGE_PRE_CREATE_CONTAINER: u32 = 8;
pub const KOORD_STAGE_PRE_START_CONTAINER: u32 = 16;
pub const KOORD_STAGE_POST_START_CONTAINER: u32 = 32;
pub const KOORD_STAGE_PRE_UPDATE_CONTAINER_RESOURCES: u32 = 64;
pub const KOORD_STAGE_POST_STOP_CONTAINER: u32 = 128;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_hook_request {
    pub struct_size: u32,
    pub stage: u32,
    pub deadline_ns: u64,
    pub pod: *const koord_pod,
    pub container: *const koord_container,
    pub node_slo: koord_str,
    pub cri_json: koord_str,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_hook_response {
    pub struct_size: u32,
    pub rsv: u32,
    pub r#impl: *mut c_void,
    pub set: Option<
        unsafe extern "C" fn(response: *const koord_hook_response, field: koord_str, value: koord_str) -> koord_status,
    >,
    pub reject: Option<unsafe extern "C" fn(response: *const koord_hook_response, why: koord_str) -> koord_status>,
    pub scale: Option<
        unsafe extern "C" fn(response: *const koord_hook_response, field: koord_str, factor: f64) -> koord_status,
    >,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_runtime_hook {
    pub life: koord_lifecycle,
    pub stages: u32,
    pub rsv: u32,
    pub handle: Option<
        unsafe extern "C" fn(
            instance: *mut c_void,
            request: *const koord_hook_request,
            response: *const koord_hook_response,
        ) -> koord_status,
    >,
}

// ---- what a plugin exports

pub const KOORD_MAGIC: u32 = 0x4b4f5244;
pub const KOORD_SERIAL: u32 = 1;

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_class {
    pub struct_size: u32,
    pub flags: u32,
    pub kind: *const c_char,
    pub name: *const c_char,
    pub config_schema: *const c_char,
    pub vtable: *const koord_lifecycle,
    pub period_ns: u64,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct koord_module {
    pub magic: u32,
    pub struct_size: u32,
    pub abi_major: u16,
    pub abi_minor: u16,
    pub n_classes: u32,
    pub class_stride: u32,
    pub rsv: u32,
    pub manifest: *const c_char,
    pub classes: *const koord_class,
}

#[cfg(target_pointer_width = "64")]
mod sizes {
    use super::*;
    use std::mem::size_of;

    const _: () = assert!(size_of::<koord_str>() == 16);
    const _: () = assert!(size_of::<koord_label>() == 32);
    const _: () = assert!(size_of::<koord_host>() == 40);
    const _: () = assert!(size_of::<koord_stop>() == 24);
    const _: () = assert!(size_of::<koord_metric_desc>() == 80);
    const _: () = assert!(size_of::<koord_point>() == 16);
    const _: () = assert!(size_of::<koord_histogram>() == 32);
    const _: () = assert!(size_of::<koord_query>() == 64);
    const _: () = assert!(size_of::<koord_agg_row>() == 48);
    const _: () = assert!(size_of::<koord_sample>() == 24);
    const _: () = assert!(size_of::<koord_svc_metrics>() == 72);
    const _: () = assert!(size_of::<koord_resource>() == 40);
    const _: () = assert!(size_of::<koord_container>() == 88);
    const _: () = assert!(size_of::<koord_pod>() == 200);
    const _: () = assert!(size_of::<koord_node>() == 88);
    const _: () = assert!(size_of::<koord_cpu>() == 24);
    const _: () = assert!(size_of::<koord_numa_node>() == 16);
    const _: () = assert!(size_of::<koord_topology>() == 40);
    const _: () = assert!(size_of::<koord_svc_state>() == 88);
    const _: () = assert!(size_of::<koord_svc_kv>() == 32);
    const _: () = assert!(size_of::<koord_svc_config>() == 48);
    const _: () = assert!(size_of::<koord_svc_clock>() == 24);
    const _: () = assert!(size_of::<koord_svc_fs>() == 24);
    const _: () = assert!(size_of::<koord_svc_cgroup>() == 32);
    const _: () = assert!(size_of::<koord_svc_capabilities>() == 24);
    const _: () = assert!(size_of::<koord_intent>() == 112);
    const _: () = assert!(size_of::<koord_intent_result>() == 72);
    const _: () = assert!(size_of::<koord_svc_knobs>() == 32);
    const _: () = assert!(size_of::<koord_eviction>() == 72);
    const _: () = assert!(size_of::<koord_svc_evict>() == 16);
    const _: () = assert!(size_of::<koord_svc_audit>() == 16);
    const _: () = assert!(size_of::<koord_suspect>() == 72);
    const _: () = assert!(size_of::<koord_verdict>() == 256);
    const _: () = assert!(size_of::<koord_svc_verdict>() == 64);
    const _: () = assert!(size_of::<koord_lifecycle>() == 56);
    const _: () = assert!(size_of::<koord_advisor>() == 64);
    const _: () = assert!(size_of::<koord_scrape_target>() == 160);
    const _: () = assert!(size_of::<koord_scrape_targets>() == 24);
    const _: () = assert!(size_of::<koord_series_map>() == 32);
    const _: () = assert!(size_of::<koord_external_advisor>() == 104);
    const _: () = assert!(size_of::<koord_qos_strategy>() == 72);
    const _: () = assert!(size_of::<koord_hook_request>() == 64);
    const _: () = assert!(size_of::<koord_hook_response>() == 40);
    const _: () = assert!(size_of::<koord_runtime_hook>() == 72);
    const _: () = assert!(size_of::<koord_class>() == 48);
    const _: () = assert!(size_of::<koord_module>() == 40);
}
