// SPDX-License-Identifier: Apache-2.0
//! The Rust binding of the plugin ABI: one crate, which needs only std, Rust 1.63 or newer.
//!
//! An author implements [`Plugin`] and one of [`Advisor`], [`ExternalAdvisor`], [`QosStrategy`], [`RuntimeHook`], and
//! names the type in [`plugin!`]. Every call from the host goes through a thunk that catches a panic and turns it into
//! `KOORD_E_PANIC` with the panic's text and place. Nothing is printed, and the next call continues with the object as
//! the panic left it. Only unwinding can be caught, so with `panic=abort` the crate does not compile. If std itself
//! aborts, the process ends: on failed allocations, and on a panic in a `drop` that runs because of a panic.
//!
//! The contract (threads, lifetimes, units) is in plugin.h and is not repeated here. The declarations of plugin.h are
//! in [`abi`] under their own names. Services are [any], as in plugin.h; arguments of a plugin's functions are borrowed
//! during the call.
//!
//! It is a crate, not a module: `rustc --edition 2021 --crate-type rlib koordetector.rs`, then `--extern koordetector`.
//! This file is its root, and the other files in this directory are its modules. For the rest of a plugin's Makefile
//! see examples/advisor-rust.

// Thread tags are written as in plugin.h, such as [strand]; rustdoc would parse them as links.
#![allow(rustdoc::broken_intra_doc_links, rustdoc::invalid_html_tags)]
#![allow(clippy::missing_safety_doc)]
#![warn(missing_docs)]

pub mod abi;
mod boundary;
mod failure;
mod guard;
mod host;
mod metrics;
mod module;
mod plugin;
mod services;
mod state;
mod strategy;
mod thunks;
mod verdict;
mod views;

pub use failure::{Failure, Result};
pub use host::{Audit, Capabilities, Cgroup, Clock, Config, Evict, Fs, Host, Knobs, Kv, Metrics, State, Verdicts};
pub use metrics::{Batch, Metric, MetricSpec, Query, Series};
#[doc(hidden)]
pub use module::kinds;
pub use module::ClassSpec;
pub use plugin::{Advisor, ExternalAdvisor, HookResponse, Plugin, QosStrategy, Runner, RuntimeHook, Stop};
pub use services::CgroupFile;
pub use state::Snapshot;
pub use strategy::{Eviction, Intent};
pub use verdict::{Suspect, Verdict, VerdictList};
pub use views::{
    Container, Cpu, HookRequest, IntentResult, Label, Node, NumaNode, Pod, PostedSuspect, PostedVerdict, Resource, Strided,
    Topology, View,
};

#[cfg(panic = "abort")]
compile_error!("a plugin must be built with panic=unwind: a panic that aborts takes the whole agent along");
