// SPDX-License-Identifier: Apache-2.0
//! The Rust face of the plugin ABI: one crate in one file, nothing but std, Rust 1.63 or newer.
//!
//! An author implements [`Plugin`] and one of [`Advisor`], [`ExternalAdvisor`], [`QosStrategy`],
//! [`RuntimeHook`], and names the type in [`plugin!`]. Every call from the host goes through a thunk that
//! catches a panic and turns it into `KOORD_E_PANIC` with the panic's text and place; nothing is printed and
//! the next call goes on with the object as the panic left it. Only unwinding can be caught: `panic=abort`
//! does not compile. Where std itself aborts, the process ends: on failed allocations, and on a panic in a
//! `drop` that runs because of a panic.
//!
//! The contract (threads, lifetimes, units) is that of plugin.h and is not repeated here; its declarations
//! are in [`abi`] under their own names. Services are [any], as there; arguments of a plugin's functions are
//! borrowed for the call.
//!
//! It is a crate, not a module: `rustc --edition 2021 --crate-type rlib koordetector.rs`, then `--extern
//! koordetector`. The rest of a plugin's Makefile is in examples/advisor-rust.

// Threads stand as in plugin.h, [strand], which rustdoc takes for links.
#![allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]
#![allow(clippy::missing_safety_doc)]
#![warn(missing_docs)]

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;
use std::sync::{Mutex, Once, PoisonError, RwLock};
use std::time::Duration;

use abi::*;

#[cfg(panic = "abort")]
compile_error!("a plugin must be built with panic=unwind: a panic that aborts takes the whole agent along");

// ---- failures ----

/// Why a call did not succeed; returned from a plugin's function it becomes that call's status and text.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    status: koord_status,
    text: String,
}

/// Result of every fallible function here.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure of the plugin's own, with `KOORD_E_*` and a sentence for the operator.
    pub fn new(status: koord_status, text: impl Into<String>) -> Self {
        Failure { status, text: text.into() }
    }
    /// One of `KOORD_E_*`.
    pub fn status(&self) -> koord_status {
        self.status
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.text.as_str() {
            "" => write!(out, "the host answered with status {}", self.status),
            text => out.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::new(KOORD_E_IO, error.to_string())
    }
}

// A failure that the host reported has no text of ours: the host has already reported the reason.
fn check(status: koord_status) -> Result<()> {
    match status {
        KOORD_OK => Ok(()),
        status => Err(Failure::new(status, "")),
    }
}

fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(failure) if failure.status == KOORD_E_NOT_FOUND => Ok(None),
        Err(failure) => Err(failure),
    }
}

// ---- across the ABI boundary ----

fn str_of(text: &str) -> koord_str {
    koord_str { p: text.as_ptr().cast(), n: text.len() as u64 }
}

// Text that the host lends. Invalid UTF-8, which the contract forbids, is cut off where it begins.
unsafe fn text_of<'a>(text: koord_str) -> &'a str {
    if text.p.is_null() {
        return "";
    }
    let bytes = std::slice::from_raw_parts(text.p.cast::<u8>(), text.n as usize);
    std::str::from_utf8(bytes).unwrap_or_else(|error| std::str::from_utf8_unchecked(&bytes[..error.valid_up_to()]))
}

fn labels_of(labels: &[(&str, &str)]) -> Vec<koord_label> {
    labels.iter().map(|(key, value)| koord_label { key: str_of(key), value: str_of(value) }).collect()
}

const fn stride_of<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

// KOORD_HAS: a function of a host's table, which may be older than this binding and so shorter.
macro_rules! member {
    ($table:expr, $member:ident) => {{
        let table = $table;
        // SAFETY: a table is readable up to its struct_size, and nothing behind that is read.
        let function = unsafe {
            let end = ptr::addr_of!((*table).$member).wrapping_add(1) as usize - table as usize;
            if (*table).struct_size as usize >= end {
                (*table).$member
            } else {
                None
            }
        };
        function.ok_or_else(|| {
            Failure::new(KOORD_E_UNSUPPORTED, concat!("this host is too old to offer ", stringify!($member), "()"))
        })
    }};
}

// Calls a function of a service for its status.
macro_rules! call {
    ($service:expr, $member:ident $(, $argument:expr)*) => {{
        let function = member!($service.table, $member)?;
        // SAFETY: the table is valid until destroy() returns; each argument is valid as long as this
        // statement.
        check(unsafe { function($service.host $(, $argument)*) })
    }};
}

// Fills `out`, keeping its memory, with an answer that goes to the caller's buffer, whatever its length.
fn fill(out: &mut Vec<u8>, ask: impl Fn(*mut c_char, u64, *mut u64) -> Result<()>) -> Result<()> {
    out.clear();
    out.reserve(256);
    loop {
        let mut need = 0;
        match ask(out.as_mut_ptr().cast(), out.capacity() as u64, &mut need) {
            Ok(()) => {
                // SAFETY: the host has written `need` bytes, within the `capacity` that it was given.
                unsafe { out.set_len((need as usize).min(out.capacity())) };
                return Ok(());
            }
            Err(failure) if failure.status == KOORD_E_TOO_SMALL => out.reserve((need as usize).max(out.capacity() * 2)),
            Err(failure) => return Err(failure),
        }
    }
}

fn string(ask: impl Fn(*mut c_char, u64, *mut u64) -> Result<()>) -> Result<String> {
    let mut bytes = Vec::new();
    fill(&mut bytes, ask)?;
    String::from_utf8(bytes).map_err(|_| Failure::new(KOORD_E_IO, "text of the host is not UTF-8"))
}

// The same for rows; their room and need are counts.
fn rows<T: Clone>(blank: T, ask: impl Fn(*mut T, u32, *mut u32) -> Result<()>) -> Result<Vec<T>> {
    let mut rows = vec![blank.clone(); 16];
    loop {
        let mut need = 0;
        match ask(rows.as_mut_ptr(), rows.len() as u32, &mut need) {
            Ok(()) => {
                rows.truncate(need as usize);
                return Ok(rows);
            }
            Err(failure) if failure.status == KOORD_E_TOO_SMALL => {
                rows.resize((need as usize).max(rows.len() * 2), blank.clone());
            }
            Err(failure) => return Err(failure),
        }
    }
}

// ---- the host and its services ----

/// The instance's access to its host. Copies are valid until the plugin has been dropped: no thread of the
/// plugin may outlive it.
#[derive(Clone, Copy)]
pub struct Host(*const koord_host);

// SAFETY: log() and get_service() are [any]; set_error() is called by the thunks only, on the thread of the call.
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

struct Service<T> {
    host: *const koord_host,
    table: *const T,
}

impl<T> Clone for Service<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Service<T> {}

// SAFETY: services are [any]. The one that is not, propose(), is refused by the host outside evaluate().
unsafe impl<T> Send for Service<T> {}
unsafe impl<T> Sync for Service<T> {}

impl Host {
    /// For what is not wrapped here.
    pub fn raw(&self) -> *const koord_host {
        self.0
    }

    /// One line in the agent's log, level `KOORD_LOG_*`. Never blocks; the host adds the plugin's id.
    pub fn log(&self, level: i32, message: &str) {
        // SAFETY: the host is valid, see above; the message is borrowed for the call.
        unsafe {
            if let Some(log) = (*self.0).log {
                log(self.0, level, str_of(message));
            }
        }
    }

