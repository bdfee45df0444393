// SPDX-License-Identifier: Apache-2.0
// Implements koordetector/test.h: the host in memory and a player for authors' tests, in any language that can call C.
#include "koordetector/test.h"

#include <cmath>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/manual_clock.hpp"
#include "core/base/parse.hpp"
#include "core/host/hook_response.hpp"
#include "core/service/status.hpp"
#include "core/service/verdict_list.hpp"
#include "core/workshop/loading.hpp"
#include "core/workshop/memory_host.hpp"
#include "core/workshop/node_state.hpp"
#include "core/workshop/node_tree.hpp"
#include "core/workshop/player.hpp"

using namespace koord;
using namespace koord::workshop;

namespace {

constexpr Duration kDeadline = std::chrono::seconds(1);
constexpr const char* kNodeName = "test-node";
constexpr const char* kOtherPlugin = "another-plugin";

std::string_view view_of(const char* text) { return text != nullptr ? text : ""; }

koord_str str_of(const std::string& text) { return {text.c_str(), text.size()}; }

Result<metric::Labels> parse_labels(std::string_view text) {
  metric::Labels labels;
  while (auto pair = next_field(text, ',')) {
    std::size_t equals = pair->find('=');
    if (equals == 0 || equals == std::string_view::npos)
      return invalid("the label '" + std::string(*pair) + "', expected key=value");
    labels.emplace_back(pair->substr(0, equals), pair->substr(equals + 1));
  }
  return labels;
}

}  // namespace

struct koord_test {
  koord_test(std::shared_ptr<const host::LoadedPlugin> loaded, std::string id)
      : plugin(std::move(loaded)), plugin_id(std::move(id)) {}

  const std::shared_ptr<const host::LoadedPlugin> plugin;
  const std::string plugin_id;
  ManualClock clock;
  NodeTree node;
  StateTexts state;
  std::unique_ptr<MemoryHost> memory_host;  // set by start()
  std::unique_ptr<service::PluginContext> other;
  std::unique_ptr<Player> player;
  std::vector<knob::Intent> proposals;
  koord_intent shown = {};  // returned to the caller, with the data that it points to
  std::vector<koord_label> shown_inputs;
  std::unique_ptr<service::VerdictList> listed;  // result of the last koord_test_verdict()
  host::HookSettings answer;                     // result of the last handle()
  std::string why, url, mapped;

  koord_status fail(koord_status status, std::string text) {
    why = std::move(text);
    return status;
  }
  koord_status outcome(const service::CallResult& result) {
    if (!result.ok()) return fail(result.status, result.text);
    return KOORD_OK;
  }
  koord_status outcome(const Result<void>& result) {
    return result ? KOORD_OK : fail(service::status_of(result.error()), result.error().message());
  }
  // Runs `f`. Converts exceptions to a status.
  template <class F>
  koord_status attempt(F&& f) {
    why.clear();
    try {
      return f();
    } catch (const std::exception& error) {
      return fail(KOORD_E_IO, error.what());
    }
  }
  template <class F>
  koord_status play(F&& f) {
    return attempt([&] { return player ? f() : fail(KOORD_E_AGAIN, "the plugin is not started"); });
  }

  Result<void> set_stage() {
    if (!memory_host) memory_host = std::make_unique<MemoryHost>(node.roots(), clock, kNodeName);
    return publish_state(state, node.roots(), kNodeName, memory_host->hub());
  }
  // Called after a change of the state. The plugin gets an event if it has subscribed.
  koord_status state_changed(std::uint32_t part, std::uint64_t state::Versions::*version) {
    if (!memory_host) return KOORD_OK;
    const std::uint64_t before = memory_host->hub().current()->versions.*version;
    if (koord_status status = outcome(set_stage()); status != KOORD_OK) return status;
    const std::uint64_t now = memory_host->hub().current()->versions.*version;
    if (now == before || !player || (player->context().subscribed_parts() & part) == 0) return KOORD_OK;
    return outcome(player->runner().on_event(part, now));
  }
  const koord_pod* find_pod(const service::SnapshotView& view, std::string_view uid) const {
    for (const koord_pod& pod : view.pods())
      if (std::string_view(pod.uid.p, pod.uid.n) == uid) return &pod;
    return nullptr;
  }
};

koord_test* koord_test_open(const koord_module* (*entry)(void)) {
  try {
    const koord_module* module = entry != nullptr ? entry() : nullptr;
    Result<std::shared_ptr<const host::LoadedPlugin>> plugin = linked_plugin(module);
    if (plugin) return new koord_test(*std::move(plugin), load::parse_manifest(module->manifest)->id);
    std::fprintf(stderr, "koord_test_open: %s\n", plugin.error().message().c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "koord_test_open: %s\n", error.what());
  }
  return nullptr;
}

void koord_test_close(koord_test* test) { delete test; }

const char* koord_test_why(koord_test* test) { return test->why.c_str(); }

