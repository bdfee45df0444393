// SPDX-License-Identifier: Apache-2.0
//! The ABI boundary: texts, arrays, buffers of the caller, and calls of the functions of a host's table.

use std::os::raw::c_char;

use crate::abi::*;
use crate::failure::{Failure, Result};

pub(crate) fn str_of(text: &str) -> koord_str {
    koord_str { p: text.as_ptr().cast(), n: text.len() as u64 }
}

// Returns a text that the host lends. Invalid UTF-8, which the contract forbids, is cut off where it begins.
pub(crate) unsafe fn text_of<'a>(text: koord_str) -> &'a str {
    if text.p.is_null() {
        return "";
    }
    let bytes = std::slice::from_raw_parts(text.p.cast::<u8>(), text.n as usize);
    std::str::from_utf8(bytes).unwrap_or_else(|error| std::str::from_utf8_unchecked(&bytes[..error.valid_up_to()]))
}

pub(crate) fn labels_of(labels: &[(&str, &str)]) -> Vec<koord_label> {
    labels.iter().map(|(key, value)| koord_label { key: str_of(key), value: str_of(value) }).collect()
}

pub(crate) const fn stride_of<T>() -> u32 {
    std::mem::size_of::<T>() as u32
}

// KOORD_HAS: finds a function of a host's table, which may be older than this binding and therefore shorter.
macro_rules! member {
    ($table:expr, $member:ident) => {{
        let table = $table;
        // SAFETY: a table is readable up to its struct_size, and no byte after that is read.
        let function = unsafe {
            let end = std::ptr::addr_of!((*table).$member).wrapping_add(1) as usize - table as usize;
            if (*table).struct_size as usize >= end {
                (*table).$member
            } else {
                None
            }
        };
        function.ok_or_else(|| {
            let text = concat!("this host is too old to offer ", stringify!($member), "()");
            $crate::failure::Failure::new($crate::abi::KOORD_E_UNSUPPORTED, text)
        })
    }};
}
pub(crate) use member;

// Calls a function of a service and checks its status.
macro_rules! call {
    ($service:expr, $member:ident $(, $argument:expr)*) => {{
        let function = $crate::boundary::member!($service.table, $member)?;
        // SAFETY: the table is valid until destroy() returns; each argument is valid until the end of this statement.
        $crate::failure::check(unsafe { function($service.host $(, $argument)*) })
    }};
}
pub(crate) use call;

// Fills `out`, reusing its memory, with an answer of any length that the host writes to a buffer of the caller.
pub(crate) fn fill(out: &mut Vec<u8>, ask: impl Fn(*mut c_char, u64, *mut u64) -> Result<()>) -> Result<()> {
    out.clear();
    out.reserve(256);
    loop {
        let mut need = 0;
        match ask(out.as_mut_ptr().cast(), out.capacity() as u64, &mut need) {
            Ok(()) => {
                // SAFETY: the host has written `need` bytes, within the `capacity` that it was given.
                unsafe { out.set_len((need as usize).min(out.capacity())) };
                return Ok(());
            }
            Err(failure) if failure.status == KOORD_E_TOO_SMALL => out.reserve((need as usize).max(out.capacity() * 2)),
            Err(failure) => return Err(failure),
        }
    }
}

pub(crate) fn string(ask: impl Fn(*mut c_char, u64, *mut u64) -> Result<()>) -> Result<String> {
    let mut bytes = Vec::new();
    fill(&mut bytes, ask)?;
    String::from_utf8(bytes).map_err(|_| Failure::new(KOORD_E_IO, "text of the host is not UTF-8"))
}

// The same for rows; capacity and need are counts.
pub(crate) fn rows<T: Clone>(blank: T, ask: impl Fn(*mut T, u32, *mut u32) -> Result<()>) -> Result<Vec<T>> {
    let mut rows = vec![blank.clone(); 16];
    loop {
        let mut need = 0;
        match ask(rows.as_mut_ptr(), rows.len() as u32, &mut need) {
            Ok(()) => {
                rows.truncate(need as usize);
                return Ok(rows);
            }
            Err(failure) if failure.status == KOORD_E_TOO_SMALL => {
                rows.resize((need as usize).max(rows.len() * 2), blank.clone());
            }
            Err(failure) => return Err(failure),
        }
    }
}