    // Why the status about to be returned is what it is. [in-call]
    fn set_error(&self, status: koord_status, why: &str) {
        // SAFETY: as log().
        unsafe {
            if let Some(set_error) = (*self.0).set_error {
                set_error(self.0, status, str_of(why));
            }
        }
    }

    // `id` with its NUL; `T` is that service's table.
    fn service<T>(&self, id: &str) -> Result<Service<T>> {
        debug_assert!(id.ends_with('\0'));
        // SAFETY: the host is valid, the id is terminated.
        let table = unsafe { (*self.0).get_service.map_or(ptr::null(), |get| get(self.0, id.as_ptr().cast())) };
        if table.is_null() {
            let text = format!("the host does not offer {}", id.trim_end_matches('\0'));
            return Err(Failure::new(KOORD_E_UNSUPPORTED, text));
        }
        Ok(Service { host: self.0, table: table.cast() })
    }
}

macro_rules! services {
    ($($(#[$doc:meta])* $name:ident($table:ty) = $method:ident $id:literal;)*) => {
        impl Host {$(
            #[doc = concat!("Asks for ", $id, ": once, in init(). `KOORD_E_UNSUPPORTED`: not offered, or not granted.")]
            pub fn $method(&self) -> Result<$name> {
                self.service(concat!($id, "\0")).map($name)
            }
        )*}
        $($(#[$doc])* #[derive(Clone, Copy)] pub struct $name(Service<$table>);)*
    };
}

services! {
    /// One path for every value: history and /metrics at once.
    Metrics(koord_svc_metrics) = metrics "koord.metrics/1";
    /// The node, its pods, NodeSLO and topology.
    State(koord_svc_state) = state "koord.state/1";
    /// Facts that change rarely, with an expiry.
    Kv(koord_svc_kv) = kv "koord.kv/1";
    /// This instance's own part of the configuration.
    Config(koord_svc_config) = config "koord.config/1";
    /// Host time and wall time.
    Clock(koord_svc_clock) = clock "koord.clock/1";
    /// The node's trees, wherever they are mounted.
    Fs(koord_svc_fs) = fs "koord.fs/1";
    /// Typed cgroup values, the same on v1 and v2.
    Cgroup(koord_svc_cgroup) = cgroup "koord.cgroup/1";
    /// Capabilities that this node has or lacks.
    Capabilities(koord_svc_capabilities) = capabilities "koord.capabilities/1";
    /// Knobs that strategies may propose values for.
    Knobs(koord_svc_knobs) = knobs "koord.knobs/1";
    /// Requests to evict pods.
    Evict(koord_svc_evict) = evict "koord.evict/1";
    /// Lines of the decision records.
    Audit(koord_svc_audit) = audit "koord.audit/1";
}

// ---- koord.metrics/1 ----

/// Definition of a metric; begin with [`gauge`](MetricSpec::gauge), [`counter`](MetricSpec::counter) or
/// [`histogram`](MetricSpec::histogram) and set what differs.
#[derive(Debug, Clone)]
pub struct MetricSpec<'a> {
    /// `[a-zA-Z_][a-zA-Z0-9_]*`, with its unit: "acme_wait_seconds".
    pub name: &'a str,
    /// "seconds", "bytes", "cores", …
    pub unit: &'a str,
    /// One sentence.
    pub help: &'a str,
    /// The smallest step worth keeping, in `unit`, > 0.
    pub resolution: f64,
    /// `KOORD_GAUGE`, `KOORD_COUNTER` or `KOORD_HISTOGRAM`.
    pub kind: u32,
    /// `KOORD_METRIC_EXPORT`, or 0: not on /metrics.
    pub flags: u32,
    /// Upper bounds of a histogram, ascending, without +Inf.
    pub bounds: &'a [f64],
}

impl<'a> MetricSpec<'a> {
    /// A value that goes up and down.
    pub const fn gauge(name: &'a str, unit: &'a str, help: &'a str) -> Self {
        MetricSpec { name, unit, help, resolution: 1.0, kind: KOORD_GAUGE, flags: KOORD_METRIC_EXPORT, bounds: &[] }
    }
    /// A value that only grows; appended as the running total.
    pub const fn counter(name: &'a str, unit: &'a str, help: &'a str) -> Self {
        MetricSpec { kind: KOORD_COUNTER, ..Self::gauge(name, unit, help) }
    }
    /// Counts below bounds; appended as running totals.
    pub const fn histogram(name: &'a str, unit: &'a str, help: &'a str, bounds: &'a [f64]) -> Self {
        MetricSpec { kind: KOORD_HISTOGRAM, bounds, ..Self::gauge(name, unit, help) }
    }
}

/// A metric that was defined; makes its series.
#[derive(Clone, Copy)]
pub struct Metric {
    metrics: Metrics,
    id: u32,
}

/// A series that was made; what samples are appended to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Series(pub u64);

/// A query of the metric cache; times are host time, inclusive, `to_ns` 0 is now.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Query<'a> {
    pub metric: &'a str,
    pub aggregation: u32, // KOORD_AGG_*; ignored by samples()
    pub from_ns: u64,
    pub to_ns: u64,
    pub subject: u64, // KOORD_NO_SUBJECT: every subject
    pub labels: &'a [(&'a str, &'a str)],
}

impl Query<'_> {
    fn raw(&self, labels: &[koord_label]) -> koord_query {
        koord_query {
            struct_size: stride_of::<koord_query>(),
            aggregation: self.aggregation,
            metric: str_of(self.metric),
            from_ns: self.from_ns,
            to_ns: self.to_ns,
            subject: self.subject,
            labels: labels.as_ptr(),
            n_labels: labels.len() as u32,
            label_stride: stride_of::<koord_label>(),
        }
    }
}

impl Metrics {
    /// Same name and description again: same metric. A name that another plugin defined: `KOORD_E_INVALID`.
    pub fn define(&self, spec: &MetricSpec) -> Result<Metric> {
        let desc = koord_metric_desc {
            struct_size: stride_of::<koord_metric_desc>(),
            r#type: spec.kind,
            flags: spec.flags,
            n_bounds: spec.bounds.len() as u32,
            name: str_of(spec.name),
            unit: str_of(spec.unit),
            help: str_of(spec.help),
            resolution: spec.resolution,
            bounds: spec.bounds.as_ptr(),
        };
        let mut id = 0;
        call!(self.0, define, &desc, &mut id)?;
        Ok(Metric { metrics: *self, id })
    }

    /// Before its subject ends, which ends it by itself.
    pub fn end_series(&self, series: Series) -> Result<()> {
        call!(self.0, end_series, series.0)
    }

    /// One row a series. A series without a sample in the window has no row: absence is never 0.
    pub fn aggregate(&self, query: &Query) -> Result<Vec<koord_agg_row>> {
        let labels = labels_of(query.labels);
        let raw = query.raw(&labels);
        let blank = koord_agg_row { subject: 0, series: 0, value: 0.0, count: 0, from_ns: 0, to_ns: 0 };
        rows(blank, |out, cap, need| call!(self.0, aggregate, &raw, out, cap, stride_of::<koord_agg_row>(), need))
    }

    /// The samples themselves.
    pub fn samples(&self, query: &Query) -> Result<Vec<koord_sample>> {
        let labels = labels_of(query.labels);
        let raw = query.raw(&labels);
        let blank = koord_sample { t_ns: 0, series: 0, value: 0.0 };
        rows(blank, |out, cap, need| call!(self.0, samples, &raw, out, cap, stride_of::<koord_sample>(), need))
    }
}

impl Metric {
    /// The series for this subject (a handle from the state, or `KOORD_NO_SUBJECT`) and these labels. Idempotent.
    pub fn series(&self, subject: u64, labels: &[(&str, &str)]) -> Result<Series> {
        let labels = labels_of(labels);
        let (first, n) = (labels.as_ptr(), labels.len() as u32);
        let mut series = 0;
        call!(self.metrics.0, series, self.id, subject, first, n, stride_of::<koord_label>(), &mut series)?;
        Ok(Series(series))
    }
}

/// The points of one tick: add() them all, then send() once. Keep it between ticks, it reuses its memory.
pub struct Batch {
    metrics: Metrics,
    points: Vec<koord_point>,
    counts: Vec<u64>,
    histograms: Vec<koord_histogram>, // `cumulative` is set by send(), when `counts` does not move any more
}

// SAFETY: the only pointers are those in `histograms`, which are read only inside send().
unsafe impl Send for Batch {}
unsafe impl Sync for Batch {}

impl Batch {
    /// An empty batch.
    pub fn new(metrics: Metrics) -> Self {
        Batch { metrics, points: Vec::new(), counts: Vec::new(), histograms: Vec::new() }
    }

    /// NaN: no value this time.
    pub fn add(&mut self, series: Series, value: f64) {
        self.points.push(koord_point { series: series.0, value });
    }

    /// `cumulative`: one count a bound and one more, each including those before; the last is the count of all.
    pub fn add_histogram(&mut self, series: Series, cumulative: &[u64], sum: f64) {
        self.counts.extend_from_slice(cumulative);
        let n = cumulative.len() as u32;
        self.histograms.push(koord_histogram { series: series.0, cumulative: ptr::null(), n, rsv: 0, sum });
    }

    /// All of it as of one moment, host time; the batch is empty afterwards, also after a failure.
    pub fn send(&mut self, t_ns: u64) -> Result<()> {
        let sent = self.send_points(t_ns);
        let sent_histograms = self.send_histograms(t_ns);
        self.points.clear();
        self.counts.clear();
        self.histograms.clear();
        sent.and(sent_histograms)
    }

    fn send_points(&self, t_ns: u64) -> Result<()> {
        let (first, n) = (self.points.as_ptr(), self.points.len() as u32);
        call!(self.metrics.0, append, t_ns, first, n, stride_of::<koord_point>())
    }

    fn send_histograms(&mut self, t_ns: u64) -> Result<()> {
        if self.histograms.is_empty() {
            return Ok(());
        }
        let mut counts = self.counts.as_slice();
        for histogram in &mut self.histograms {
            let (own, rest) = counts.split_at(histogram.n as usize);
            histogram.cumulative = own.as_ptr();
            counts = rest;
        }
        let (first, n) = (self.histograms.as_ptr(), self.histograms.len() as u32);
        call!(self.metrics.0, append_histograms, t_ns, first, n, stride_of::<koord_histogram>())
    }
}

// ---- views: the host's records, field by field ----

/// A record that the host lends for `'a`.
pub trait View: Sized {
    #[doc(hidden)]
    type Raw;
    #[doc(hidden)]
    unsafe fn of(raw: *const Self::Raw) -> Self;
}

/// An array of the ABI, stepped by its stride.
pub struct Strided<'a, V: View> {
    at: *const u8,
    left: u32,
    stride: u32,
    view: PhantomData<(&'a (), V)>,
}

impl<V: View> Strided<'_, V> {
    unsafe fn new(first: *const V::Raw, n: u32, stride: u32) -> Self {
        let left = if first.is_null() { 0 } else { n };
        Strided { at: first.cast(), left, stride, view: PhantomData }
    }
}

