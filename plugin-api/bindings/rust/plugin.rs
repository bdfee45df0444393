// SPDX-License-Identifier: Apache-2.0
//! The traits that an author implements, and the arguments of their functions.

use std::time::Duration;

use crate::abi::*;
use crate::boundary::{member, str_of};
use crate::failure::{check, Failure, Result};
use crate::host::Host;
use crate::views::{HookRequest, IntentResult, Label, Strided};

/// The stop signal for an instance's own thread.
pub struct Stop<'a>(pub(crate) &'a koord_stop);

impl Stop<'_> {
    /// A descriptor that becomes readable on stop; for poll(2). Do not read or close it.
    pub fn fd(&self) -> i32 {
        self.0.fd
    }
    /// Waits. Returns true when the thread must stop, false after the timeout.
    pub fn wait(&self, timeout: Duration) -> bool {
        // SAFETY: the host lends it until run() returns.
        self.0.wait.map_or(true, |wait| unsafe { wait(self.0, timeout.as_nanos() as u64) != 0 })
    }
}

/// The function that runs on an instance's own thread, in parallel with its other functions. [own thread]
pub type Runner = Box<dyn FnOnce(&Stop) -> Result<()> + Send>;

/// Functions of all four kinds. init() creates the object, and the host's destroy() drops it. All its threads must have
/// been joined before it is dropped. [control]
pub trait Plugin: Send + Sized + 'static {
    /// Whether the plugin has its own thread. If true, runner() is called once, after init().
    const RUNS: bool = false;

    /// Gets services, defines metrics, opens files. `KOORD_E_UNSUPPORTED`: this node cannot run the plugin; the host
    /// lists it as absent with the failure's text and does not try again. [control]
    fn init(host: Host) -> Result<Self>;

    /// Returns the function of a plugin that waits for events itself. The function must return within 2 s after `Stop`
    /// fires. [control]
    fn runner(&mut self) -> Result<Runner> {
        Err(Failure::new(KOORD_E_UNSUPPORTED, "RUNS is set, but there is no runner()"))
    }
    /// Called when a part of the state (`KOORD_ON_*`) has changed, with its new version. If it is not overridden, a new
    /// configuration is refused. The old configuration stays in force until the plugin's next start, and `koordctl
    /// plugins` reports that. [strand]
    fn on_event(&mut self, what: u32, _version: u64) -> Result<()> {
        match what {
            KOORD_ON_CONFIG => {
                Err(Failure::new(KOORD_E_UNSUPPORTED, "this plugin reads its configuration at its start only"))
            }
            _ => Ok(()),
        }
    }
    /// Called when no further tick will come; the runner may still run. [control]
    fn stop(&mut self) -> Result<()> {
        Ok(())
    }
}

/// "koord.advisor/1": collects metrics.
pub trait Advisor: Plugin {
    /// Runs one tick. If it runs past `deadline_ns`, the next ticks are skipped. [strand]
    fn collect(&mut self, _now_ns: u64, _deadline_ns: u64) -> Result<()> {
        Ok(())
    }
}

/// "koord.external-advisor/1": adds the metrics of a different program, which the host scrapes.
pub trait ExternalAdvisor: Plugin {
    /// Returns "http://127.0.0.1:9100/metrics" or "unix:/run/x.sock:/metrics". Called at start and after a
    /// configuration event. [strand]
    fn url(&mut self) -> Result<String>;
    /// Returns the name of the endpoint's metric on this node; `None` leaves it out. Called once for each metric.
    /// [strand]
    fn map_metric(&mut self, name: &str) -> Option<String> {
        Some(name.to_owned())
    }
    /// Maps one scraped sample. May change its value; false drops the sample. [strand]
    fn map_sample(&mut self, _name: &str, _labels: Strided<'_, Label<'_>>, _value: &mut f64) -> bool {
        true
    }
}

/// "koord.qos-strategy/1": decides about knobs, and changes them only through [`Knobs`].
pub trait QosStrategy: Plugin {
    /// Makes one decision. [strand]
    fn evaluate(&mut self, now_ns: u64, deadline_ns: u64) -> Result<()>;
    /// Receives the results of the plan. [strand]
    fn on_applied(&mut self, _results: Strided<'_, IntentResult<'_>>) -> Result<()> {
        Ok(())
    }
}

/// "koord.runtime-hook/1": adjusts pods and containers when they are created.
pub trait RuntimeHook: Plugin + Sync {
    /// `KOORD_STAGE_*`, or-ed.
    const STAGES: u32;
    /// Handles a request; a pure function of it. [any], several calls at the same time unless the class has `flags:
    /// KOORD_SERIAL`; never in parallel with on_event() or stop().
    fn handle(&self, request: HookRequest<'_>, response: &HookResponse<'_>) -> Result<()>;
}

/// The response of a hook.
pub struct HookResponse<'a>(pub(crate) &'a koord_hook_response);

impl HookResponse<'_> {
    /// Sets a field: "linux.cpu.shares", "linux.cpuset.cpus", "env:NAME", "device:/dev/NAME", "mount:/PATH", …;
    /// plugin.h has the list.
    pub fn set(&self, field: &str, value: &str) -> Result<()> {
        let set = member!(self.0 as *const koord_hook_response, set)?;
        // SAFETY: the host lends the response for the call.
        check(unsafe { set(self.0, str_of(field), str_of(value)) })
    }
    /// Forbids the runtime to create the pod or container.
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
