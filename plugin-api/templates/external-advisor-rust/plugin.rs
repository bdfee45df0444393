//! @NAME@: adds the metrics of an exporter on this node to the agent's metrics.
//! The agent scrapes the endpoint that url() returns; the contract is sdk/koordetector/plugin.h.

use koordetector::{Config, ExternalAdvisor, Host, Plugin, Result};
use std::time::Duration;

fn url_of(port: i64) -> String {
    format!("http://127.0.0.1:{}/metrics", port)
}

struct Exporter {
    config: Config,
}

impl Plugin for Exporter {
    fn init(host: Host) -> Result<Self> {
        let mut exporter = Exporter { config: host.config()? };
        exporter.url()?; // reports invalid settings at start
        Ok(exporter)
    }
}

impl ExternalAdvisor for Exporter {
    /// Called at start, and again when an operator has changed the settings.
    fn url(&mut self) -> Result<String> {
        Ok(url_of(self.config.i64("/port")?.unwrap_or(9100)))
    }
}

koordetector::plugin! {
    manifest: "id=@ID@\n\
               version=0.1.0\n\
               kinds=koord.external-advisor/1\n\
               gate=@GATE@\n\
               requires=koord.config/1\n\
               description=the metrics of an exporter on this node\n",
    external_advisor Exporter {
        name: "exporter",
        period: Duration::from_secs(15),
        config_schema: r#"{
            "type": "object",
            "properties": {"port": {"type": "integer", "minimum": 1, "maximum": 65535,
                                    "description": "where on 127.0.0.1 the exporter listens"}},
            "additionalProperties": false
        }"#,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_exporter_is_on_this_node() {
        assert_eq!(super::url_of(9400), "http://127.0.0.1:9400/metrics");
    }
}
