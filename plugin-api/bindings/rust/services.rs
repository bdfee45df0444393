// SPDX-License-Identifier: Apache-2.0
//! The smaller services: kv, config, clock, fs, cgroup, capabilities, audit.

use std::time::Duration;

use crate::abi::*;
use crate::boundary::{call, fill, member, str_of, string};
use crate::failure::{found, Result};
use crate::host::{Audit, Capabilities, Cgroup, Clock, Config, Fs, Kv};

impl Kv {
    /// Returns the value of an own key, or of a different plugin's key as "<plugin id>/<key>"; `None`: missing or
    /// expired.
    pub fn get(&self, key: &str) -> Result<Option<Vec<u8>>> {
        let mut value = Vec::new();
        let read = fill(&mut value, |buf, cap, need| call!(self.0, get, str_of(key), buf.cast(), cap, need));
        found(read.map(|()| value))
    }
    /// Sets an own key. With `ttl` zero the value stays until it is replaced.
    pub fn set(&self, key: &str, value: &[u8], ttl: Duration) -> Result<()> {
        call!(self.0, set, str_of(key), value.as_ptr().cast(), value.len() as u64, ttl.as_nanos() as u64)
    }
    /// Removes an own key; a missing key is no error. Older hosts: `KOORD_E_UNSUPPORTED`.
    pub fn remove(&self, key: &str) -> Result<()> {
        call!(self.0, remove, str_of(key))
    }
}

impl Config {
    /// Returns the whole configuration; "{}" if nothing is configured.
    pub fn json(&self) -> Result<String> {
        string(|buf, cap, need| call!(self.0, json, buf, cap, need))
    }
    /// Returns the value at a JSON pointer (RFC 6901) like "/limits/cpu". Missing: `None`; a different type:
    /// `KOORD_E_INVALID`.
    pub fn i64(&self, pointer: &str) -> Result<Option<i64>> {
        let mut value = 0;
        found(call!(self.0, i64, str_of(pointer), &mut value).map(|()| value))
    }
    /// See [`i64`](Config::i64).
    pub fn f64(&self, pointer: &str) -> Result<Option<f64>> {
        let mut value = 0.0;
        found(call!(self.0, f64, str_of(pointer), &mut value).map(|()| value))
    }
    /// See [`i64`](Config::i64).
    pub fn boolean(&self, pointer: &str) -> Result<Option<bool>> {
        let mut value = 0;
        found(call!(self.0, boolean, str_of(pointer), &mut value).map(|()| value != 0))
    }
    /// See [`i64`](Config::i64).
    pub fn string(&self, pointer: &str) -> Result<Option<String>> {
        found(string(|buf, cap, need| call!(self.0, string, str_of(pointer), buf, cap, need)))
    }
}

impl Clock {
    /// Returns host time: never steps, includes suspend. Use it for intervals.
    pub fn now_ns(&self) -> u64 {
        // SAFETY: same as call!.
        member!(self.0.table, now_ns).map_or(0, |now| unsafe { now(self.0.host) })
    }
    /// Returns Unix time, which may step; use it only for labels.
    pub fn wall_ns(&self) -> u64 {
        // SAFETY: same as call!.
        member!(self.0.table, wall_ns).map_or(0, |wall| unsafe { wall(self.0.host) })
    }
}

impl Fs {
    /// Returns the directory where a root, `KOORD_ROOT_*`, is mounted.
    pub fn path(&self, root: u32) -> Result<String> {
        string(|buf, cap, need| call!(self.0, path, root, buf, cap, need))
    }
    /// Returns the content of a small file below a root; `relative` must not leave it.
    pub fn read(&self, root: u32, relative: &str) -> Result<String> {
        string(|buf, cap, need| call!(self.0, read, root, str_of(relative), buf, cap, need))
    }
    /// The same with a buffer that is reused between ticks. It can also read files that are not text.
    pub fn read_into(&self, root: u32, relative: &str, content: &mut Vec<u8>) -> Result<()> {
        fill(content, |buf, cap, need| call!(self.0, read, root, str_of(relative), buf, cap, need))
    }
}

impl Cgroup {
    /// Opens a logical file of a cgroup; plugin.h lists files and keys. `KOORD_E_GONE`: the cgroup does not exist;
    /// `KOORD_E_UNSUPPORTED`: this kernel lacks the file; `KOORD_E_INVALID`: unknown logical file or key.
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
    /// Reads the values in the order of the keys, `KOORD_ABSENT` for a key that this kernel lacks. Returns the time of
    /// the read, for rates. `KOORD_E_GONE`: the cgroup has ended; drop the file.
    pub fn read(&self, values: &mut [i64]) -> Result<u64> {
        let mut read_ns = 0;
        call!(self.cgroup.0, read, self.handle, values.as_mut_ptr(), values.len() as u32, &mut read_ns)?;
        Ok(read_ns)
    }
}

impl Drop for CgroupFile {
    fn drop(&mut self) {
        if let Ok(close) = member!(self.cgroup.0.table, close) {
            // SAFETY: it was opened once and is closed once.
            unsafe { close(self.cgroup.0.host, self.handle) }
        }
    }
}

impl Capabilities {
    /// Returns `KOORD_CAPABILITY_*` for a capability of the host, or one that a plugin reported.
    pub fn get(&self, name: &str) -> Result<u32> {
        let mut state = 0;
        call!(self.0, get, str_of(name), &mut state)?;
        Ok(state)
    }
    /// Reports a capability of this plugin on this node, shown to operators with the plugin's name.
    pub fn report(&self, name: &str, state: u32, detail: &str) -> Result<()> {
        call!(self.0, report, str_of(name), state, str_of(detail))
    }
}

impl Audit {
    /// Records an action or observation, its subject (a handle or 0), and the reason.
    pub fn record(&self, subject: u64, what: &str, why: &str) -> Result<()> {
        call!(self.0, record, subject, str_of(what), str_of(why))
    }
}
