// SPDX-License-Identifier: Apache-2.0
//! koord.metrics/1: defines metrics, appends values, queries the history.

use std::ptr;

use crate::abi::*;
use crate::boundary::{call, labels_of, rows, str_of, stride_of};
use crate::failure::Result;
use crate::host::Metrics;

/// Definition of a metric. Create it with [`gauge`](MetricSpec::gauge), [`counter`](MetricSpec::counter) or
/// [`histogram`](MetricSpec::histogram), then change fields as needed.
#[derive(Debug, Clone)]
pub struct MetricSpec<'a> {
    /// `[a-zA-Z_][a-zA-Z0-9_]*`, with its unit: "acme_wait_seconds".
    pub name: &'a str,
    /// "seconds", "bytes", "cores", …
    pub unit: &'a str,
    /// One sentence.
    pub help: &'a str,
    /// The smallest relevant step, in `unit`, > 0.
    pub resolution: f64,
    /// `KOORD_GAUGE`, `KOORD_COUNTER` or `KOORD_HISTOGRAM`.
    pub kind: u32,
    /// `KOORD_METRIC_EXPORT`, or 0: not on /metrics.
    pub flags: u32,
    /// Upper bounds of a histogram, ascending, without +Inf.
    pub bounds: &'a [f64],
}

impl<'a> MetricSpec<'a> {
    /// A value that rises and falls.
    pub const fn gauge(name: &'a str, unit: &'a str, help: &'a str) -> Self {
        MetricSpec { name, unit, help, resolution: 1.0, kind: KOORD_GAUGE, flags: KOORD_METRIC_EXPORT, bounds: &[] }
    }
    /// A value that only grows; appended as the running total.
    pub const fn counter(name: &'a str, unit: &'a str, help: &'a str) -> Self {
        MetricSpec { kind: KOORD_COUNTER, ..Self::gauge(name, unit, help) }
    }
    /// Counts up to bounds; appended as running totals.
    pub const fn histogram(name: &'a str, unit: &'a str, help: &'a str, bounds: &'a [f64]) -> Self {
        MetricSpec { kind: KOORD_HISTOGRAM, bounds, ..Self::gauge(name, unit, help) }
    }
}

/// A defined metric. It creates series.
#[derive(Clone, Copy)]
pub struct Metric {
    metrics: Metrics,
    id: u32,
}

/// A series, to which samples are appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Series(pub u64);

/// A query of the metric cache. Times are host time and inclusive; `to_ns` 0 means now.
#[derive(Debug, Clone, Default)]
#[allow(missing_docs)]
pub struct Query<'a> {
    pub metric: &'a str,
    pub aggregation: u32, // KOORD_AGG_*; ignored by samples()
    pub from_ns: u64,
    pub to_ns: u64,
    pub subject: u64, // KOORD_NO_SUBJECT: every subject
    pub labels: &'a [(&'a str, &'a str)],
}

impl Query<'_> {
    fn raw(&self, labels: &[koord_label]) -> koord_query {
        koord_query {
            struct_size: stride_of::<koord_query>(),
            aggregation: self.aggregation,
            metric: str_of(self.metric),
            from_ns: self.from_ns,
            to_ns: self.to_ns,
            subject: self.subject,
            labels: labels.as_ptr(),
            n_labels: labels.len() as u32,
            label_stride: stride_of::<koord_label>(),
        }
    }
}

impl Metrics {
    /// Defines a metric. A second call with the same name and description returns the same metric. `KOORD_E_INVALID`: a
    /// different plugin has defined the name.
    pub fn define(&self, spec: &MetricSpec) -> Result<Metric> {
        let desc = koord_metric_desc {
            struct_size: stride_of::<koord_metric_desc>(),
            r#type: spec.kind,
            flags: spec.flags,
            n_bounds: spec.bounds.len() as u32,
            name: str_of(spec.name),
            unit: str_of(spec.unit),
            help: str_of(spec.help),
            resolution: spec.resolution,
            bounds: spec.bounds.as_ptr(),
        };
        let mut id = 0;
        call!(self.0, define, &desc, &mut id)?;
        Ok(Metric { metrics: *self, id })
    }

