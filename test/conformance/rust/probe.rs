// SPDX-License-Identifier: Apache-2.0
//! A plugin of all four kinds for binding_test.cpp. The advisor asks every service and appends the results as
//! test_fact{fact="…"}; each function panics when the configuration's "panic" names it.

use koordetector::abi::*;
use koordetector::*;
use std::time::Duration;

#[derive(Clone)]
struct Fuse(String);

impl Fuse {
    fn of(host: Host) -> Result<Self> {
        Ok(Fuse(host.config()?.string("/panic")?.unwrap_or_default()))
    }
    fn burn(&self, call: &str) {
        if self.0 == call {
            panic!("thrown in {}", call);
        }
    }
}

struct Probe {
    host: Host,
    fuse: Fuse,
    fact: Metric,
    ticks: u32,
}

impl Plugin for Probe {
    fn init(host: Host) -> Result<Self> {
        let fuse = Fuse::of(host)?;
        fuse.burn("init");
        let fact = host.metrics()?.define(&MetricSpec::gauge("test_fact", "", "Result of a service."))?;
        Ok(Probe { host, fuse, fact, ticks: 0 })
    }
    fn on_event(&mut self, _what: u32, _version: u64) -> Result<()> {
        self.fuse.burn("on_event");
        Ok(())
    }
    fn stop(&mut self) -> Result<()> {
        self.fuse.burn("stop");
        Ok(())
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        self.fuse.burn("destroy");
    }
}

fn truth(is: bool) -> f64 {
    u8::from(is).into()
}

impl Probe {
    fn facts(&self, now_ns: u64) -> Result<Vec<(&'static str, f64)>> {
        let snapshot = self.host.state()?.snapshot()?;
        let pod = snapshot.pods().next().ok_or_else(|| Failure::new(KOORD_E_AGAIN, "no pod yet"))?;
        let container = pod.containers().last().ok_or_else(|| Failure::new(KOORD_E_AGAIN, "no container yet"))?;
        let (kv, config, fs) = (self.host.kv()?, self.host.config()?, self.host.fs()?);
        kv.set("key", &[1, 2, 3], Duration::ZERO)?;
        self.host.capabilities()?.report("probe", KOORD_CAPABILITY_BROKEN, "on purpose")?;
        let stat = self.host.cgroup()?.open(container.cgroup_dir(), "cpu.stat", &["nr_periods", "nr_throttled"])?;
        let mut periods = [0; 2];
        let read_ns = stat.read(&mut periods)?;
        let verdict = self.verdict(container.handle(), now_ns)?;
        Ok(vec![
            ("verdict", verdict.0),
            ("verdict is whole", truth(verdict.1)),
            ("verdicts after the end", self.host.verdicts()?.list()?.verdicts().len() as f64),
            ("pods", snapshot.pods().len() as f64),
            ("pod is u1", truth(pod.uid() == "u1")),
            ("pod has no start time", truth(pod.start_time_ns().is_none())),
            ("containers", pod.containers().len() as f64),
            ("label", pod.labels().filter(|label| label.key() == "app" && label.value() == "web").count() as f64),
            ("processes", self.host.state()?.processes(container.handle())?.iter().sum::<i32>().into()),
            ("no node", truth(snapshot.node().is_none())),
            ("nr_periods", periods[0] as f64),
            ("nr_throttled is absent", truth(periods[1] == KOORD_ABSENT)),
            ("read now", truth(read_ns == now_ns && self.host.clock()?.now_ns() == now_ns)),
            ("kv", kv.get("key")?.map_or(0, |value| value.iter().sum::<u8>()).into()),
            ("kv misses", truth(kv.get("none")?.is_none())),
            ("config i64", config.i64("/limits/cpu")?.unwrap_or(0) as f64),
            ("config misses", truth(config.f64("/none")?.is_none() && config.boolean("/none")?.is_none())),
            ("config of another type", config.i64("/panic").map_or_else(|failure| failure.status(), |_| 0).into()),
            ("long file", fs.read(KOORD_ROOT_PROC, "long")?.len() as f64),
            ("broken", self.host.capabilities()?.get("probe")?.into()),
        ])
    }

