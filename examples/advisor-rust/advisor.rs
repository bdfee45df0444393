// SPDX-License-Identifier: Apache-2.0
//! A complete third-party plugin in Rust: an advisor that tells how many softirqs of each kind the node has handled,
//! from /proc/softirqs through the host's koord.fs/1. They run on whatever they interrupt: a pod that floods the
//! network spends its neighbours' time. Copy it, change `id`, `gate` and what collect() reads.

mod softirqs;

use koordetector::abi::*;
use koordetector::{Advisor, Batch, Failure, Fs, Host, Metric, MetricSpec, Plugin, Result, Series};
use std::collections::HashMap;
use std::time::Duration;

struct Softirqs {
    fs: Fs,
    total: Metric,
    series: HashMap<String, Series>, // by kind
    batch: Batch,
    content: Vec<u8>,
}

impl Plugin for Softirqs {
    /// Once: get the services, say what will be measured.
    fn init(host: Host) -> Result<Self> {
        let metrics = host.metrics()?;
        Ok(Softirqs {
            fs: host.fs()?,
            total: metrics.define(&MetricSpec::counter(
                "example_softirqs_total",
                "softirqs",
                "Softirqs that the node has handled, by type.",
            ))?,
            series: HashMap::new(),
            batch: Batch::new(metrics),
            content: Vec::new(),
        })
    }
}

impl Advisor for Softirqs {
    /// Every period: one batch with a point a kind.
    fn collect(&mut self, now_ns: u64, _deadline_ns: u64) -> Result<()> {
        self.fs.read_into(KOORD_ROOT_PROC, "softirqs", &mut self.content)?;
        let mut kinds = 0;
        for (kind, total) in softirqs::parse(&String::from_utf8_lossy(&self.content)) {
            let series = match self.series.get(kind) {
                Some(known) => *known,
                None => {
                    let made = self.total.series(KOORD_NO_SUBJECT, &[("type", kind)])?;
                    self.series.insert(kind.to_owned(), made);
                    made
                }
            };
            self.batch.add(series, total as f64);
            kinds += 1;
        }
        if kinds == 0 {
            return Err(Failure::new(KOORD_E_IO, "/proc/softirqs has no row that begins with a kind and its counts"));
        }
        self.batch.send(now_ns)
    }
}

koordetector::plugin! {
    manifest: "id=com.example.softirqs\n\
               version=1.0.0\n\
               kinds=koord.advisor/1\n\
               gate=SoftirqsExample\n\
               requires=koord.metrics/1,koord.fs/1\n\
               license=Apache-2.0\n\
               description=counts the softirqs of the node by type\n",
    advisor Softirqs { name: "softirqs", period: Duration::from_secs(1) }
}