    /// Ends a series before its subject ends. The end of the subject also ends the series.
    pub fn end_series(&self, series: Series) -> Result<()> {
        call!(self.0, end_series, series.0)
    }

    /// Returns one row for each series. A series without a sample in the window has no row, because absence is never 0.
    pub fn aggregate(&self, query: &Query) -> Result<Vec<koord_agg_row>> {
        let labels = labels_of(query.labels);
        let raw = query.raw(&labels);
        let blank = koord_agg_row { subject: 0, series: 0, value: 0.0, count: 0, from_ns: 0, to_ns: 0 };
        rows(blank, |out, cap, need| call!(self.0, aggregate, &raw, out, cap, stride_of::<koord_agg_row>(), need))
    }

    /// Returns the samples themselves.
    pub fn samples(&self, query: &Query) -> Result<Vec<koord_sample>> {
        let labels = labels_of(query.labels);
        let raw = query.raw(&labels);
        let blank = koord_sample { t_ns: 0, series: 0, value: 0.0 };
        rows(blank, |out, cap, need| call!(self.0, samples, &raw, out, cap, stride_of::<koord_sample>(), need))
    }
}

impl Metric {
    /// Returns the series for this subject (a handle from the state, or `KOORD_NO_SUBJECT`) and these labels.
    /// Idempotent.
    pub fn series(&self, subject: u64, labels: &[(&str, &str)]) -> Result<Series> {
        let labels = labels_of(labels);
        let (first, n) = (labels.as_ptr(), labels.len() as u32);
        let mut series = 0;
        call!(self.metrics.0, series, self.id, subject, first, n, stride_of::<koord_label>(), &mut series)?;
        Ok(Series(series))
    }
}

/// The points of one tick: add() all, then send() once. Keep it between ticks, because it reuses its memory.
pub struct Batch {
    metrics: Metrics,
    points: Vec<koord_point>,
    counts: Vec<u64>,
    histograms: Vec<koord_histogram>, // send() sets `cumulative`, when `counts` does not move any more
}

// SAFETY: the only pointers are in `histograms`, and they are read only inside send().
unsafe impl Send for Batch {}
unsafe impl Sync for Batch {}

impl Batch {
    /// Creates an empty batch.
    pub fn new(metrics: Metrics) -> Self {
        Batch { metrics, points: Vec::new(), counts: Vec::new(), histograms: Vec::new() }
    }

    /// Adds a value. NaN means no value this time.
    pub fn add(&mut self, series: Series, value: f64) {
        self.points.push(koord_point { series: series.0, value });
    }

    /// Adds a histogram. `cumulative` has one count for each bound, up to that bound, and the total count at the end.
    pub fn add_histogram(&mut self, series: Series, cumulative: &[u64], sum: f64) {
        self.counts.extend_from_slice(cumulative);
        let n = cumulative.len() as u32;
        self.histograms.push(koord_histogram { series: series.0, cumulative: ptr::null(), n, rsv: 0, sum });
    }

    /// Appends all points with one time (host time). After the call the batch is empty, even if the call failed.
    pub fn send(&mut self, t_ns: u64) -> Result<()> {
        let sent = self.send_points(t_ns);
        let sent_histograms = self.send_histograms(t_ns);
        self.points.clear();
        self.counts.clear();
        self.histograms.clear();
        sent.and(sent_histograms)
    }

    fn send_points(&self, t_ns: u64) -> Result<()> {
        let (first, n) = (self.points.as_ptr(), self.points.len() as u32);
        call!(self.metrics.0, append, t_ns, first, n, stride_of::<koord_point>())
    }

    fn send_histograms(&mut self, t_ns: u64) -> Result<()> {
        if self.histograms.is_empty() {
            return Ok(());
        }
        let mut counts = self.counts.as_slice();
        for histogram in &mut self.histograms {
            let (own, rest) = counts.split_at(histogram.n as usize);
            histogram.cumulative = own.as_ptr();
            counts = rest;
        }
        let (first, n) = (self.histograms.as_ptr(), self.histograms.len() as u32);
        call!(self.metrics.0, append_histograms, t_ns, first, n, stride_of::<koord_histogram>())
    }
}
