// SPDX-License-Identifier: Apache-2.0
//! koord.verdict/1: which containers are slowed down, and by which others. Posts verdicts, and reads the verdicts of
//! all plugins.

use std::ptr;
use std::time::Duration;

use crate::abi::*;
use crate::boundary::{call, labels_of, member, str_of, stride_of};
use crate::failure::Result;
use crate::host::Verdicts;
use crate::views::{PostedVerdict, Strided};

/// A container or process group that used the resource while the victim waited. NaN means unknown, which is the
/// default.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs)]
pub struct Suspect<'a> {
    pub kind: u32, // KOORD_SUSPECT_*
    pub subject: u64,
    pub name: &'a str,
    pub value: f64,
    pub share: f64,
    pub excess: f64,
    pub usage: f64,
    pub request: f64,
}

impl Default for Suspect<'_> {
    fn default() -> Self {
        Suspect {
            kind: KOORD_SUSPECT_SUBJECT,
            subject: KOORD_NO_SUBJECT,
            name: "",
            value: f64::NAN,
            share: f64::NAN,
            excess: f64::NAN,
            usage: f64::NAN,
            request: f64::NAN,
        }
    }
}

impl Suspect<'_> {
    fn raw(&self) -> koord_suspect {
        koord_suspect {
            struct_size: stride_of::<koord_suspect>(),
            kind: self.kind,
            subject: self.subject,
            name: str_of(self.name),
            value: self.value,
            share: self.share,
            excess: self.excess,
            usage: self.usage,
            request: self.request,
        }
    }
}

/// States that a container is slowed down. NaN means unknown, which is the default; `value` is required.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub struct Verdict<'a> {
    pub victim: u64,
    pub kind: u32,     // KOORD_VERDICT_*
    pub resource: u32, // KOORD_RESOURCE_*
    pub method: u32,   // KOORD_METHOD_*
    pub from_ns: u64,
    pub to_ns: u64,
    pub windows_over: u32,
    pub windows_seen: u32,
    pub statistic: &'a str,
    pub statistic_unit: &'a str,
    pub value: f64,
    pub baseline: f64,
    pub threshold: f64,
    pub amount_unit: &'a str,
    pub own: f64,
    pub throttled: f64,
    pub unexplained: f64,
    pub suspects: &'a [Suspect<'a>],
    pub others: &'a [(&'a str, &'a str)],
    pub note: &'a str,
    pub ttl: Duration,
}

impl Default for Verdict<'_> {
    fn default() -> Self {
        Verdict {
            victim: KOORD_NO_SUBJECT,
            kind: KOORD_VERDICT_INTERFERED,
            resource: KOORD_RESOURCE_CPU,
            method: KOORD_METHOD_SUSPECTED,
            from_ns: 0,
            to_ns: 0,
            windows_over: 0,
            windows_seen: 0,
            statistic: "",
            statistic_unit: "",
            value: f64::NAN,
            baseline: f64::NAN,
            threshold: f64::NAN,
            amount_unit: "",
            own: f64::NAN,
            throttled: f64::NAN,
            unexplained: f64::NAN,
            suspects: &[],
            others: &[],
            note: "",
            ttl: Duration::from_secs(60),
        }
    }
}

impl Verdict<'_> {
    fn raw(&self, suspects: &[koord_suspect], others: &[koord_label]) -> koord_verdict {
        koord_verdict {
            struct_size: stride_of::<koord_verdict>(),
            kind: self.kind,
            resource: self.resource,
            method: self.method,
            victim: self.victim,
            from_ns: self.from_ns,
            to_ns: self.to_ns,
            windows_over: self.windows_over,
            windows_seen: self.windows_seen,
            statistic: str_of(self.statistic),
            statistic_unit: str_of(self.statistic_unit),
            value: self.value,
            baseline: self.baseline,
            threshold: self.threshold,
            amount_unit: str_of(self.amount_unit),
            own: self.own,
            throttled: self.throttled,
            unexplained: self.unexplained,
            suspects: suspects.as_ptr(),
            n_suspects: suspects.len() as u32,
            suspect_stride: stride_of::<koord_suspect>(),
            others: others.as_ptr(),
            n_others: others.len() as u32,
            other_stride: stride_of::<koord_label>(),
            note: str_of(self.note),
            ttl_ns: self.ttl.as_nanos() as u64,
            id: 0,
            since_ns: 0,
            plugin: str_of(""),
            victim_name: str_of(""),
            origin: 0,
            rsv: 0,
        }
    }
}

impl Verdicts {
    /// Adds verdicts, or replaces standing verdicts with the same victim, resource and kind. All or nothing.
    pub fn post(&self, verdicts: &[Verdict]) -> Result<()> {
        let suspects: Vec<Vec<koord_suspect>> =
            verdicts.iter().map(|verdict| verdict.suspects.iter().map(Suspect::raw).collect()).collect();
        let others: Vec<Vec<koord_label>> = verdicts.iter().map(|verdict| labels_of(verdict.others)).collect();
        let raw: Vec<koord_verdict> = verdicts
            .iter()
            .zip(suspects.iter().zip(&others))
            .map(|(verdict, (suspects, others))| verdict.raw(suspects, others))
            .collect();
        call!(self.0, post, raw.as_ptr(), raw.len() as u32, stride_of::<koord_verdict>())
    }
    /// Ends a standing verdict of this plugin. `KOORD_E_NOT_FOUND`: the verdict does not stand, which is normal after
    /// the end of its victim.
    pub fn end(&self, victim: u64, resource: u32, kind: u32, why: &str) -> Result<()> {
        call!(self.0, end, victim, resource, kind, str_of(why))
    }
    /// Returns the standing verdicts of all plugins. Check `origin` and `plugin` before acting on a verdict.
    pub fn list(&self) -> Result<VerdictList> {
        let mut list = ptr::null();
        call!(self.0, acquire, &mut list)?;
        Ok(VerdictList { verdicts: *self, list })
    }
    /// Switches calls of on_event(KOORD_ON_VERDICTS) on or off. It is called when the generation has increased.
    pub fn subscribe(&self, on: bool) -> Result<()> {
        call!(self.0, subscribe, i32::from(on))
    }
}

/// An acquired list of standing verdicts, immutable; released when it is dropped.
pub struct VerdictList {
    verdicts: Verdicts,
    list: *const koord_verdict_list,
}

// SAFETY: a list never changes, and may be released on any thread.
unsafe impl Send for VerdictList {}
unsafe impl Sync for VerdictList {}

impl VerdictList {
    /// Returns the verdicts, ordered by id.
    pub fn verdicts(&self) -> Strided<'_, PostedVerdict<'_>> {
        let (mut n, mut stride) = (0, 0);
        // SAFETY: the list is valid until it is dropped.
        let first = member!(self.verdicts.0.table, verdicts)
            .map_or(ptr::null(), |get| unsafe { get(self.list, &mut n, &mut stride) });
        // SAFETY: the content of the list is valid while the list exists.
        unsafe { Strided::new(first, n, stride) }
    }
    /// Increases when a verdict begins, ends, or changes its method or suspects.
    pub fn generation(&self) -> u64 {
        // SAFETY: same as verdicts().
        member!(self.verdicts.0.table, generation).map_or(0, |get| unsafe { get(self.list) })
    }
}

impl Drop for VerdictList {
    fn drop(&mut self) {
        if let Ok(release) = member!(self.verdicts.0.table, release) {
            // SAFETY: it was acquired once and is released once.
            unsafe { release(self.verdicts.0.host, self.list) }
        }
    }
}
