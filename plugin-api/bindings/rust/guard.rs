// SPDX-License-Identifier: Apache-2.0
//! The guard: no panic unwinds into the host.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::Once;

use crate::abi::*;
use crate::failure::{Failure, Result};
use crate::host::Host;

thread_local! {
    static IN_CALL: Cell<bool> = const { Cell::new(false) };
    static PANICKED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

// Inside a call the guard reports a panic, so the hook only records its place. On the plugin's own threads, which have
// no guard, the hook of std reports the panic.
pub(crate) fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !IN_CALL.try_with(Cell::get).unwrap_or(false) {
                return loud(panic);
            }
            let place = panic.location().map(|place| format!(" ({}:{})", place.file(), place.line()));
            PANICKED_AT.with(|at| at.replace(place.unwrap_or_default()));
        }));
    });
}

fn text_of_panic(payload: Box<dyn Any + Send>) -> String {
    let text = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => (*text).to_owned(),
        (_, Some(text)) => text.clone(),
        _ => "a panic without a text".to_owned(),
    };
    std::mem::forget(payload); // dropping the panic's payload might panic again, outside of any guard
    text + &PANICKED_AT.with(RefCell::take)
}

pub(crate) fn guard(host: Host, body: impl FnOnce() -> Result<()>) -> koord_status {
    let outer = IN_CALL.with(|in_call| in_call.replace(true));
    let done = catch_unwind(AssertUnwindSafe(body));
    IN_CALL.with(|in_call| in_call.set(outer));
    let failure = match done {
        Ok(Ok(())) => return KOORD_OK,
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::new(KOORD_E_PANIC, text_of_panic(payload)),
    };
    if !failure.text.is_empty() {
        host.set_error(failure.status, &failure.text);
    }
    failure.status
}