    // Posts a verdict, reads it back and ends it. Returns its value, and whether everything else was read back
    // unchanged.
    fn verdict(&self, victim: u64, now_ns: u64) -> Result<(f64, bool)> {
        let verdicts = self.host.verdicts()?;
        verdicts.subscribe(true)?;
        let suspects = [Suspect { kind: KOORD_SUSPECT_KERNEL, share: 0.5, ..Suspect::default() }];
        verdicts.post(&[Verdict {
            victim,
            from_ns: 1,
            to_ns: now_ns,
            statistic: "probed",
            statistic_unit: "1",
            value: 4.0,
            suspects: &suspects,
            others: &[("memory", "idle")],
            ..Verdict::default()
        }])?;
        let list = verdicts.list()?;
        let posted = list.verdicts().next().ok_or_else(|| Failure::new(KOORD_E_NOT_FOUND, "no verdict stands"))?;
        let is_whole = posted.plugin() == "test"
            && posted.victim_name() == "c1"
            && posted.origin() == KOORD_ORIGIN_OWN
            && posted.baseline().is_nan()
            && posted.ttl_ns() == 60_000_000_000
            && posted.suspects().map(|suspect| suspect.share()).sum::<f64>() == 0.5
            && posted.others().all(|other| other.key() == "memory" && other.value() == "idle")
            && list.generation() > 1;
        verdicts.end(victim, posted.resource(), posted.kind(), "it was a probe")?;
        Ok((posted.value(), is_whole))
    }

    // Reports how much of test_fact is in the cache, as the counts of two histograms, which are not stored in the
    // cache.
    fn history(&self, now_ns: u64) -> Result<()> {
        let metrics = self.host.metrics()?;
        let query = Query { metric: "test_fact", aggregation: KOORD_AGG_LAST, from_ns: 1, ..Query::default() };
        let (rows, samples) = (metrics.aggregate(&query)?.len() as u64, metrics.samples(&query)?.len() as u64);
        let spec = MetricSpec::histogram("test_history", "", "Rows and samples in the cache.", &[1.0]);
        let history = metrics.define(&spec)?;
        let mut batch = Batch::new(metrics);
        batch.add_histogram(history.series(KOORD_NO_SUBJECT, &[("of", "rows")])?, &[0, rows], 1.5);
        batch.add_histogram(history.series(KOORD_NO_SUBJECT, &[("of", "samples")])?, &[1, samples], 2.5);
        batch.send(now_ns)
    }
}

impl Advisor for Probe {
    fn collect(&mut self, now_ns: u64, _deadline_ns: u64) -> Result<()> {
        self.ticks += 1;
        if self.ticks % 2 == 1 {
            self.fuse.burn("collect");
        }
        let mut batch = Batch::new(self.host.metrics()?);
        if self.fuse.0.is_empty() {
            for (fact, value) in self.facts(now_ns)? {
                batch.add(self.fact.series(KOORD_NO_SUBJECT, &[("fact", fact)])?, value);
            }
        }
        batch.add(self.fact.series(KOORD_NO_SUBJECT, &[("fact", "ticks")])?, self.ticks.into());
        batch.send(now_ns)?;
        self.history(now_ns)
    }
}

struct Source {
    host: Host,
    fuse: Fuse,
    rounds: Series,
}

