// SPDX-License-Identifier: Apache-2.0
//! Reasons why calls fail, and the host's statuses as results.

use std::fmt;

use crate::abi::*;

/// The reason why a call failed. Returned from a plugin's function, it becomes that call's status and text.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    pub(crate) status: koord_status,
    pub(crate) text: String,
}

/// Result of every fallible function here.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure of the plugin itself, with a status `KOORD_E_*` and a sentence for the operator.
    pub fn new(status: koord_status, text: impl Into<String>) -> Self {
        Failure { status, text: text.into() }
    }
    /// One of `KOORD_E_*`.
    pub fn status(&self) -> koord_status {
        self.status
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match self.text.as_str() {
            "" => write!(out, "the host answered with status {}", self.status),
            text => out.write_str(text),
        }
    }
}

impl std::error::Error for Failure {}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Failure::new(KOORD_E_IO, error.to_string())
    }
}

// A failure that the host returned gets no text, because the host has already reported the reason.
pub(crate) fn check(status: koord_status) -> Result<()> {
    match status {
        KOORD_OK => Ok(()),
        status => Err(Failure::new(status, "")),
    }
}

pub(crate) fn found<T>(answer: Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(value) => Ok(Some(value)),
        Err(failure) if failure.status == KOORD_E_NOT_FOUND => Ok(None),
        Err(failure) => Err(failure),
    }
}
