// SPDX-License-Identifier: Apache-2.0
//! The smaller services: kv, config, clock, fs, cgroup, capabilities, audit.

use std::time::Duration;

use crate::abi::*;
use crate::boundary::{call, fill, member, str_of, string};
use crate::failure::{found, Result};
use crate::host::{Audit, Capabilities, Cgroup, Clock, Config, Fs, Kv};

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

impl Audit {
    /// Records an action or observation, its subject (a handle or 0), and why.
    pub fn record(&self, subject: u64, what: &str, why: &str) -> Result<()> {
        call!(self.0, record, subject, str_of(what), str_of(why))
    }
}