koord_status koord_test_file(koord_test* test, const char* path, const char* content) {
  return test->attempt([&] {
    if (view_of(path).ends_with('/'))
      test->node.make_directory(path);
    else
      test->node.write(view_of(path), view_of(content));
    return KOORD_OK;
  });
}

koord_status koord_test_remove(koord_test* test, const char* path) {
  return test->attempt([&] { return test->node.remove(view_of(path)), KOORD_OK; });
}

koord_status koord_test_pods(koord_test* test, const char* pod_list) {
  return test->attempt([&] {
    test->state.pods = view_of(pod_list);
    return test->state_changed(KOORD_ON_PODS, &state::Versions::pods);
  });
}

koord_status koord_test_node_slo(koord_test* test, const char* node_slo) {
  return test->attempt([&] {
    test->state.node_slo = view_of(node_slo);
    return test->state_changed(KOORD_ON_NODE_SLO, &state::Versions::node_slo);
  });
}

koord_status koord_test_sample(koord_test* test, const char* metric, const char* pod_uid, const char* labels,
                               double value) {
  return test->attempt([&]() -> koord_status {
    if (!test->memory_host)
      if (koord_status status = test->outcome(test->set_stage()); status != KOORD_OK) return status;
    MemoryHost& memory_host = *test->memory_host;
    Result<metric::Labels> own = parse_labels(view_of(labels));
    if (!own) return test->fail(KOORD_E_INVALID, own.error().message());
    metric::Subject subject;
    if (pod_uid != nullptr) {
      const service::SnapshotViewPtr view = memory_host.services().views.of(memory_host.hub().current());
      const koord_pod* pod = test->find_pod(*view, pod_uid);
      if (pod == nullptr) return test->fail(KOORD_E_NOT_FOUND, "no pod has the uid '" + std::string(pod_uid) + "'");
      subject = *view->subject(pod->handle);
    }
    metric::Registry& metrics = memory_host.metrics();
    auto recorded = [&]() -> Result<void> {
      std::uint32_t id = TRY(metrics.define(
          kOtherPlugin, {.name = metric, .unit = "1", .help = "A sample of a test.", .resolution = 1e-6}));
      metric::SeriesId series = TRY(metrics.series(kOtherPlugin, id, subject, *own));
      const metric::Point point{series, value};
      TRY(metrics.record(kOtherPlugin, test->clock.now(), {&point, 1}));
      return {};
    };
    return test->outcome(recorded());
  });
}

void koord_test_advance(koord_test* test, uint64_t ns) { test->clock.advance(Duration(static_cast<std::int64_t>(ns))); }

uint64_t koord_test_now_ns(koord_test* test) { return to_ns(test->clock.now()); }

koord_status koord_test_start(koord_test* test, const char* class_name, const char* config_json) {
  return test->attempt([&]() -> koord_status {
    if (test->player) return test->fail(KOORD_E_AGAIN, "the plugin is started already");
    Result<std::size_t> index = find_class(*test->plugin, view_of(class_name));
    if (!index) return test->fail(KOORD_E_NOT_FOUND, index.error().message());
    if (koord_status status = test->outcome(test->set_stage()); status != KOORD_OK) return status;
    Player::Role role{.plugin_id = test->plugin_id, .plugin = test->plugin, .class_index = *index};
    if (config_json != nullptr) role.config_json = config_json;
    test->player = std::make_unique<Player>(*test->memory_host, std::move(role));
    koord_status started = test->outcome(test->player->start());
    if (started != KOORD_OK) test->player.reset();
    return started;
  });
}

koord_status koord_test_tick(koord_test* test) {
  return test->play([&] {
    test->proposals.clear();
    const Time now = test->clock.now();
    koord_status status = test->outcome(test->player->tick(now, now + kDeadline));
    auto plan = test->player->context().take_plan();
    if (status == KOORD_OK) test->proposals = std::move(plan);
    return status;
  });
}

koord_status koord_test_configure(koord_test* test, const char* config_json) {
  return test->play([&] { return test->outcome(test->player->configure(std::string(view_of(config_json)))); });
}

koord_status koord_test_handle(koord_test* test, uint32_t stage, const char* pod_uid, const char* container_name) {
  return test->play([&]() -> koord_status {
    const service::SnapshotViewPtr view = test->memory_host->services().views.of(test->memory_host->hub().current());
    const koord_pod* pod = test->find_pod(*view, view_of(pod_uid));
    if (pod == nullptr)
      return test->fail(KOORD_E_NOT_FOUND, "no pod has the uid '" + std::string(view_of(pod_uid)) + "'");
    const koord_container* container = nullptr;
    for (std::uint32_t i = 0; container_name != nullptr && i < pod->n_containers; ++i)
      if (std::string_view(pod->containers[i].name.p, pod->containers[i].name.n) == container_name)
        container = &pod->containers[i];
    if (container_name != nullptr && container == nullptr)
      return test->fail(KOORD_E_NOT_FOUND, "the pod has no container '" + std::string(container_name) + "'");
    host::HookResponse response(test->player->context().host());
    const koord_hook_request request{sizeof request,   stage,  to_ns(test->clock.now() + kDeadline), pod, container,
                                     view->node_slo(), {"", 0}};
    const service::CallResult handled = test->player->runner().handle(request, response.table());
    test->answer = response.close();
    return test->outcome(handled);
  });
}

