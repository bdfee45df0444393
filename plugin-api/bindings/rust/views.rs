// SPDX-License-Identifier: Apache-2.0
//! Views: the host's records, field by field.

use std::marker::PhantomData;

use crate::abi::*;
use crate::boundary::text_of;

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
    pub(crate) unsafe fn new(first: *const V::Raw, n: u32, stride: u32) -> Self {
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

// Defines one getter for each field. SAFETY of each: a view wraps a record that the host lends for 'a and that has
// every field of revision /1. For a field that is added later, struct_size must be checked first.
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
    /// `request`, `limit`: milli-units for CPU kinds, bytes for memory kinds, otherwise unchanged; `None` if not set.
    Resource(koord_resource) { text: name; optional: request, limit; }
    /// `kind` and `state`: `KOORD_CONTAINER_*`; `cgroup_dir` is empty while it is unknown.
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
    /// Ids from the kernel's sysfs; `u32::MAX`: unknown. `flags`: `KOORD_CPU_*`.
    Cpu(koord_cpu) { plain: cpu: u32, core: u32, socket: u32, numa_node: u32, l3: u32, flags: u32; }
    /// A NUMA node with memory.
    NumaNode(koord_numa_node) { plain: id: u32, memory_bytes: u64; }
    /// CPUs and memory.
    Topology(koord_topology) {
        list: cpus: Cpu(n_cpus, cpu_stride), numa_nodes: NumaNode(n_numa_nodes, numa_node_stride);
    }
    /// The result of an intent; `winner` is the plugin of the winning intent.
    IntentResult(koord_intent_result) { text: knob, cgroup_dir, final_value, winner; plain: status: koord_status; }
    /// A suspect of a verdict; `kind`: `KOORD_SUSPECT_*`; NaN: unknown.
    PostedSuspect(koord_suspect) {
        text: name;
        plain: kind: u32, subject: u64, value: f64, share: f64, excess: f64, usage: f64, request: f64;
    }
    /// A standing verdict; `origin`: `KOORD_ORIGIN_*`; NaN: unknown.
    PostedVerdict(koord_verdict) {
        text: statistic, statistic_unit, amount_unit, note, plugin, victim_name;
        plain: kind: u32, resource: u32, method: u32, victim: u64, from_ns: u64, to_ns: u64, windows_over: u32,
            windows_seen: u32, value: f64, baseline: f64, threshold: f64, own: f64, throttled: f64, unexplained: f64,
            ttl_ns: u64, id: u64, since_ns: u64, origin: u32;
        list: suspects: PostedSuspect(n_suspects, suspect_stride), others: Label(n_others, other_stride);
    }
    /// A request to a hook; `stage`: `KOORD_STAGE_*`; `node_slo` and `cri_json` are JSON.
    HookRequest(koord_hook_request) { text: node_slo, cri_json; plain: stage: u32, deadline_ns: u64; }
}

pub(crate) unsafe fn view_of<V: View>(raw: *const V::Raw) -> Option<V> {
    (!raw.is_null()).then(|| V::of(raw))
}

impl<'a> HookRequest<'a> {
    /// The pod that is created or changed.
    pub fn pod(&self) -> Option<Pod<'a>> {
        // SAFETY: same as every field.
        unsafe { view_of((*self.0).pod) }
    }
    /// The container; `None` at the pod stages.
    pub fn container(&self) -> Option<Container<'a>> {
        // SAFETY: same as every field.
        unsafe { view_of((*self.0).container) }
    }
}
