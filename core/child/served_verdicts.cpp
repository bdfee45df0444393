// SPDX-License-Identifier: Apache-2.0
#include "core/child/served_verdicts.hpp"

#include <vector>

#include "core/child/verdict_wire.hpp"
#include "core/service/services.hpp"
#include "core/service/verdict_list.hpp"

namespace koord::child {

koord_status serve_verdict_post(const koord_host* host, Unpacker& in) {
  const std::vector<verdict::Record> records = take_posted(in);
  if (!in.ok()) return KOORD_E_INVALID;  // refuses the whole request
  std::vector<std::vector<koord_suspect>> suspects(records.size());
  std::vector<std::vector<koord_label>> others(records.size());
  std::vector<koord_verdict> verdicts;
  verdicts.reserve(records.size());
  for (std::size_t i = 0; i < records.size(); ++i)
    verdicts.push_back(service::posted_record(records[i], suspects[i], others[i]));
  return service::verdict_service.post(host, verdicts.data(), static_cast<std::uint32_t>(verdicts.size()),
                                       sizeof(koord_verdict));
}

koord_status serve_verdict_end(const koord_host* host, Unpacker& in) {
  const auto victim = in.number<std::uint64_t>();
  const auto resource = in.number<std::uint32_t>();
  const auto kind = in.number<std::uint32_t>();
  return service::verdict_service.end(host, victim, resource, kind, in.str());
}

koord_status serve_verdict_acquire(service::PluginContext& context, Unpacker& in, Packer& out) {
  const auto known = in.number<std::uint64_t>();
  const auto standing = context.shared().verdicts.standing();
  const bool is_new = standing->version != known;
  out.add(std::uint32_t{is_new});
  if (is_new) add_standing(out, *standing);
  return KOORD_OK;
}

}  // namespace koord::child
