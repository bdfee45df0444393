//! @NAME@: limits the threads that best-effort containers start by default, independent of the node's CPUs.
//! handle() is a pure function of the request; the contract is sdk/koordetector/plugin.h.

use koordetector::abi::*;
use koordetector::{Config, Host, HookRequest, HookResponse, Plugin, Result, RuntimeHook};

/// Returns how many threads a container of a pod of this class, `KOORD_KUBE_QOS_*`, should start; `None`: no
/// limit.
fn threads_of(kube_qos: u32, configured: i64) -> Option<i64> {
    (kube_qos == KOORD_KUBE_QOS_BEST_EFFORT).then(|| configured)
}

struct Threads {
    config: Config,
    threads: i64,
}

impl Plugin for Threads {
    fn init(host: Host) -> Result<Self> {
        let config = host.config()?;
        Ok(Threads { threads: config.i64("/threads")?.unwrap_or(2), config })
    }

    /// An operator has changed the settings.
    fn on_event(&mut self, what: u32, _version: u64) -> Result<()> {
        if what == KOORD_ON_CONFIG {
            self.threads = self.config.i64("/threads")?.unwrap_or(2);
        }
        Ok(())
    }
}

impl RuntimeHook for Threads {
    const STAGES: u32 = KOORD_STAGE_PRE_CREATE_CONTAINER;

    /// Called for each new container. Values set here go into the runtime's request.
    fn handle(&self, request: HookRequest<'_>, response: &HookResponse<'_>) -> Result<()> {
        match request.pod().and_then(|pod| threads_of(pod.kube_qos(), self.threads)) {
            Some(threads) => response.set("env:OMP_NUM_THREADS", &threads.to_string()),
            None => Ok(()),
        }
    }
}

koordetector::plugin! {
    manifest: "id=@ID@\n\
               version=0.1.0\n\
               kinds=koord.runtime-hook/1\n\
               gate=@GATE@\n\
               requires=koord.config/1\n\
               description=few threads for best-effort pods\n",
    runtime_hook Threads {
        name: "threads",
        config_schema: r#"{
            "type": "object",
            "properties": {"threads": {"type": "integer", "minimum": 1, "maximum": 1024,
                                       "description": "how many a best-effort container is to start"}},
            "additionalProperties": false
        }"#,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_best_effort_containers_are_told() {
        assert_eq!(threads_of(KOORD_KUBE_QOS_BEST_EFFORT, 2), Some(2));
        assert_eq!(threads_of(KOORD_KUBE_QOS_GUARANTEED, 2), None);
    }
}