impl<V: View> Iterator for Strided<'_, V> {
    type Item = V;
    fn next(&mut self) -> Option<V> {
        self.left = self.left.checked_sub(1)?;
        // SAFETY: `left` was not 0, so there is a record here.
        let view = unsafe { V::of(self.at.cast()) };
        self.at = self.at.wrapping_add(self.stride as usize);
        Some(view)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

impl<V: View> ExactSizeIterator for Strided<'_, V> {}

fn unless_absent(value: i64) -> Option<i64> {
    Some(value).filter(|value| *value != KOORD_ABSENT)
}

// A getter a field. SAFETY of each: a view is made of a record that the host lends for 'a and that has every field of
// revision /1; a field that is added later needs a look at struct_size first.
macro_rules! views {
    ($($(#[$doc:meta])* $name:ident($raw:ty) {
        $(text: $($text:ident),+;)?
        $(plain: $($plain:ident: $type:ty),+;)?
        $(optional: $($optional:ident),+;)?
        $(list: $($list:ident: $view:ident($n:ident, $stride:ident)),+;)?
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy)]
        pub struct $name<'a>(*const $raw, PhantomData<&'a $raw>);

        impl<'a> View for $name<'a> {
            type Raw = $raw;
            unsafe fn of(raw: *const $raw) -> Self {
                $name(raw, PhantomData)
            }
        }

        #[allow(missing_docs)]
        impl<'a> $name<'a> {
            $($(pub fn $text(&self) -> &'a str { unsafe { text_of((*self.0).$text) } })+)?
            $($(pub fn $plain(&self) -> $type { unsafe { (*self.0).$plain } })+)?
            $($(pub fn $optional(&self) -> Option<i64> { unless_absent(unsafe { (*self.0).$optional }) })+)?
            $($(pub fn $list(&self) -> Strided<'a, $view<'a>> {
                unsafe { Strided::new((*self.0).$list, (*self.0).$n, (*self.0).$stride) }
            })+)?
        }
    )*};
}

views! {
    /// A label or annotation.
    Label(koord_label) { text: key, value; }
    /// `request`, `limit`: milli-units for CPU kinds, bytes for memory kinds, else as is; `None` when not given.
    Resource(koord_resource) { text: name; optional: request, limit; }
    /// `kind` and `state`: `KOORD_CONTAINER_*`; `cgroup_dir` is empty while it is not known.
    Container(koord_container) {
        text: id, name, cgroup_dir;
        plain: handle: u64, kind: u32, state: u32;
        list: resources: Resource(n_resources, resource_stride);
    }
    /// `phase`, `qos`, `kube_qos`, `priority_class`: `KOORD_PHASE_*`, …; `start_time_ns` is wall time.
    Pod(koord_pod) {
        text: uid, ns, name, cgroup_dir, owner_kind, owner_name;
        plain: handle: u64, phase: u32, qos: u32, kube_qos: u32, priority: i32, priority_class: u32;
        optional: start_time_ns;
        list: labels: Label(n_labels, label_stride), annotations: Label(n_annotations, label_stride),
            resources: Resource(n_resources, resource_stride), containers: Container(n_containers, container_stride);
    }
    /// The request of a resource is its allocatable amount, the limit its capacity.
    Node(koord_node) {
        text: name;
        list: labels: Label(n_labels, label_stride), annotations: Label(n_annotations, label_stride),
            resources: Resource(n_resources, resource_stride);
    }
    /// Ids from the kernel's sysfs, `u32::MAX`: unknown; `flags`: `KOORD_CPU_*`.
    Cpu(koord_cpu) { plain: cpu: u32, core: u32, socket: u32, numa_node: u32, l3: u32, flags: u32; }
    /// A node of memory.
    NumaNode(koord_numa_node) { plain: id: u32, memory_bytes: u64; }
    /// CPUs and memory.
    Topology(koord_topology) {
        list: cpus: Cpu(n_cpus, cpu_stride), numa_nodes: NumaNode(n_numa_nodes, numa_node_stride);
    }
    /// The result of an intent; `winner` is the plugin of the winning intent.
    IntentResult(koord_intent_result) { text: knob, cgroup_dir, final_value, winner; plain: status: koord_status; }
    /// A request to a hook; `stage`: `KOORD_STAGE_*`, `node_slo` and `cri_json`: JSON.
    HookRequest(koord_hook_request) { text: node_slo, cri_json; plain: stage: u32, deadline_ns: u64; }
}

unsafe fn view_of<V: View>(raw: *const V::Raw) -> Option<V> {
    (!raw.is_null()).then(|| V::of(raw))
}

impl<'a> HookRequest<'a> {
    /// The pod that is made or changed.
    pub fn pod(&self) -> Option<Pod<'a>> {
        // SAFETY: as every field.
        unsafe { view_of((*self.0).pod) }
    }
    /// `None` at the pod stages.
    pub fn container(&self) -> Option<Container<'a>> {
        // SAFETY: as every field.
        unsafe { view_of((*self.0).container) }
    }
}

