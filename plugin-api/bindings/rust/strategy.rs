// SPDX-License-Identifier: Apache-2.0
//! The services of QoS strategies: koord.knobs/1 and koord.evict/1.

use std::time::Duration;

use crate::abi::*;
use crate::boundary::{call, labels_of, str_of, stride_of, string};
use crate::failure::Result;
use crate::host::{Evict, Knobs};

/// A proposed value, or part of a value, for a knob of a cgroup. The host arbitrates, writes, verifies and reverts.
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
    /// Proposes intents. All intents of one evaluate() are one plan, which replaces the previous plan. [in-call:
    /// evaluate]
    pub fn propose(&self, intents: &[Intent]) -> Result<()> {
        let inputs: Vec<Vec<koord_label>> = intents.iter().map(|intent| labels_of(intent.inputs)).collect();
        let raw: Vec<koord_intent> = intents.iter().zip(&inputs).map(|(intent, inputs)| intent.raw(inputs)).collect();
        call!(self.0, propose, raw.as_ptr(), raw.len() as u32, stride_of::<koord_intent>())
    }
    /// Returns the value that the host uses for a knob without an intent; never a value that the host wrote.
    pub fn base(&self, knob: &str, cgroup_dir: &str) -> Result<String> {
        string(|buf, cap, need| call!(self.0, base, str_of(knob), str_of(cgroup_dir), buf, cap, need))
    }
    /// Returns the current value of a knob, which the host may have written.
    pub fn current(&self, knob: &str, cgroup_dir: &str) -> Result<String> {
        string(|buf, cap, need| call!(self.0, current, str_of(knob), str_of(cgroup_dir), buf, cap, need))
    }
}

/// A request to evict pods: `pods` are handles in eviction order.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Eviction<'a> {
    pub pods: &'a [u64],
    pub resource: &'a str, // the scarce resource: "cpu", "memory"
    pub reason: &'a str,
    pub amount: i64, // milli-cores or bytes; the host stops when this is released
    pub inputs: &'a [(&'a str, &'a str)],
}

impl Evict {
    /// Requests an eviction. [in-call: evaluate]
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
