// SPDX-License-Identifier: Apache-2.0
//! Thunks: plain functions for the host's table. Each thunk calls one function of the author inside a guard.

use std::marker::PhantomData;
use std::os::raw::{c_char, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError, RwLock};

use crate::abi::*;
use crate::boundary::{stride_of, text_of};
use crate::failure::{check, Failure, Result};
use crate::guard::{guard, quiet_panics};
use crate::host::Host;
use crate::plugin::{Advisor, ExternalAdvisor, HookResponse, Plugin, QosStrategy, Runner, RuntimeHook, Stop};
use crate::views::{HookRequest, Strided, View};

// The host calls serially where the contract says so, so the locks are uncontended; they keep the code sound if a host
// does not. A poisoned lock is used nevertheless, because the next tick continues after a panic.
struct Instance<T> {
    host: Host,
    plugin: RwLock<Option<T>>,
    runner: Mutex<Option<Runner>>,
}

fn not_initialised() -> Failure {
    Failure::new(KOORD_E_INVALID, "called before init() succeeded")
}

unsafe extern "C" fn create<T: Plugin>(
    host: *const koord_host,
    _class: *const koord_class,
    out: *mut *mut c_void,
) -> koord_status {
    quiet_panics();
    let host = Host(host);
    guard(host, || {
        let instance = Instance::<T> { host, plugin: RwLock::new(None), runner: Mutex::new(None) };
        *out = Box::into_raw(Box::new(instance)).cast();
        Ok(())
    })
}

unsafe extern "C" fn destroy<T: Plugin>(instance: *mut c_void) {
    let instance = Box::from_raw(instance.cast::<Instance<T>>());
    guard(instance.host, move || {
        drop(instance);
        Ok(())
    });
}

unsafe extern "C" fn init<T: Plugin>(instance: *mut c_void) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let mut plugin = T::init(instance.host)?;
        if T::RUNS {
            *instance.runner.lock().unwrap_or_else(PoisonError::into_inner) = Some(plugin.runner()?);
        }
        *instance.plugin.write().unwrap_or_else(PoisonError::into_inner) = Some(plugin);
        Ok(())
    })
}

unsafe extern "C" fn run<T: Plugin>(instance: *mut c_void, stop: *const koord_stop) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let runner = instance.runner.lock().unwrap_or_else(PoisonError::into_inner).take();
        runner.ok_or_else(not_initialised)?(&Stop(&*stop))
    })
}

unsafe fn with<T: Plugin>(instance: *mut c_void, body: impl FnOnce(&mut T) -> Result<()>) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let mut plugin = instance.plugin.write().unwrap_or_else(PoisonError::into_inner);
        body(plugin.as_mut().ok_or_else(not_initialised)?)
    })
}

unsafe extern "C" fn on_event<T: Plugin>(instance: *mut c_void, what: u32, version: u64) -> koord_status {
    with(instance, |plugin: &mut T| plugin.on_event(what, version))
}

unsafe extern "C" fn stop<T: Plugin>(instance: *mut c_void) -> koord_status {
    with(instance, |plugin: &mut T| plugin.stop())
}

unsafe extern "C" fn collect<T: Advisor>(instance: *mut c_void, now_ns: u64, deadline_ns: u64) -> koord_status {
    with(instance, |plugin: &mut T| plugin.collect(now_ns, deadline_ns))
}

// Writes an answer to the host's buffer, by the rule of the ABI.
unsafe fn answer(text: &str, buf: *mut c_char, cap: u64, need: *mut u64) -> Result<()> {
    *need = text.len() as u64;
    if *need > cap {
        return check(KOORD_E_TOO_SMALL);
    }
    ptr::copy_nonoverlapping(text.as_ptr(), buf.cast(), text.len());
    Ok(())
}

unsafe extern "C" fn url<T: ExternalAdvisor>(
    instance: *mut c_void,
    buf: *mut c_char,
    cap: u64,
    need: *mut u64,
) -> koord_status {
    with(instance, |plugin: &mut T| answer(&plugin.url()?, buf, cap, need))
}

