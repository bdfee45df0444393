// SPDX-License-Identifier: Apache-2.0
// koord.capabilities/1: reads and reports capabilities through the board.
#include <utility>

#include "core/service/arguments.hpp"
#include "core/service/rights.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

static_assert(static_cast<unsigned>(CapabilityState::supported) == KOORD_CAPABILITY_SUPPORTED);
static_assert(static_cast<unsigned>(CapabilityState::absent) == KOORD_CAPABILITY_ABSENT);
static_assert(static_cast<unsigned>(CapabilityState::broken) == KOORD_CAPABILITY_BROKEN);

constexpr std::size_t kMaxDetailBytes = 1024;

koord_status get(const koord_host* host, koord_str name, std::uint32_t* state) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(state, "state"));
    const std::string_view wanted = TRY(name_argument(name, "name"));
    std::optional<Capability> found = context.shared().capabilities.find(wanted, context.id());
    if (!found) return refuse(KOORD_E_NOT_FOUND, "unknown capability '" + std::string(wanted) + "'");
    *state = static_cast<std::uint32_t>(found->state);
    return {};
  });
}

koord_status report(const koord_host* host, koord_str name, std::uint32_t state, koord_str detail) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    const std::string_view reported = TRY(name_argument(name, "name"));
    const std::string_view text = TRY(text_argument(detail, "detail"));
    if (Result<void> may = check_capability_name(context.rights(), context.id(), reported); !may)
      return context.refused(std::move(may).error());
    if (state < KOORD_CAPABILITY_SUPPORTED || state > KOORD_CAPABILITY_BROKEN)
      return invalid("state is " + std::to_string(state) + ", expected a KOORD_CAPABILITY_*");
    return context.shared().capabilities.report({std::string(reported), static_cast<CapabilityState>(state),
                                                 std::string(text.substr(0, kMaxDetailBytes)), context.id()});
  });
}

}  // namespace

const koord_svc_capabilities capabilities_service = {sizeof capabilities_service, 0, get, report};

}  // namespace koord::service