// ---- koord.state/1 ----

impl State {
    /// The newest snapshot. `KOORD_E_AGAIN`: nothing is known yet, which is not "no pods".
    pub fn snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = ptr::null();
        call!(self.0, acquire, &mut snapshot)?;
        Ok(Snapshot { state: *self, snapshot })
    }

    /// Call on_event() when one of these parts, `KOORD_ON_*`, has changed; replaces what was asked before.
    pub fn subscribe(&self, parts: u32) -> Result<()> {
        call!(self.0, subscribe, parts)
    }

    /// The ids of all processes in the cgroup of a pod or container and in the cgroups below it, ascending. `subject` is a
    /// handle from the newest snapshot. `KOORD_E_GONE`: it has ended; `KOORD_E_AGAIN`: its cgroup is not known yet;
    /// `KOORD_E_UNSUPPORTED`: the agent cannot see the node's processes, or is older than 1.1.
    pub fn processes(&self, subject: u64) -> Result<Vec<i32>> {
        rows(0, |out, cap, need| call!(self.0, processes, subject, out, cap, need))
    }
}

/// An acquired snapshot of the state, immutable; released when it is dropped.
pub struct Snapshot {
    state: State,
    snapshot: *const koord_snapshot,
}

// SAFETY: a snapshot never changes, and may be released on any thread.
unsafe impl Send for Snapshot {}
unsafe impl Sync for Snapshot {}

// Asks the snapshot by a function that has only it and `$argument`s.
macro_rules! of_snapshot {
    ($self:ident, $member:ident $(, $argument:expr)*) => {
        // SAFETY: the snapshot is ours until it is dropped.
        member!($self.state.0.table, $member).ok().map(|get| unsafe { get($self.snapshot $(, $argument)*) })
    };
}

impl Snapshot {
    /// The version of a part, `KOORD_ON_*`; 0: this part is not known yet.
    pub fn version(&self, part: u32) -> u64 {
        of_snapshot!(self, version, part).unwrap_or(0)
    }
    /// The node itself.
    pub fn node(&self) -> Option<Node<'_>> {
        // SAFETY: the content of the snapshot is valid as long as it is.
        of_snapshot!(self, node).and_then(|raw| unsafe { view_of(raw) })
    }
    /// CPUs and memory.
    pub fn topology(&self) -> Option<Topology<'_>> {
        // SAFETY: as node().
        of_snapshot!(self, topology).and_then(|raw| unsafe { view_of(raw) })
    }
    /// The merged NodeSLO's spec as JSON; empty if missing.
    pub fn node_slo(&self) -> &str {
        // SAFETY: as node().
        of_snapshot!(self, node_slo).map_or("", |raw| unsafe { text_of(raw) })
    }
    /// The pods of the node.
    pub fn pods(&self) -> Strided<'_, Pod<'_>> {
        let (mut n, mut stride) = (0, 0);
        let first = of_snapshot!(self, pods, &mut n, &mut stride).unwrap_or(ptr::null());
        // SAFETY: as node().
        unsafe { Strided::new(first, n, stride) }
    }
    /// Containers outside any pod: docker, podman, systemd services, cgroups named in the configuration.
    pub fn containers(&self) -> Strided<'_, Container<'_>> {
        let (mut n, mut stride) = (0, 0);
        let first = of_snapshot!(self, containers, &mut n, &mut stride).unwrap_or(ptr::null());
        // SAFETY: as node().
        unsafe { Strided::new(first, n, stride) }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if let Ok(release) = member!(self.state.0.table, release) {
            // SAFETY: acquired once, released once.
            unsafe { release(self.state.0.host, self.snapshot) }
        }
    }
}

// ---- the smaller services ----

impl Kv {
    /// The value of an own key, or of another plugin's as "<plugin id>/<key>"; `None`: missing or expired.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        let read = fill(&mut value, |buf, cap, need| call!(self.0, get, str_of(key), buf.cast(), cap, need));
        found(read.map(|()| value))
    }
    /// `ttl` zero: until replaced.
    pub fn set(&self, key: &str, value: &[u8], ttl: Duration) -> Result<()> {
        call!(self.0, set, str_of(key), value.as_ptr().cast(), value.len() as u64, ttl.as_nanos() as u64)
    }
    /// Removes an own key; one that does not exist is no error. Older hosts: `KOORD_E_UNSUPPORTED`.
    pub fn remove(&self, key: &str) -> Result<()> {
        call!(self.0, remove, str_of(key))
    }
}

impl Config {
    /// The whole configuration; "{}" if nothing is configured.
    pub fn json(&self) -> Result<String> {
        string(|buf, cap, need| call!(self.0, json, buf, cap, need))
    }
    /// `pointer` as RFC 6901: "/limits/cpu". Not there: `None`; another type: `KOORD_E_INVALID`.
    pub fn i64(&self, pointer: &str) -> Result<Option<i64>> {
        let mut value = 0;
        found(call!(self.0, i64, str_of(pointer), &mut value).map(|()| value))
    }
    /// As [`i64`](Config::i64).
    pub fn f64(&self, pointer: &str) -> Result<Option<f64>> {
        let mut value = 0.0;
        found(call!(self.0, f64, str_of(pointer), &mut value).map(|()| value))
    }
    /// As [`i64`](Config::i64).
    pub fn boolean(&self, pointer: &str) -> Result<Option<bool>> {
        let mut value = 0;
        found(call!(self.0, boolean, str_of(pointer), &mut value).map(|()| value != 0))
    }
    /// As [`i64`](Config::i64).
    pub fn string(&self, pointer: &str) -> Result<Option<String>> {
        found(string(|buf, cap, need| call!(self.0, string, str_of(pointer), buf, cap, need)))
    }
}

impl Clock {
    /// Host time: never steps, includes suspend. Compute intervals with it.
    pub fn now_ns(&self) -> u64 {
        // SAFETY: as call!.
        member!(self.0.table, now_ns).map_or(0, |now| unsafe { now(self.0.host) })
    }
    /// Unix time, which may step; for labels only.
    pub fn wall_ns(&self) -> u64 {
        // SAFETY: as call!.
        member!(self.0.table, wall_ns).map_or(0, |wall| unsafe { wall(self.0.host) })
    }
}

