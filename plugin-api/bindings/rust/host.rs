// SPDX-License-Identifier: Apache-2.0
//! The host and the services that it offers.

use std::ptr;

use crate::abi::*;
use crate::boundary::str_of;
use crate::failure::{Failure, Result};

/// The instance's access to its host. Copies are valid until the plugin has been dropped, so no thread of the plugin
/// may outlive it.
#[derive(Clone, Copy)]
pub struct Host(pub(crate) *const koord_host);

// SAFETY: log() and get_service() are [any]; set_error() is called by the thunks only, on the thread of the call.
unsafe impl Send for Host {}
unsafe impl Sync for Host {}

pub(crate) struct Service<T> {
    pub(crate) host: *const koord_host,
    pub(crate) table: *const T,
}

impl<T> Clone for Service<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Service<T> {}

// SAFETY: services are [any]. The exception is propose(), which the host refuses outside of evaluate().
unsafe impl<T> Send for Service<T> {}
unsafe impl<T> Sync for Service<T> {}

impl Host {
    /// The raw host, for functions that this crate does not wrap.
    pub fn raw(&self) -> *const koord_host {
        self.0
    }

    /// Writes one line to the agent's log, with a level `KOORD_LOG_*`. Never blocks; the host adds the plugin's id.
    pub fn log(&self, level: i32, message: &str) {
        // SAFETY: the host is valid, see above; the message is borrowed for the call.
        unsafe {
            if let Some(log) = (*self.0).log {
                log(self.0, level, str_of(message));
            }
        }
    }

    // Sets the reason of the status that is returned next. [in-call]
    pub(crate) fn set_error(&self, status: koord_status, why: &str) {
        // SAFETY: same as log().
        unsafe {
            if let Some(set_error) = (*self.0).set_error {
                set_error(self.0, status, str_of(why));
            }
        }
    }

    // Returns a service. `id` ends with NUL; `T` is the table of that service.
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
        $($(#[$doc])* #[derive(Clone, Copy)] pub struct $name(pub(crate) Service<$table>);)*
    };
}

services! {
    /// Values of metrics. Each value goes to the history and to /metrics.
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
    /// Verdicts about containers that are slowed down.
    Verdicts(koord_svc_verdict) = verdicts "koord.verdict/1";
    /// Lines of the decision records.
    Audit(koord_svc_audit) = audit "koord.audit/1";
}
