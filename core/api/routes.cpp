// SPDX-License-Identifier: Apache-2.0
#include "core/api/api.hpp"
#include "core/api/prediction_metrics.hpp"
#include "core/hook/cri_question.hpp"

namespace koord::api {
namespace {

http::Response get_readyz(const ApiSources& sources) {
  http::Response response;
  for (const ModuleHealth& module : sources.health()) {
    response.body += (module.ready ? "[+] " : "[-] ") + module.name + ": " + module.detail + "\n";
    if (!module.ready) response.status = 503;
  }
  return response;
}

// /healthz is answered on the loop, so its response shows that the loop runs.
void add_probes(const ApiSources& sources, http::Routes& routes) {
  routes.get_now("/healthz",
                 [](const http::Request&, const http::Reply& reply) { reply(http::plain_text(200, "ok")); });
  routes.get("/readyz", [&sources](const http::Request&) { return get_readyz(sources); });
}

using Answer = http::Response (*)(const ApiSources&, const http::Request&);

void add(http::Routes& routes, std::string path, const ApiSources& sources, Answer answer) {
  routes.get(std::move(path), [&sources, answer](const http::Request& request) { return answer(sources, request); });
}

}  // namespace

void write_metrics(std::string& text, const ApiSources& sources) {
  service::SharedServices& services = sources.services;
  services.metrics.write_text(text, services.clock.now(), sources.exported);
  sources.host_metrics.write_text(text, sources.host_exported);
  if (sources.prediction != nullptr)
    write_prediction_metrics(text, *sources.prediction, services.hub.current()->node.name);
  if (sources.koordlet_names) sources.koordlet_names(text);
}

http::Routes probe_routes(const ApiSources& sources) {
  http::Routes routes;
  add_probes(sources, routes);
  return routes;
}

http::Routes public_routes(const ApiSources& sources, MetricsPage& page) {
  http::Routes routes = probe_routes(sources);
  routes.get_now("/metrics",
                 [&page](const http::Request& request, const http::Reply& reply) { page.answer(request, reply); });
  return routes;
}

http::Routes local_routes(const ApiSources& sources, MetricsPage& page) {
  http::Routes routes = public_routes(sources, page);
  add(routes, "/api/v1/node", sources, get_node);
  add(routes, "/api/v1/pods", sources, get_pods);
  add(routes, "/api/v1/query", sources, get_query);
  add(routes, "/api/v1/plugins", sources, get_plugins);
  routes.post_slow(std::string(kReloadPath), [&sources](const http::Request& request, const http::Reply& reply) {
    post_reload(sources, request, reply);
  });
  add(routes, "/api/v1/takeover/koordlet", sources, get_takeover);
  routes.post_slow("/api/v1/takeover/koordlet", [&sources](const http::Request& request, const http::Reply& reply) {
    post_takeover(sources, request, reply);
  });
  routes.post_slow("/api/v1/restore", [&sources](const http::Request& request, const http::Reply& reply) {
    post_restore(sources, request, reply);
  });
  add(routes, "/api/v1/features", sources, get_features);
  add(routes, "/api/v1/capabilities", sources, get_capabilities);
  add(routes, "/api/v1/events", sources, get_events);
  add(routes, "/api/v1/predictions", sources, get_predictions);
  add(routes, "/api/v1/report", sources, get_report);
  add(routes, "/api/v1/decisions", sources, get_decisions);
  add(routes, "/api/v1/knobs", sources, get_knobs);
  add(routes, "/api/v1/why", sources, get_why);
  add(routes, "/api/v1/modes", sources, get_modes);
  routes.post_slow(std::string(kModePath), [&sources](const http::Request& request, const http::Reply& reply) {
    post_mode(sources, request, reply);
  });
  routes.get_slow("/api/v1/hooks", [&sources](const http::Request& request, const http::Reply& reply) {
    get_hooks(sources, request, reply);
  });
  routes.post_slow(
      std::string(kHookQuestionPath),
      [&sources](const http::Request& request, const http::Reply& reply) {
        post_hook_question(sources, request, reply);
      },
      hook::kMostQuestionBytes);
  add(routes, "/api/v1/interference", sources, get_interference);
  add(routes, "/api/v1/interference/matrix", sources, get_wait_matrix);
  add(routes, "/api/v1/slo", sources, get_slo);
  add(routes, "/api/v1/slo/explain", sources, get_slo_explanation);
  return routes;
}

}  // namespace koord::api
