// SPDX-License-Identifier: Apache-2.0
//! koord.state/1: the node, its pods, NodeSLO and topology, as immutable snapshots.

use std::ptr;

use crate::abi::*;
use crate::boundary::{call, member, rows, text_of};
use crate::failure::Result;
use crate::host::State;
use crate::views::{view_of, Container, Node, Pod, Strided, Topology};

impl State {
    /// Returns the newest snapshot. `KOORD_E_AGAIN`: the state is not known yet, which does not mean "no pods".
    pub fn snapshot(&self) -> Result<Snapshot> {
        let mut snapshot = ptr::null();
        call!(self.0, acquire, &mut snapshot)?;
        Ok(Snapshot { state: *self, snapshot })
    }

    /// Requests on_event() calls for changes of these parts, `KOORD_ON_*`. Replaces the previous subscription.
    pub fn subscribe(&self, parts: u32) -> Result<()> {
        call!(self.0, subscribe, parts)
    }

    /// Returns the ids of all processes in the cgroup of a pod or container and in its descendants, ascending.
    /// `subject` is a handle from the newest snapshot. `KOORD_E_GONE`: it has ended; `KOORD_E_AGAIN`: its cgroup is not
    /// known yet; `KOORD_E_UNSUPPORTED`: the agent cannot see the node's processes, or is older than 1.1.
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

// Calls a function that takes the snapshot and `$argument`s.
macro_rules! of_snapshot {
    ($self:ident, $member:ident $(, $argument:expr)*) => {
        // SAFETY: the snapshot is ours until it is dropped.
        member!($self.state.0.table, $member).ok().map(|get| unsafe { get($self.snapshot $(, $argument)*) })
    };
}

impl Snapshot {
    /// Returns the version of a part, `KOORD_ON_*`; 0: not known yet.
    pub fn version(&self, part: u32) -> u64 {
        of_snapshot!(self, version, part).unwrap_or(0)
    }
    /// The node itself.
    pub fn node(&self) -> Option<Node<'_>> {
        // SAFETY: the content of the snapshot is valid while the snapshot exists.
        of_snapshot!(self, node).and_then(|raw| unsafe { view_of(raw) })
    }
    /// CPUs and memory.
    pub fn topology(&self) -> Option<Topology<'_>> {
        // SAFETY: same as node().
        of_snapshot!(self, topology).and_then(|raw| unsafe { view_of(raw) })
    }
    /// The merged NodeSLO's spec as JSON; empty if missing.
    pub fn node_slo(&self) -> &str {
        // SAFETY: same as node().
        of_snapshot!(self, node_slo).map_or("", |raw| unsafe { text_of(raw) })
    }
    /// The pods of the node.
    pub fn pods(&self) -> Strided<'_, Pod<'_>> {
        let (mut n, mut stride) = (0, 0);
        let first = of_snapshot!(self, pods, &mut n, &mut stride).unwrap_or(ptr::null());
        // SAFETY: same as node().
        unsafe { Strided::new(first, n, stride) }
    }
    /// Containers outside of pods: docker, podman, systemd services, cgroups named in the configuration.
    pub fn containers(&self) -> Strided<'_, Container<'_>> {
        let (mut n, mut stride) = (0, 0);
        let first = of_snapshot!(self, containers, &mut n, &mut stride).unwrap_or(ptr::null());
        // SAFETY: same as node().
        unsafe { Strided::new(first, n, stride) }
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        if let Ok(release) = member!(self.state.0.table, release) {
            // SAFETY: it was acquired once and is released once.
            unsafe { release(self.state.0.host, self.snapshot) }
        }
    }
}
