//! @NAME@: gives pods with the label example.com/tier: interactive more CPU time under contention.
//! handle() is a pure function of the request; the contract is sdk/koordetector/plugin.h.

use koordetector::abi::*;
use koordetector::{Config, Host, HookRequest, HookResponse, Plugin, Result, RuntimeHook};

const SHARES: i64 = 2048;

fn is_interactive<'a>(mut labels: impl Iterator<Item = (&'a str, &'a str)>) -> bool {
    labels.any(|label| label == ("example.com/tier", "interactive"))
}

struct Tiers {
    config: Config,
    shares: i64,
}

impl Plugin for Tiers {
    fn init(host: Host) -> Result<Self> {
        let config = host.config()?;
        Ok(Tiers { shares: config.i64("/shares")?.unwrap_or(SHARES), config })
    }

    /// Called when an operator has changed the settings.
    fn on_event(&mut self, what: u32, _version: u64) -> Result<()> {
        if what == KOORD_ON_CONFIG {
            self.shares = self.config.i64("/shares")?.unwrap_or(SHARES);
        }
        Ok(())
    }
}

impl RuntimeHook for Tiers {
    const STAGES: u32 = KOORD_STAGE_PRE_CREATE_CONTAINER;

    /// Called for each container. The agent keeps cgroup fields at the returned values later, too. An environment is
    /// set only while a container is created.
    fn handle(&self, request: HookRequest<'_>, response: &HookResponse<'_>) -> Result<()> {
        match request.pod() {
            Some(pod) if is_interactive(pod.labels().map(|label| (label.key(), label.value()))) => {
                response.set("linux.cpu.shares", &self.shares.to_string())?;
                response.set("env:POD_TIER", "interactive")
            }
            _ => Ok(()),
        }
    }
}

koordetector::plugin! {
    manifest: "id=@ID@\n\
               version=0.1.0\n\
               kinds=koord.runtime-hook/1\n\
               gate=@GATE@\n\
               requires=koord.config/1\n\
               description=CPU shares of interactive pods\n",
    runtime_hook Tiers {
        name: "tiers",
        config_schema: r#"{
            "type": "object",
            "properties": {"shares": {"type": "integer", "minimum": 2, "maximum": 262144,
                                      "description": "CPU shares of a container of an interactive pod; usual are 1024 for a CPU"}},
            "additionalProperties": false
        }"#,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pods_with_the_label_are_interactive() {
        assert!(is_interactive([("app", "cart"), ("example.com/tier", "interactive")].into_iter()));
        assert!(!is_interactive([("example.com/tier", "batch")].into_iter()));
        assert!(!is_interactive([].into_iter()));
    }
}
