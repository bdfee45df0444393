// SPDX-License-Identifier: Apache-2.0
// koord.audit/1: records an observation or action of a plugin as an event with its pod's labels, and logs it.
#include "core/base/utf8.hpp"
#include "core/service/arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

std::string line_of(const Event& event) {
  std::string line = event.what;
  for (const auto& [key, value] : event.subject)
    if (!value.empty()) line += ' ' + key + '=' + value;
  return event.why.empty() ? line : line + ": " + event.why;
}

Result<std::string> utf8_argument(std::string_view text, const char* what) {
  if (!is_valid_utf8(text)) return invalid(std::string(what) + " is not UTF-8");
  return std::string(text);
}

koord_status record(const koord_host* host, std::uint64_t subject, koord_str what, koord_str why) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    Event event;
    const std::string_view name = TRY(name_argument(what, "what"));
    const std::string_view reason = TRY(text_argument(why, "why"));
    event.what = TRY(utf8_argument(name, "what"));
    event.why = TRY(utf8_argument(reason, "why"));
    event.subject = TRY(context.living_subject(subject)).labels;
    event.plugin = context.id();
    event.time = context.shared().clock.now();
    context.log(KOORD_LOG_INFO, line_of(event));
    context.shared().events.add(std::move(event));
    return {};
  });
}

}  // namespace

const koord_svc_audit audit_service = {sizeof audit_service, 0, record};

}  // namespace koord::service