impl Fs {
    /// Where a root, `KOORD_ROOT_*`, is mounted.
    pub fn path(&self, root: u32) -> Result<String> {
        string(|buf, cap, need| call!(self.0, path, root, buf, cap, need))
    }
    /// The content of a small file below a root; `relative` may not leave it.
    pub fn read(&self, root: u32, relative: &str) -> Result<String> {
        string(|buf, cap, need| call!(self.0, read, root, str_of(relative), buf, cap, need))
    }
    /// The same into a buffer that is kept between ticks, and of files that are no text.
    pub fn read_into(&self, root: u32, relative: &str, content: &mut Vec<u8>) -> Result<()> {
        fill(content, |buf, cap, need| call!(self.0, read, root, str_of(relative), buf, cap, need))
    }
}

impl Cgroup {
    /// Logical files and keys are in plugin.h. `KOORD_E_GONE`: no such cgroup; `KOORD_E_UNSUPPORTED`: this kernel has
    /// no such file; `KOORD_E_INVALID`: no such logical file or key.
    pub fn open(&self, cgroup_dir: &str, file: &str, keys: &[&str]) -> Result<CgroupFile> {
        let keys: Vec<koord_str> = keys.iter().map(|key| str_of(key)).collect();
        let mut handle = 0;
        call!(self.0, open, str_of(cgroup_dir), str_of(file), keys.as_ptr(), keys.len() as u32, &mut handle)?;
        Ok(CgroupFile { cgroup: *self, handle })
    }
}

/// An open cgroup file; closed when it is dropped.
pub struct CgroupFile {
    cgroup: Cgroup,
    handle: u64,
}

impl CgroupFile {
    /// Values in the order of the keys, `KOORD_ABSENT` for a key this kernel lacks, and when they were read: rates are
    /// over this time. `KOORD_E_GONE`: drop the file, the cgroup has ended.
    pub fn read(&self, values: &mut [i64]) -> Result<u64> {
        let mut read_ns = 0;
        call!(self.cgroup.0, read, self.handle, values.as_mut_ptr(), values.len() as u32, &mut read_ns)?;
        Ok(read_ns)
    }
}

impl Drop for CgroupFile {
    fn drop(&mut self) {
        if let Ok(close) = member!(self.cgroup.0.table, close) {
            // SAFETY: opened once, closed once.
            unsafe { close(self.cgroup.0.host, self.handle) }
        }
    }
}

impl Capabilities {
    /// `KOORD_CAPABILITY_*` of one of the host's capabilities, or of one that a plugin reported.
    pub fn get(&self, name: &str) -> Result<u32> {
        let mut state = 0;
        call!(self.0, get, str_of(name), &mut state)?;
        Ok(state)
    }
    /// How this plugin does on this node, shown to operators beside the plugin's name.
    pub fn report(&self, name: &str, state: u32, detail: &str) -> Result<()> {
        call!(self.0, report, str_of(name), state, str_of(detail))
    }
}

/// An intent: this value, or this part of a value, for this knob of this cgroup. The host arbitrates, writes, verifies and
/// reverts.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Intent<'a> {
    pub level: u32, // KOORD_LEVEL_*
    pub knob: &'a str,
    pub cgroup_dir: &'a str,
    pub value: &'a str,
    pub reason: &'a str,
    pub inputs: &'a [(&'a str, &'a str)],
    pub priority: i32,
    pub flags: u32,
    pub ttl: Duration,
    pub role: u32, // KOORD_ROLE_*; the default is KOORD_ROLE_SET
}

impl Intent<'_> {
    fn raw(&self, inputs: &[koord_label]) -> koord_intent {
        koord_intent {
            struct_size: stride_of::<koord_intent>(),
            level: self.level,
            knob: str_of(self.knob),
            cgroup_dir: str_of(self.cgroup_dir),
            value: str_of(self.value),
            reason: str_of(self.reason),
            inputs: inputs.as_ptr(),
            n_inputs: inputs.len() as u32,
            input_stride: stride_of::<koord_label>(),
            priority: self.priority,
            flags: self.flags,
            ttl_ns: self.ttl.as_nanos() as u64,
            role: self.role,
            rsv: 0,
        }
    }
}

impl Knobs {
    /// All that is proposed during one evaluate() is one plan and replaces the plan before. [in-call: evaluate]
    pub fn propose(&self, intents: &[Intent]) -> Result<()> {
        let inputs: Vec<Vec<koord_label>> = intents.iter().map(|intent| labels_of(intent.inputs)).collect();
        let raw: Vec<koord_intent> = intents.iter().zip(&inputs).map(|(intent, inputs)| intent.raw(inputs)).collect();
        call!(self.0, propose, raw.as_ptr(), raw.len() as u32, stride_of::<koord_intent>())
    }
    /// The base that the host takes for a knob when no intent gives one; never a value that the host wrote.
    pub fn base(&self, knob: &str, cgroup_dir: &str) -> Result<String> {
        string(|buf, cap, need| call!(self.0, base, str_of(knob), str_of(cgroup_dir), buf, cap, need))
    }
    /// The value that a knob has now, which may be one that the host wrote.
    pub fn current(&self, knob: &str, cgroup_dir: &str) -> Result<String> {
        string(|buf, cap, need| call!(self.0, current, str_of(knob), str_of(cgroup_dir), buf, cap, need))
    }
}

/// A request to evict: `pods` are handles, the first to go first.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Eviction<'a> {
    pub pods: &'a [u64],
    pub resource: &'a str, // "cpu", "memory": what is short
    pub reason: &'a str,
    pub amount: i64, // milli-cores or bytes to release: the host stops when it is enough
    pub inputs: &'a [(&'a str, &'a str)],
}

impl Evict {
    /// [in-call: evaluate]
    pub fn request(&self, eviction: &Eviction) -> Result<()> {
        let inputs = labels_of(eviction.inputs);
        let raw = koord_eviction {
            struct_size: stride_of::<koord_eviction>(),
            n_pods: eviction.pods.len() as u32,
            pods: eviction.pods.as_ptr(),
            resource: str_of(eviction.resource),
            reason: str_of(eviction.reason),
            amount: eviction.amount,
            inputs: inputs.as_ptr(),
            n_inputs: inputs.len() as u32,
            input_stride: stride_of::<koord_label>(),
        };
        call!(self.0, request, &raw)
    }
}

impl Audit {
    /// Records an action or observation, its subject (a handle or 0), and why.
    pub fn record(&self, subject: u64, what: &str, why: &str) -> Result<()> {
        call!(self.0, record, subject, str_of(what), str_of(why))
    }
}

// ---- what an author implements ----

/// How an instance's own thread learns that it is to end.
pub struct Stop<'a>(&'a koord_stop);

impl Stop<'_> {
    /// Becomes readable on stop; for poll(2). Do not read or close it.
    pub fn fd(&self) -> i32 {
        self.0.fd
    }
    /// True: stop now; false: the time is up.
    pub fn wait(&self, timeout: Duration) -> bool {
        // SAFETY: the host lends it for the whole of run().
        self.0.wait.map_or(true, |wait| unsafe { wait(self.0, timeout.as_nanos() as u64) != 0 })
    }
}

/// The function that runs on an instance's own thread, beside its other functions. [own thread]
pub type Runner = Box<dyn FnOnce(&Stop) -> Result<()> + Send>;