const char* koord_test_url(koord_test* test) {
  koord_status status = test->play([&] { return test->outcome(test->player->runner().url(test->url)); });
  return status == KOORD_OK ? test->url.c_str() : nullptr;
}

koord_status koord_test_map_sample(koord_test* test, const char* name, const char* labels, double* value) {
  return test->play([&]() -> koord_status {
    Result<metric::Labels> parsed = parse_labels(view_of(labels));
    if (!parsed) return test->fail(KOORD_E_INVALID, parsed.error().message());
    std::vector<koord_label> records;
    for (const auto& [key, text] : *parsed) records.push_back({str_of(key), str_of(text)});
    scrape::ScrapedSample sample{.name = view_of(name), .labels = records, .value = *value};
    service::CallResult result = test->player->runner().map_samples("", {&sample, 1});
    *value = sample.value;
    return sample.dropped() ? sample.status : test->outcome(result);
  });
}

const char* koord_test_map_metric(koord_test* test, const char* name) {
  koord_status status = test->play([&]() -> koord_status {
    scrape::ScrapedMetric metric{.name = view_of(name), .mapped = std::string(view_of(name))};
    service::CallResult result = test->player->runner().map_metrics("", {&metric, 1});
    test->mapped = std::move(metric.mapped);
    return metric.dropped() ? metric.status : test->outcome(result);
  });
  return status == KOORD_OK ? test->mapped.c_str() : nullptr;
}

koord_status koord_test_applied(koord_test* test, koord_status status, const char* final_value, const char* winner) {
  return test->play([&] {
    const std::string value(view_of(final_value)), by(view_of(winner));
    std::vector<koord_intent_result> results;
    for (const knob::Intent& intent : test->proposals)
      results.push_back({sizeof(koord_intent_result), status, service::to_abi(intent.knob->name),
                         str_of(intent.cgroup_dir), str_of(value), str_of(by)});
    return test->outcome(test->player->runner().on_applied(results));
  });
}

koord_status koord_test_end(koord_test* test) {
  return test->attempt([&] {
    if (!test->player) return KOORD_OK;
    koord_status status = test->outcome(test->player->end());
    test->player.reset();
    return status;
  });
}

double koord_test_value(koord_test* test, const char* metric, const char* labels) {
  Result<metric::Labels> wanted = parse_labels(view_of(labels));
  std::optional<double> value;
  if (wanted && test->memory_host) value = test->memory_host->value(view_of(metric), *wanted);
  return value.value_or(std::numeric_limits<double>::quiet_NaN());
}

uint64_t koord_test_series(koord_test* test, const char* metric) {
  return test->memory_host ? test->memory_host->series(view_of(metric)).size() : 0;
}

const koord_intent* koord_test_proposal(koord_test* test, uint32_t index) {
  if (index >= test->proposals.size()) return nullptr;
  const auto& intent = test->proposals[index];
  test->shown_inputs.clear();
  for (const auto& [name, value] : intent.inputs) test->shown_inputs.push_back({str_of(name), str_of(value)});
  test->shown = {sizeof(koord_intent),
                 static_cast<std::uint32_t>(intent.level),
                 service::to_abi(intent.knob->name),
                 str_of(intent.cgroup_dir),
                 str_of(intent.value),
                 str_of(intent.reason),
                 test->shown_inputs.data(),
                 static_cast<std::uint32_t>(test->shown_inputs.size()),
                 sizeof(koord_label),
                 intent.priority,
                 intent.flags,
                 static_cast<std::uint64_t>(intent.ttl.count()),
                 static_cast<std::uint32_t>(intent.role),
                 0};
  return &test->shown;
}

const koord_verdict* koord_test_verdict(koord_test* test, uint32_t index) {
  if (!test->memory_host) return nullptr;
  verdict::Store& verdicts = test->memory_host->services().verdicts;
  verdicts.expire(test->clock.now());
  test->listed = std::make_unique<service::VerdictList>(verdicts.standing());  // no other plugin posts verdicts here
  const std::span<const koord_verdict> standing = test->listed->verdicts();
  return index < standing.size() ? &standing[index] : nullptr;
}

const char* koord_test_adjustment(koord_test* test, const char* field) {
  for (const auto& [name, value] : test->answer.fields)
    if (name == view_of(field)) return value.c_str();
  return nullptr;
}

double koord_test_factor(koord_test* test, const char* field) {
  for (const auto& [name, factor] : test->answer.scales)
    if (name == view_of(field)) return factor;
  return 1;
}

const char* koord_test_rejection(koord_test* test) {
  return test->answer.rejection ? test->answer.rejection->c_str() : nullptr;
}
