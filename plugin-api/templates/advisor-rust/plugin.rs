//! @NAME@: counts the tasks of the node that run or wait for a CPU.
//! Replace the metrics that init() defines and the files that collect() reads; the contract is sdk/koordetector/plugin.h.

use koordetector::abi::*;
use koordetector::{Advisor, Batch, Config, Failure, Fs, Host, MetricSpec, Plugin, Result, Series};
use std::time::Duration;

/// In "0.52 0.48 0.40 2/310 4711", the first three numbers are averages over one, five and fifteen minutes.
fn load_of(loadavg: &str, minutes: i64) -> Option<f64> {
    let column = match minutes {
        1 => 0,
        5 => 1,
        _ => 2,
    };
    loadavg.split_whitespace().nth(column)?.parse().ok()
}

struct Load {
    config: Config,
    fs: Fs,
    batch: Batch,
    load: Series,
    minutes: i64,
}

impl Plugin for Load {
    /// Called once: gets the services and defines the metrics.
    fn init(host: Host) -> Result<Self> {
        let metrics = host.metrics()?;
        let spec = MetricSpec {
            resolution: 0.01,
            ..MetricSpec::gauge("@METRIC@_load", "tasks", "Tasks that run or wait for a CPU, on average.")
        };
        let load = metrics.define(&spec)?.series(KOORD_NO_SUBJECT, &[])?;
        let (config, fs, batch) = (host.config()?, host.fs()?, Batch::new(metrics));
        Ok(Load { minutes: config.i64("/minutes")?.unwrap_or(1), config, fs, batch, load })
    }

    /// Called when an operator has changed the settings.
    fn on_event(&mut self, what: u32, _version: u64) -> Result<()> {
        if what == KOORD_ON_CONFIG {
            self.minutes = self.config.i64("/minutes")?.unwrap_or(1);
        }
        Ok(())
    }
}

impl Advisor for Load {
    /// Called every period. Reads the file and adds a value. If it fails, only this tick fails; the next one tries
    /// again.
    fn collect(&mut self, now_ns: u64, _deadline_ns: u64) -> Result<()> {
        let text = self.fs.read(KOORD_ROOT_PROC, "loadavg")?;
        let load = load_of(&text, self.minutes).ok_or_else(|| {
            Failure::new(KOORD_E_IO, format!("/proc/loadavg: expected three numbers, found {:?}", text))
        })?;
        self.batch.add(self.load, load);
        self.batch.send(now_ns)
    }
}

koordetector::plugin! {
    manifest: "id=@ID@\n\
               version=0.1.0\n\
               kinds=koord.advisor/1\n\
               gate=@GATE@\n\
               requires=koord.metrics/1,koord.fs/1,koord.config/1\n\
               description=the load of the node\n",
    advisor Load {
        name: "load",
        period: Duration::from_secs(1),
        config_schema: r#"{
            "type": "object",
            "properties": {"minutes": {"enum": [1, 5, 15], "description": "over which the load is averaged"}},
            "additionalProperties": false
        }"#,
    }
}

#[cfg(test)]
mod tests {
    use super::load_of;

    #[test]
    fn each_average_has_its_column() {
        let text = "0.52 0.48 0.40 2/310 4711\n";
        assert_eq!([1, 5, 15].map(|minutes| load_of(text, minutes)), [Some(0.52), Some(0.48), Some(0.40)]);
    }

    #[test]
    fn what_is_no_number_is_no_load() {
        assert_eq!(load_of("busy\n", 1), None);
        assert_eq!(load_of("", 1), None);
    }
}