/// Functions of all four kinds. The object is made by init() and dropped by the host's destroy(), when all
/// its threads must have been joined. [control]
pub trait Plugin: Send + Sized + 'static {
    /// Has it a thread of its own? Then runner() is asked once, after init().
    const RUNS: bool = false;

    /// Get services, define metrics, open files. `KOORD_E_UNSUPPORTED`: this node cannot have this plugin; it is listed
    /// as absent with the failure's text and not tried again. [control]
    fn init(host: Host) -> Result<Self>;

    /// For plugins that wait for events themselves: the function to run; it returns when `Stop` fires, within 2 s. [control]
    fn runner(&mut self) -> Result<Runner> {
        Err(Failure::new(KOORD_E_UNSUPPORTED, "RUNS is set, but there is no runner()"))
    }
    /// A part of the state changed (`KOORD_ON_*`), to this version. Unless it is written here, a new configuration is refused: the
    /// old one stays in force until the plugin's next start, and `koordctl plugins` says so. [strand]
    fn on_event(&mut self, what: u32, _version: u64) -> Result<()> {
        match what {
            KOORD_ON_CONFIG => Err(Failure::new(KOORD_E_UNSUPPORTED, "this plugin reads its configuration at its start only")),
            _ => Ok(()),
        }
    }
    /// No further tick will come; the runner may still run. [control]
    fn stop(&mut self) -> Result<()> {
        Ok(())
    }
}

/// "koord.advisor/1": collects metrics.
pub trait Advisor: Plugin {
    /// One tick. If it runs past `deadline_ns`, the next ticks are skipped. [strand]
    fn collect(&mut self, _now_ns: u64, _deadline_ns: u64) -> Result<()> {
        Ok(())
    }
}

/// "koord.external-advisor/1": brings in another program's metrics; the host scrapes.
pub trait ExternalAdvisor: Plugin {
    /// "http://127.0.0.1:9100/metrics" or "unix:/run/x.sock:/metrics"; asked at start and after a configuration event.
    /// [strand]
    fn url(&mut self) -> Result<String>;
    /// Returns the name of the endpoint's metric on this node; `None` leaves it out. Asked once for each
    /// metric. [strand]
    fn map_metric(&mut self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }
    /// See one scraped sample, change its value; false drops it. [strand]
    fn map_sample(&mut self, _name: &str, _labels: Strided<'_, Label<'_>>, _value: &mut f64) -> bool {
        true
    }
}

/// "koord.qos-strategy/1": decides which knobs to turn, through [`Knobs`] only.
pub trait QosStrategy: Plugin {
    /// One decision. [strand]
    fn evaluate(&mut self, now_ns: u64, deadline_ns: u64) -> Result<()>;
    /// Receives the results of the plan. [strand]
    fn on_applied(&mut self, _results: Strided<'_, IntentResult<'_>>) -> Result<()> {
        Ok(())
    }
}

/// "koord.runtime-hook/1": adjusts pods and containers as they are made.
pub trait RuntimeHook: Plugin + Sync {
    /// `KOORD_STAGE_*`, or-ed.
    const STAGES: u32;
    /// A pure function of the request. [any], several at once unless the class has `flags: KOORD_SERIAL`; never beside
    /// on_event() or stop().
    fn handle(&self, request: HookRequest<'_>, response: &HookResponse<'_>) -> Result<()>;
}

/// The response of a hook.
pub struct HookResponse<'a>(&'a koord_hook_response);

impl HookResponse<'_> {
    /// "linux.cpu.shares", "linux.cpuset.cpus", "env:NAME", …: the list is in plugin.h.
    pub fn set(&self, field: &str, value: &str) -> Result<()> {
        let set = member!(self.0 as *const koord_hook_response, set)?;
        // SAFETY: the host lends the response for the call.
        check(unsafe { set(self.0, str_of(field), str_of(value)) })
    }
    /// The pod or container is not to be made.
    pub fn reject(&self, why: &str) -> Result<()> {
        let reject = member!(self.0 as *const koord_hook_response, reject)?;
        // SAFETY: as set().
        check(unsafe { reject(self.0, str_of(why)) })
    }
}

// ---- the guard: nothing unwinds into the host ----

thread_local! {
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
    static PANICKED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

// A panic inside a call is reported by the guard, so the hook only notes where it was. On threads of the
// plugin's own std reports it: nothing else would.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IN_CALL.try_with(Cell::get).unwrap_or(false) {
                return loud(panic);
            }
            let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
            PANICKED_AT.with(|at| at.replace(place.unwrap_or_default()));
        }));
    });
}

fn text_of_panic(payload: Box<dyn Any + Send>) -> String {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a text".to_owned(),
    };
    std::mem::forget(payload); // dropping what the author threw might panic again, outside of any net
    text + &PANICKED_AT.with(RefCell::take)
}

fn guard(host: Host, body: impl FnOnce() -> Result<()>) -> koord_status {
    let outer = IN_CALL.with(|in_call| in_call.replace(true));
    let done = catch_unwind(AssertUnwindSafe(body));
    IN_CALL.with(|in_call| in_call.set(outer));
    let failure = match done {
        Ok(Ok(())) => return KOORD_OK,
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::new(KOORD_E_PANIC, text_of_panic(payload)),
    };
    if !failure.text.is_empty() {
        host.set_error(failure.status, &failure.text);
    }
    failure.status
}

// ---- thunks: plain functions for the host's table, each a guard around one function of the author's ----

// The locks cost nothing, as the host calls serially where the law says so, and make it sound where it does not. A
// poisoned one is taken all the same: after a panic the next tick goes on.
struct Instance<T> {
    host: Host,
    plugin: RwLock<Option<T>>,
    runner: Mutex<Option<Runner>>,
}

fn not_initialised() -> Failure {
    Failure::new(KOORD_E_INVALID, "called before init() succeeded")
}

unsafe extern "C" fn create<T: Plugin>(
    host: *const koord_host,
    _class: *const koord_class,
    out: *mut *mut c_void,
) -> koord_status {
    quiet_panics();
    let host = Host(host);
    guard(host, || {
        let instance = Instance::<T> { host, plugin: RwLock::new(None), runner: Mutex::new(None) };
        *out = Box::into_raw(Box::new(instance)).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy<T: Plugin>(instance: *mut c_void) {
    let instance = Box::from_raw(instance.cast::<Instance<T>>());
    guard(instance.host, move || {
        drop(instance);
        Ok(())
    });
}

unsafe extern "C" fn init<T: Plugin>(instance: *mut c_void) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let mut plugin = T::init(instance.host)?;
        if T::RUNS {
            *instance.runner.lock().unwrap_or_else(PoisonError::into_inner) = Some(plugin.runner()?);
        }
        *instance.plugin.write().unwrap_or_else(PoisonError::into_inner) = Some(plugin);
        Ok(())
    })
}

unsafe extern "C" fn run<T: Plugin>(instance: *mut c_void, stop: *const koord_stop) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let runner = instance.runner.lock().unwrap_or_else(PoisonError::into_inner).take();
        runner.ok_or_else(not_initialised)?(&Stop(&*stop))
    })
}

unsafe fn with<T: Plugin>(instance: *mut c_void, body: impl FnOnce(&mut T) -> Result<()>) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let mut plugin = instance.plugin.write().unwrap_or_else(PoisonError::into_inner);
        body(plugin.as_mut().ok_or_else(not_initialised)?)
    })
}

unsafe extern "C" fn on_event<T: Plugin>(instance: *mut c_void, what: u32, version: u64) -> koord_status {
    with(instance, |plugin: &mut T| plugin.on_event(what, version))
}

