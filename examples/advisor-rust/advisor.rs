// SPDX-License-Identifier: Apache-2.0
//! A complete third-party plugin in Rust: an advisor that reports how many softirqs of each kind the node has handled,
//! from /proc/softirqs through the host's koord.fs/1. A softirq runs in the context of the interrupted task, so a pod
//! that floods the network uses CPU time of its neighbours. It also reports the CPU time of each pod, from
//! koord.cgroup/1. Copy it, and change `id`, `gate` and the files that collect() reads.

mod softirqs;

use koordetector::abi::*;
use koordetector::{
    Advisor, Batch, Cgroup, CgroupFile, Failure, Fs, Host, Metric, MetricSpec, Plugin, Result, Series, State,
};
use std::collections::HashMap;
use std::time::Duration;

/// Meter of one pod: its open file, which is closed on drop, and its series, to which the host adds the pod's labels.
struct Pod {
    usage: CgroupFile,
    series: Series,
}

struct Softirqs {
    fs: Fs,
    state: State,
    cgroup: Cgroup,
    pod_cpu: Metric,
    pods: HashMap<u64, Pod>, // key: handle
    total: Metric,
    series: HashMap<String, Series>, // key: kind
    batch: Batch,
    content: Vec<u8>,
}

impl Plugin for Softirqs {
    /// Called once: gets the services and defines the metrics.
    fn init(host: Host) -> Result<Self> {
        let metrics = host.metrics()?;
        Ok(Softirqs {
            fs: host.fs()?,
            state: host.state()?,
            cgroup: host.cgroup()?,
            pod_cpu: metrics.define(&MetricSpec {
                resolution: 0.001,
                ..MetricSpec::counter("example_pod_cpu_seconds_total", "seconds", "CPU time of the pod.")
            })?,
            pods: HashMap::new(),
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
    /// Called every period: sends one batch with a point for each kind.
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
        self.add_pods()?;
        self.batch.send(now_ns)
    }
}

impl Softirqs {
    /// Adds each pod that has a cgroup now, and drops the meters of ended pods.
    fn add_pods(&mut self) -> Result<()> {
        let snapshot = match self.state.snapshot() {
            Err(failure) if failure.status() == KOORD_E_AGAIN => return Ok(()), // no pods are known yet
            other => other?,
        };
        let mut before = std::mem::take(&mut self.pods);
        for pod in snapshot.pods().filter(|pod| !pod.cgroup_dir().is_empty()) {
            let known = before.remove(&pod.handle());
            match known.map_or_else(|| self.open(pod.handle(), pod.cgroup_dir()), Ok).and_then(|one| self.add_pod(one)) {
                Ok(one) => drop(self.pods.insert(pod.handle(), one)),
                Err(failure) if [KOORD_E_GONE, KOORD_E_AGAIN].contains(&failure.status()) => {} // ended, or no cgroup yet
                Err(failure) => return Err(failure),
            }
        }
        Ok(())
    }

    fn open(&self, handle: u64, cgroup_dir: &str) -> Result<Pod> {
        Ok(Pod {
            usage: self.cgroup.open(cgroup_dir, "cpu.usage", &["usage_ns"])?,
            series: self.pod_cpu.series(handle, &[])?,
        })
    }

    fn add_pod(&mut self, pod: Pod) -> Result<Pod> {
        let mut values = [0];
        pod.usage.read(&mut values)?;
        self.batch.add(pod.series, values[0] as f64 / 1e9);
        Ok(pod)
    }
}

koordetector::plugin! {
    manifest: "id=com.example.softirqs\n\
               version=1.0.0\n\
               kinds=koord.advisor/1\n\
               gate=SoftirqsExample\n\
               requires=koord.cgroup/1,koord.fs/1,koord.metrics/1,koord.state/1\n\
               license=Apache-2.0\n\
               description=counts the softirqs of the node by type, and the CPU time of pods\n",
    advisor Softirqs { name: "softirqs", period: Duration::from_secs(1) }
}
