// SPDX-License-Identifier: Apache-2.0
// Adds the metrics of a different program. The plugin returns their URL and their names on this node. The host scrapes
// the endpoint, parses the answer and stores the series.
#include <chrono>
#include <cstdint>
#include <koordetector/plugin.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "naming.hpp"

using namespace koord::plugin;

namespace {

// Checked before the plugin is created, and before it gets a new configuration.
constexpr char kSchema[] = R"json({
  "type": "object",
  "required": ["url"],
  "properties": {
    "url": {"type": "string", "pattern": "^(http://|unix:/)"},
    "prefix": {"type": "string", "pattern": "^[a-zA-Z_]?[a-zA-Z0-9_]*$"},
    "allow": {"type": "array", "items": {"type": "string", "minLength": 1}}
  },
  "additionalProperties": false
})json";

}  // namespace

class Endpoint : public ExternalAdvisor {
 public:
  void init() override {
    config_ = require<koord_svc_config>(host(), "koord.config/1");
    read_config();
  }

  // After this call, the host asks for the URL and the names again.
  void on_event(std::uint32_t what, std::uint64_t /*version*/) override {
    if (what == KOORD_ON_CONFIG) read_config();
  }

  std::string url() override { return url_; }
  std::optional<std::string> map_metric(std::string_view name) override { return naming_.name_of(name); }

 private:
  void read_config() {
    url_ = setting("/url").value_or("");
    naming_ = {setting("/prefix").value_or(""), {}};
    while (auto pattern = setting("/allow/" + std::to_string(naming_.allowed.size())))
      naming_.allowed.push_back(*pattern);
  }

  std::optional<std::string> setting(std::string_view pointer) const {
    koord_status status = KOORD_OK;
    std::string text = text_of([&](char* buf, std::uint64_t cap, std::uint64_t* need) {
      status = config_->string(host(), str(pointer), buf, cap, need);
      return status == KOORD_E_NOT_FOUND ? KOORD_OK : status;
    });
    return status == KOORD_E_NOT_FOUND ? std::nullopt : std::optional(text);
  }

  const koord_svc_config* config_ = nullptr;
  std::string url_;
  Naming naming_;
};

KOORD_PLUGIN("id=com.example.endpoint\n"
             "version=1.0.0\n"
             "kinds=koord.external-advisor/1\n"
             "gate=EndpointExample\n"
             "requires=koord.config/1\n"
             "license=Apache-2.0\n"
             "description=brings in the metrics of a Prometheus endpoint\n",
             external_advisor<Endpoint>("endpoint", std::chrono::seconds(15), kSchema))