unsafe extern "C" fn stop<T: Plugin>(instance: *mut c_void) -> koord_status {
    with(instance, |plugin: &mut T| plugin.stop())
}

unsafe extern "C" fn collect<T: Advisor>(instance: *mut c_void, now_ns: u64, deadline_ns: u64) -> koord_status {
    with(instance, |plugin: &mut T| plugin.collect(now_ns, deadline_ns))
}

// An answer to the host's buffer, by the rule of the ABI.
unsafe fn answer(text: &str, buf: *mut c_char, cap: u64, need: *mut u64) -> Result<()> {
    *need = text.len() as u64;
    if *need > cap {
        return check(KOORD_E_TOO_SMALL);
    }
    ptr::copy_nonoverlapping(text.as_ptr(), buf.cast(), text.len());
    Ok(())
}

unsafe extern "C" fn url<T: ExternalAdvisor>(
    instance: *mut c_void,
    buf: *mut c_char,
    cap: u64,
    need: *mut u64,
) -> koord_status {
    with(instance, |plugin: &mut T| answer(&plugin.url()?, buf, cap, need))
}

unsafe extern "C" fn map_metric<T: ExternalAdvisor>(
    instance: *mut c_void,
    name: koord_str,
    buf: *mut c_char,
    cap: u64,
    need: *mut u64,
) -> koord_status {
    with(instance, |plugin: &mut T| match plugin.map_metric(text_of(name)) {
        Some(mapped) => answer(&mapped, buf, cap, need),
        None => check(KOORD_E_GONE),
    })
}

unsafe extern "C" fn map_sample<T: ExternalAdvisor>(
    instance: *mut c_void,
    name: koord_str,
    labels: *const koord_label,
    n: u32,
    stride: u32,
    value: *mut f64,
) -> koord_status {
    with(instance, |plugin: &mut T| {
        match plugin.map_sample(text_of(name), Strided::new(labels, n, stride), &mut *value) {
            true => Ok(()),
            false => check(KOORD_E_GONE),
        }
    })
}

unsafe extern "C" fn evaluate<T: QosStrategy>(instance: *mut c_void, now_ns: u64, deadline_ns: u64) -> koord_status {
    with(instance, |plugin: &mut T| plugin.evaluate(now_ns, deadline_ns))
}

unsafe extern "C" fn on_applied<T: QosStrategy>(
    instance: *mut c_void,
    results: *const koord_intent_result,
    n: u32,
    stride: u32,
) -> koord_status {
    with(instance, |plugin: &mut T| plugin.on_applied(Strided::new(results, n, stride)))
}

unsafe extern "C" fn handle<T: RuntimeHook>(
    instance: *mut c_void,
    request: *const koord_hook_request,
    response: *const koord_hook_response,
) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let plugin = instance.plugin.read().unwrap_or_else(PoisonError::into_inner);
        plugin.as_ref().ok_or_else(not_initialised)?.handle(HookRequest::of(request), &HookResponse(&*response))
    })
}

const fn lifecycle<T: Plugin>(table_size: u32) -> koord_lifecycle {
    koord_lifecycle {
        struct_size: table_size,
        rsv: 0,
        create: Some(create::<T>),
        init: Some(init::<T>),
        run: if T::RUNS { Some(run::<T>) } else { None },
        on_event: Some(on_event::<T>),
        stop: Some(stop::<T>),
        destroy: Some(destroy::<T>),
    }
}

// A table a type, in read-only memory.
struct Table<T>(PhantomData<T>);

impl<T: Advisor> Table<T> {
    const ADVISOR: &'static koord_advisor =
        &koord_advisor { life: lifecycle::<T>(stride_of::<koord_advisor>()), collect: Some(collect::<T>) };
}

impl<T: ExternalAdvisor> Table<T> {
    const EXTERNAL_ADVISOR: &'static koord_external_advisor = &koord_external_advisor {
        life: lifecycle::<T>(stride_of::<koord_external_advisor>()),
        url: Some(url::<T>),
        map_sample: Some(map_sample::<T>),
        map_metric: Some(map_metric::<T>),
        targets: None,
        on_target: None,
        map_series: None,
    };
}

impl<T: QosStrategy> Table<T> {
    const QOS_STRATEGY: &'static koord_qos_strategy = &koord_qos_strategy {
        life: lifecycle::<T>(stride_of::<koord_qos_strategy>()),
        evaluate: Some(evaluate::<T>),
        on_applied: Some(on_applied::<T>),
    };
}

impl<T: RuntimeHook> Table<T> {
    const RUNTIME_HOOK: &'static koord_runtime_hook = &koord_runtime_hook {
        life: lifecycle::<T>(stride_of::<koord_runtime_hook>()),
        stages: T::STAGES,
        rsv: 0,
        handle: Some(handle::<T>),
    };
}

// ---- what plugin! expands to ----

/// A class as it is written in [`plugin!`].
pub struct ClassSpec {
    /// Unique in the module.
    pub name: &'static str,
    /// Between ticks; the configuration may say otherwise. Zero: no ticks.
    pub period: Duration,
    /// JSON Schema for koord.config/1, checked before init(); left out: anything goes.
    pub config_schema: &'static str,
    /// `KOORD_SERIAL`, or 0.
    pub flags: u32,
}

impl ClassSpec {
    #[doc(hidden)]
    pub const NOTHING: ClassSpec = ClassSpec { name: "\0", period: Duration::ZERO, config_schema: "\0", flags: 0 };

    // `kind` with its NUL, as plugin! makes the texts of the class.
    const fn class(self, kind: &'static str, vtable: *const koord_lifecycle) -> koord_class {
        let no_schema = self.config_schema.len() == 1;
        koord_class {
            struct_size: stride_of::<koord_class>(),
            flags: self.flags,
            kind: kind.as_ptr().cast(),
            name: self.name.as_ptr().cast(),
            config_schema: if no_schema { ptr::null() } else { self.config_schema.as_ptr().cast() },
            vtable,
            period_ns: self.period.as_nanos() as u64,
        }
    }
}

/// The four kinds by the words that [`plugin!`] knows them by.
#[doc(hidden)]
#[allow(missing_docs)]
pub mod kinds {
    use super::*;

    pub const fn advisor<T: Advisor>(spec: ClassSpec) -> koord_class {
        spec.class("koord.advisor/1\0", &Table::<T>::ADVISOR.life)
    }
    pub const fn external_advisor<T: ExternalAdvisor>(spec: ClassSpec) -> koord_class {
        spec.class("koord.external-advisor/1\0", &Table::<T>::EXTERNAL_ADVISOR.life)
    }
    pub const fn qos_strategy<T: QosStrategy>(spec: ClassSpec) -> koord_class {
        spec.class("koord.qos-strategy/1\0", &Table::<T>::QOS_STRATEGY.life)
    }
    pub const fn runtime_hook<T: RuntimeHook>(spec: ClassSpec) -> koord_class {
        spec.class("koord.runtime-hook/1\0", &Table::<T>::RUNTIME_HOOK.life)
    }
}