impl Plugin for Source {
    const RUNS: bool = true;
    fn init(host: Host) -> Result<Self> {
        let fact = host.metrics()?.define(&MetricSpec::gauge("test_fact", "", "Result of a service."))?;
        Ok(Source { host, fuse: Fuse::of(host)?, rounds: fact.series(KOORD_NO_SUBJECT, &[("fact", "rounds")])? })
    }
    fn runner(&mut self) -> Result<Runner> {
        let (host, fuse, series) = (self.host, self.fuse.clone(), self.rounds);
        Ok(Box::new(move |stop| {
            fuse.burn("run");
            let mut rounds = 0.0;
            loop {
                rounds += 1.0;
                let mut batch = Batch::new(host.metrics()?);
                batch.add(series, rounds);
                batch.send(0)?;
                if stop.wait(Duration::from_millis(10)) {
                    return Ok(());
                }
            }
        }))
    }
}

impl ExternalAdvisor for Source {
    fn url(&mut self) -> Result<String> {
        self.fuse.burn("url");
        Ok("http://127.0.0.1:9100/metrics".to_owned())
    }
    fn map_metric(&mut self, name: &str) -> Option<String> {
        (name == "kept").then(|| format!("probe_{name}"))
    }
    fn map_sample(&mut self, name: &str, labels: Strided<'_, Label<'_>>, value: &mut f64) -> bool {
        self.fuse.burn("map_sample");
        *value *= 10.0;
        name == "kept" && labels.len() == 1
    }
}

struct Strategy {
    fuse: Fuse,
    knobs: Knobs,
}

impl Plugin for Strategy {
    fn init(host: Host) -> Result<Self> {
        Ok(Strategy { fuse: Fuse::of(host)?, knobs: host.knobs()? })
    }
}

impl QosStrategy for Strategy {
    fn evaluate(&mut self, _now_ns: u64, _deadline_ns: u64) -> Result<()> {
        self.fuse.burn("evaluate");
        if !self.fuse.0.is_empty() {
            return Ok(());
        }
        let first = Intent {
            level: KOORD_LEVEL_POD,
            knob: "cpu.max",
            cgroup_dir: "be.slice",
            value: &self.knobs.current("cpu.max", "be.slice")?,
            reason: "the node is busy",
            inputs: &[("node_cpu_usage", "7.3")],
            priority: 10,
            ttl: Duration::from_secs(60),
            ..Intent::default()
        };
        let base = self.knobs.base("cpuset.cpus", "be.slice")?;
        self.knobs.propose(&[first.clone(), Intent { knob: "cpuset.cpus", value: &base, inputs: &[], role: KOORD_ROLE_CAP, ..first }])
    }
    fn on_applied(&mut self, results: Strided<'_, IntentResult<'_>>) -> Result<()> {
        self.fuse.burn("on_applied");
        results.map(|result| Err(Failure::new(result.status(), result.winner()))).collect()
    }
}

struct Hook(Fuse);

impl Plugin for Hook {
    fn init(host: Host) -> Result<Self> {
        Ok(Hook(Fuse::of(host)?))
    }
}

impl RuntimeHook for Hook {
    const STAGES: u32 = KOORD_STAGE_PRE_RUN_POD_SANDBOX | KOORD_STAGE_PRE_CREATE_CONTAINER;
    fn handle(&self, request: HookRequest<'_>, response: &HookResponse<'_>) -> Result<()> {
        self.0.burn("handle");
        match (request.pod(), request.container()) {
            (Some(pod), None) => response.set("env:POD", pod.uid()),
            _ => response.reject("this hook is for pods"),
        }
    }
}

koordetector::plugin! {
    manifest: "id=binding-probe\n\
               version=1.0.0\n\
               kinds=koord.advisor/1,koord.external-advisor/1,koord.qos-strategy/1,koord.runtime-hook/1\n\
               gate=BindingProbe\n\
               requires=koord.metrics/1,koord.config/1\n",
    advisor Probe { name: "probe", period: Duration::from_millis(100), config_schema: "{\"type\": \"object\"}" }
    external_advisor Source { name: "source" }
    qos_strategy Strategy { name: "strategy", period: Duration::from_secs(1) }
    runtime_hook Hook { name: "hook", flags: KOORD_SERIAL }
}
