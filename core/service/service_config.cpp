// SPDX-License-Identifier: Apache-2.0
// koord.config/1: the plugin's own part of the configuration.
#include "core/service/arguments.hpp"
#include "core/service/serve.hpp"
#include "core/service/services.hpp"

namespace koord::service {
namespace {

koord_status whole_json(const koord_host* host, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    return answer(context.config()->text(), buf, cap, need);
  });
}

// Finds the value at `pointer` with a function of ConfigDocument, and stores it.
template <class Value, class Out>
koord_status look_up(const koord_host* host, koord_str pointer, Out* out,
                     Result<Value> (ConfigDocument::*find)(std::string_view) const) {
  return serve(host, [&](PluginContext& context) -> Result<void> {
    TRY(pointer_argument(out, "value"));
    std::string_view path = TRY(text_argument(pointer, "pointer"));
    std::shared_ptr<const ConfigDocument> config = context.config();
    *out = TRY(((*config).*find)(path));
    return {};
  });
}

koord_status i64(const koord_host* host, koord_str pointer, std::int64_t* value) {
  return look_up(host, pointer, value, &ConfigDocument::integer);
}

koord_status f64(const koord_host* host, koord_str pointer, double* value) {
  return look_up(host, pointer, value, &ConfigDocument::number);
}

koord_status boolean(const koord_host* host, koord_str pointer, std::int32_t* value) {
  return look_up(host, pointer, value, &ConfigDocument::boolean);
}

koord_status string(const koord_host* host, koord_str pointer, char* buf, std::uint64_t cap, std::uint64_t* need) {
  return serve(host, [&](PluginContext& context) -> Result<koord_status> {
    TRY(buffer_argument(buf, cap, need));
    std::string_view path = TRY(text_argument(pointer, "pointer"));
    std::shared_ptr<const ConfigDocument> config = context.config();
    std::string_view text = TRY(config->string(path));
    return answer(text, buf, cap, need);
  });
}

}  // namespace

const koord_svc_config config_service = {sizeof config_service, 0, whole_json, i64, f64, boolean, string};

}  // namespace koord::service