/// The module: the manifest's lines (after its first and `abi`, which are added), then its classes. Once in a .so.
///
/// ```ignore
/// koordetector::plugin! {
///     manifest: "id=org.example.hello\nversion=1.0.0\nkinds=koord.advisor/1\ngate=Hello\nrequires=koord.metrics/1\n",
///     advisor Hello { name: "hello", period: Duration::from_secs(1) }
/// }
/// ```
/// The other kinds are `external_advisor`, `qos_strategy`, `runtime_hook`; the fields are those of [`ClassSpec`].
#[macro_export]
macro_rules! plugin {
    (manifest: $lines:expr, $($kind:ident $plugin:ty { $($field:ident: $value:expr),+ $(,)? })+) => {
        #[cfg(panic = "abort")]
        compile_error!("a plugin must be built with panic=unwind: a panic that aborts takes the whole agent along");

        const _: () = {
            use $crate::abi::*;

            const TEXT: &str = concat!("koord-manifest/1\nabi=1.1\n", $lines, "\0");
            #[used]
            #[link_section = ".koord_manifest"]
            static MANIFEST: [u8; TEXT.len()] = unsafe { *TEXT.as_ptr().cast() };

            const CLASSES: &[koord_class] = &[$($crate::kinds::$kind::<$plugin>($crate::ClassSpec {
                $($field: $crate::terminated!($field $value),)+
                ..$crate::ClassSpec::NOTHING
            })),+];
            static MODULE: koord_module = koord_module {
                magic: KOORD_MAGIC,
                struct_size: std::mem::size_of::<koord_module>() as u32,
                abi_major: KOORD_ABI_MAJOR,
                abi_minor: KOORD_ABI_MINOR,
                n_classes: CLASSES.len() as u32,
                class_stride: std::mem::size_of::<koord_class>() as u32,
                rsv: 0,
                manifest: unsafe { &MANIFEST as *const [u8; TEXT.len()] }.cast(),
                classes: CLASSES.as_ptr(),
            };

            #[no_mangle]
            pub extern "C" fn koord_entry_v1() -> *const koord_module {
                &MODULE
            }
        };
    };
}

/// The texts of a class need a NUL, which only a literal can be given.
#[doc(hidden)]
#[macro_export]
macro_rules! terminated {
    (name $text:expr) => {
        concat!($text, "\0")
    };
    (config_schema $text:expr) => {
        concat!($text, "\0")
    };
    ($field:ident $value:expr) => {
        $value
    };
}

// ---- the mirror ----

/// The declarations of plugin.h under their own names, documented there. A function that may be missing, and so every
/// function, is an `Option`.
#[allow(non_camel_case_types, missing_docs)]
pub mod abi {
    use std::os::raw::{c_char, c_void};

    pub type koord_status = i32;

    pub const KOORD_ABI_MAJOR: u16 = 1;
    pub const KOORD_ABI_MINOR: u16 = 1;

    // ---- status
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

    // ---- koord.metrics/1
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
            unsafe extern "C" fn(
                host: *const koord_host,
                desc: *const koord_metric_desc,
                metric: *mut u32,
            ) -> koord_status,
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

    // ---- koord.state/1
    pub const KOORD_ON_NODE: u32 = 1;
    pub const KOORD_ON_PODS: u32 = 2;
    pub const KOORD_ON_NODE_SLO: u32 = 4;
    pub const KOORD_ON_TOPOLOGY: u32 = 8;
    pub const KOORD_ON_CONFIG: u32 = 16;
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
            unsafe extern "C" fn(
                snapshot: *const koord_snapshot,
                n: *mut u32,
                stride: *mut u32,
            ) -> *const koord_container,
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

    // ---- koord.kv/1

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

    // ---- koord.config/1

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct koord_svc_config {
        pub struct_size: u32,
        pub rsv: u32,
        pub json: Option<
            unsafe extern "C" fn(host: *const koord_host, buf: *mut c_char, cap: u64, need: *mut u64) -> koord_status,
        >,
        pub i64:
            Option<unsafe extern "C" fn(host: *const koord_host, pointer: koord_str, value: *mut i64) -> koord_status>,
        pub f64:
            Option<unsafe extern "C" fn(host: *const koord_host, pointer: koord_str, value: *mut f64) -> koord_status>,
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

    // ---- koord.fs/1
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

    // ---- koord.cgroup/1

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

    // ---- koord.capabilities/1
    pub const KOORD_CAPABILITY_SUPPORTED: u32 = 1;
    pub const KOORD_CAPABILITY_ABSENT: u32 = 2;
    pub const KOORD_CAPABILITY_BROKEN: u32 = 3;

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct koord_svc_capabilities {
        pub struct_size: u32,
        pub rsv: u32,
        pub get:
            Option<unsafe extern "C" fn(host: *const koord_host, name: koord_str, state: *mut u32) -> koord_status>,
        pub report: Option<
            unsafe extern "C" fn(
                host: *const koord_host,
                name: koord_str,
                state: u32,
                detail: koord_str,
            ) -> koord_status,
        >,
    }

    // ---- koord.knobs/1, koord.evict/1, koord.audit/1
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
        pub request:
            Option<unsafe extern "C" fn(host: *const koord_host, eviction: *const koord_eviction) -> koord_status>,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct koord_svc_audit {
        pub struct_size: u32,
        pub rsv: u32,
        pub record: Option<
            unsafe extern "C" fn(
                host: *const koord_host,
                subject: u64,
                what: koord_str,
                why: koord_str,
            ) -> koord_status,
        >,
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
            unsafe extern "C" fn(
                targets: *const koord_scrape_targets,
                target: *const koord_scrape_target,
            ) -> koord_status,
        >,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct koord_series_map {
        pub struct_size: u32,
        pub rsv: u32,
        pub r#impl: *mut c_void,
        pub subject: Option<unsafe extern "C" fn(map: *const koord_series_map, handle: u64) -> koord_status>,
        pub label: Option<
            unsafe extern "C" fn(map: *const koord_series_map, name: koord_str, value: koord_str) -> koord_status,
        >,
    }

    #[repr(C)]
    #[derive(Clone, Copy)]
    pub struct koord_external_advisor {
        pub life: koord_lifecycle,
        pub url: Option<
            unsafe extern "C" fn(instance: *mut c_void, buf: *mut c_char, cap: u64, need: *mut u64) -> koord_status,
        >,
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
        pub evaluate:
            Option<unsafe extern "C" fn(instance: *mut c_void, now_ns: u64, deadline_ns: u64) -> koord_status>,
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
            unsafe extern "C" fn(
                response: *const koord_hook_response,
                field: koord_str,
                value: koord_str,
            ) -> koord_status,
        >,
        pub reject: Option<unsafe extern "C" fn(response: *const koord_hook_response, why: koord_str) -> koord_status>,
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

    // SAFETY: a module is a constant, and so is all that it points to.
    unsafe impl Sync for koord_module {}

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
        const _: () = assert!(size_of::<koord_lifecycle>() == 56);
        const _: () = assert!(size_of::<koord_advisor>() == 64);
        const _: () = assert!(size_of::<koord_scrape_target>() == 160);
        const _: () = assert!(size_of::<koord_scrape_targets>() == 24);
        const _: () = assert!(size_of::<koord_series_map>() == 32);
        const _: () = assert!(size_of::<koord_external_advisor>() == 104);
        const _: () = assert!(size_of::<koord_qos_strategy>() == 72);
        const _: () = assert!(size_of::<koord_hook_request>() == 64);
        const _: () = assert!(size_of::<koord_hook_response>() == 32);
        const _: () = assert!(size_of::<koord_runtime_hook>() == 72);
        const _: () = assert!(size_of::<koord_class>() == 48);
        const _: () = assert!(size_of::<koord_module>() == 40);
    }
}
