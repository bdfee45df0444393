// @NAME@: adds the metrics of an exporter on this node to the agent's metrics.
// The agent scrapes the endpoint that url() returns; the contract is sdk/koordetector/plugin.h.
#include <koordetector/plugin.hpp>

using namespace koord::plugin;

namespace {

constexpr char kSettings[] = R"({
  "type": "object",
  "properties": {"port": {"type": "integer", "minimum": 1, "maximum": 65535,
                          "description": "where on 127.0.0.1 the exporter listens"}},
  "additionalProperties": false
})";

struct Exporter : ExternalAdvisor {
  void init() override { config_.emplace(host()); }

  // Called at start, and again when an operator has changed the settings.
  std::string url() override {
    return "http://127.0.0.1:" + std::to_string(config_->i64("/port").value_or(9100)) + "/metrics";
  }

  std::optional<Config> config_;
};

}  // namespace

KOORD_PLUGIN("id=@ID@\n"
             "version=0.1.0\n"
             "kinds=koord.external-advisor/1\n"
             "gate=@GATE@\n"
             "requires=koord.config/1\n"
             "description=the metrics of an exporter on this node\n",
             external_advisor<Exporter>("exporter", std::chrono::seconds(15), kSettings))
