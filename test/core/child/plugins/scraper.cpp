// SPDX-License-Identifier: Apache-2.0
// An external advisor that follows its configuration:
//   {"url": "http://…", "prefix": "put before each name", "only": "metrics that begin so", "panic": "map_sample"}
#include <cstdlib>
#include <koordetector/plugin.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

using namespace koord::plugin;

namespace {

std::string setting(const koord_host* host, std::string_view pointer) {
  const auto* config = require<koord_svc_config>(host, "koord.config/1");
  char text[1024];
  std::uint64_t need = 0;
  koord_status status = config->string(host, str(pointer), text, sizeof text, &need);
  return status == KOORD_OK ? std::string(text, need) : std::string();
}

}  // namespace

struct Scraper : ExternalAdvisor {
  void init() override { read_config(); }
  void on_event(std::uint32_t, std::uint64_t) override { read_config(); }

  std::string url() override {
    if (url_.empty()) throw Failure(KOORD_E_AGAIN, "the url is unknown");
    return url_;
  }
  std::optional<std::string> map_metric(std::string_view name) override {
    if (panic_ == "map_metric") throw std::runtime_error("the scraper's text");
    if (name.substr(0, only_.size()) != only_) return std::nullopt;
    return prefix_ + std::string(name);
  }
  // Drops samples that one label marks, and doubles samples that a different label marks.
  bool map_sample(std::string_view, Strided<koord_label> labels, double& value) override {
    if (panic_ == "map_sample") throw std::runtime_error("the scraper's text");
    if (panic_ == "exit") std::_Exit(3);
    for (const koord_label& label : labels) {
      if (view(label.key) == "drop") return false;
      if (view(label.key) == "double") value *= 2;
    }
    return true;
  }

  void read_config() {
    url_ = setting(host(), "/url");
    prefix_ = setting(host(), "/prefix");
    only_ = setting(host(), "/only");
    panic_ = setting(host(), "/panic");
  }
  std::string url_, prefix_, only_, panic_;
};

KOORD_PLUGIN("id=com.example.scraper\nversion=1.0.0\nkinds=koord.external-advisor/1\ngate=Scraper\n"
             "requires=koord.config/1,koord.metrics/1\n",
             external_advisor<Scraper>("scraper", std::chrono::milliseconds(100)))
