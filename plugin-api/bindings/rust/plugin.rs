// SPDX-License-Identifier: Apache-2.0
//! The traits that an author implements, and what their functions get.

use std::time::Duration;

use crate::abi::*;
use crate::boundary::{member, str_of};
use crate::failure::{check, Failure, Result};
use crate::host::Host;
use crate::views::{HookRequest, IntentResult, Label, Strided};

/// How an instance's own thread learns that it is to end.
pub struct Stop<'a>(pub(crate) &'a koord_stop);

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
            KOORD_ON_CONFIG => {
                Err(Failure::new(KOORD_E_UNSUPPORTED, "this plugin reads its configuration at its start only"))
            }
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
pub struct HookResponse<'a>(pub(crate) &'a koord_hook_response);

impl HookResponse<'_> {
    /// "linux.cpu.shares", "linux.cpuset.cpus", "env:NAME", "device:/dev/NAME", "mount:/PATH", …: the list is in plugin.h.
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
    /// Multiplies "linux.cpu.quota" or "linux.memory.limit".
    pub fn scale(&self, field: &str, factor: f64) -> Result<()> {
        let scale = member!(self.0 as *const koord_hook_response, scale)?;
        // SAFETY: as set().
        check(unsafe { scale(self.0, str_of(field), factor) })
    }
}
