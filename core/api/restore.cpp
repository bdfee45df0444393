// SPDX-License-Identifier: Apache-2.0
// POST /api/v1/restore: reverts all knobs and stops all strategies from writing until an operator allows it.
#include "core/api/json_answer.hpp"
#include "core/api/operator_access.hpp"

namespace koord::api {

namespace json = boost::json;

void post_restore(const ApiSources& sources, const http::Request& request, const http::Reply& reply) {
  json::array knobs;
  const std::vector<knob::Undone> undone = sources.restore(operator_name(request));
  record_change(sources, request, "restore: " + std::to_string(undone.size()) + " knobs reverted");
  for (const knob::Undone& one : undone)
    knobs.push_back({{"cgroup", one.key.cgroup_dir},
                     {"knob", one.knob->name},
                     {"item", one.key.item},
                     {"before", one.done.before},
                     {"after", one.done.after},
                     {"result", name_of(one.done.outcome)},
                     {"problem", one.done.problem}});
  reply(json_answer({{"knobs", std::move(knobs)}}));
}

}  // namespace koord::api