unsafe extern "C" fn map_metric<T: ExternalAdvisor>(
    instance: *mut c_void,
    name: koord_str,
    buf: *mut c_char,
    cap: u64,
    need: *mut u64,
) -> koord_status {
    with(instance, |plugin: &mut T| match plugin.map_metric(text_of(name)) {
        Some(mapped) => answer(&mapped, buf, cap, need),
        None => check(KOORD_E_GONE),
    })
}

unsafe extern "C" fn map_sample<T: ExternalAdvisor>(
    instance: *mut c_void,
    name: koord_str,
    labels: *const koord_label,
    n: u32,
    stride: u32,
    value: *mut f64,
) -> koord_status {
    with(instance, |plugin: &mut T| {
        match plugin.map_sample(text_of(name), Strided::new(labels, n, stride), &mut *value) {
            true => Ok(()),
            false => check(KOORD_E_GONE),
        }
    })
}

unsafe extern "C" fn evaluate<T: QosStrategy>(instance: *mut c_void, now_ns: u64, deadline_ns: u64) -> koord_status {
    with(instance, |plugin: &mut T| plugin.evaluate(now_ns, deadline_ns))
}

unsafe extern "C" fn on_applied<T: QosStrategy>(
    instance: *mut c_void,
    results: *const koord_intent_result,
    n: u32,
    stride: u32,
) -> koord_status {
    with(instance, |plugin: &mut T| plugin.on_applied(Strided::new(results, n, stride)))
}

unsafe extern "C" fn handle<T: RuntimeHook>(
    instance: *mut c_void,
    request: *const koord_hook_request,
    response: *const koord_hook_response,
) -> koord_status {
    let instance = &*instance.cast::<Instance<T>>();
    guard(instance.host, || {
        let plugin = instance.plugin.read().unwrap_or_else(PoisonError::into_inner);
        plugin.as_ref().ok_or_else(not_initialised)?.handle(HookRequest::of(request), &HookResponse(&*response))
    })
}

const fn lifecycle<T: Plugin>(table_size: u32) -> koord_lifecycle {
    koord_lifecycle {
        struct_size: table_size,
        rsv: 0,
        create: Some(create::<T>),
        init: Some(init::<T>),
        run: if T::RUNS { Some(run::<T>) } else { None },
        on_event: Some(on_event::<T>),
        stop: Some(stop::<T>),
        destroy: Some(destroy::<T>),
    }
}

// One table for each type, in read-only memory.
pub(crate) struct Table<T>(PhantomData<T>);

impl<T: Advisor> Table<T> {
    pub(crate) const ADVISOR: &'static koord_advisor =
        &koord_advisor { life: lifecycle::<T>(stride_of::<koord_advisor>()), collect: Some(collect::<T>) };
}

impl<T: ExternalAdvisor> Table<T> {
    pub(crate) const EXTERNAL_ADVISOR: &'static koord_external_advisor = &koord_external_advisor {
        life: lifecycle::<T>(stride_of::<koord_external_advisor>()),
        url: Some(url::<T>),
        map_sample: Some(map_sample::<T>),
        map_metric: Some(map_metric::<T>),
        targets: None,
        on_target: None,
        map_series: None,
    };
}

impl<T: QosStrategy> Table<T> {
    pub(crate) const QOS_STRATEGY: &'static koord_qos_strategy = &koord_qos_strategy {
        life: lifecycle::<T>(stride_of::<koord_qos_strategy>()),
        evaluate: Some(evaluate::<T>),
        on_applied: Some(on_applied::<T>),
    };
}

impl<T: RuntimeHook> Table<T> {
    pub(crate) const RUNTIME_HOOK: &'static koord_runtime_hook = &koord_runtime_hook {
        life: lifecycle::<T>(stride_of::<koord_runtime_hook>()),
        stages: T::STAGES,
        rsv: 0,
        handle: Some(handle::<T>),
    };
}
