//! @NAME@: limits the CPU time of every best-effort pod.
//! evaluate() only proposes; the agent decides, writes and reverts. The contract is sdk/koordetector/plugin.h.

use koordetector::abi::*;
use koordetector::{Config, Host, Intent, Knobs, Plugin, QosStrategy, Result, State};
use std::time::Duration;

/// Returns "quota period" for cpu.max, in microseconds.
fn cpu_max(milli_cores: i64) -> String {
    format!("{} 100000", milli_cores * 100)
}

struct Ceiling {
    config: Config,
    state: State,
    knobs: Knobs,
    value: String,
}

fn configured(config: &Config) -> Result<String> {
    Ok(cpu_max(config.i64("/milliCores")?.unwrap_or(500)))
}

impl Plugin for Ceiling {
    fn init(host: Host) -> Result<Self> {
        let config = host.config()?;
        Ok(Ceiling { value: configured(&config)?, config, state: host.state()?, knobs: host.knobs()? })
    }

    /// Called when an operator has changed the settings.
    fn on_event(&mut self, what: u32, _version: u64) -> Result<()> {
        if what == KOORD_ON_CONFIG {
            self.value = configured(&self.config)?;
        }
        Ok(())
    }
}

impl QosStrategy for Ceiling {
    /// Called every period. All intents of one call are one plan, which replaces the previous plan.
    fn evaluate(&mut self, _now_ns: u64, _deadline_ns: u64) -> Result<()> {
        let snapshot = self.state.snapshot()?;
        let plan: Vec<Intent> = snapshot
            .pods()
            .filter(|pod| pod.kube_qos() == KOORD_KUBE_QOS_BEST_EFFORT && !pod.cgroup_dir().is_empty())
            .map(|pod| Intent {
                level: KOORD_LEVEL_POD,
                knob: "cpu.max",
                cgroup_dir: pod.cgroup_dir(),
                value: &self.value,
                reason: "best-effort pods have a ceiling",
                ttl: Duration::from_secs(60), // withdrawn unless it is proposed again within this time
                ..Intent::default()
            })
            .collect();
        self.knobs.propose(&plan)
    }
}

koordetector::plugin! {
    manifest: "id=@ID@\n\
               version=0.1.0\n\
               kinds=koord.qos-strategy/1\n\
               gate=@GATE@\n\
               requires=koord.state/1,koord.knobs/1,koord.config/1\n\
               description=a ceiling of CPU time for best-effort pods\n",
    qos_strategy Ceiling {
        name: "ceiling",
        period: Duration::from_secs(10),
        config_schema: r#"{
            "type": "object",
            "properties": {"milliCores": {"type": "integer", "minimum": 10, "maximum": 1000000,
                                          "description": "what a best-effort pod may use at most"}},
            "additionalProperties": false
        }"#,
    }
}

#[cfg(test)]
mod tests {
    use super::cpu_max;

    #[test]
    fn a_thousand_milli_cores_are_a_whole_period() {
        assert_eq!(cpu_max(1000), "100000 100000");
        assert_eq!(cpu_max(10), "1000 100000");
    }
}
