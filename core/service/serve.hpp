// SPDX-License-Identifier: Apache-2.0
// The frame of every service function: finds the plugin behind the koord_host, turns an Error into a status
// with a text, and lets no exception out.
#pragma once

#include <exception>
#include <new>

#include "core/service/plugin_context.hpp"
#include "core/service/status.hpp"

namespace koord::service {

template <class Context>
koord_status to_status(Context& context, const Error& error) {
  return context.fail(status_of(error), why(error));
}
template <class Context>
koord_status to_status(Context&, koord_status status) {
  return status;
}
template <class Context>
koord_status to_status(Context& context, const Result<void>& done) {
  return done ? KOORD_OK : to_status(context, done.error());
}
template <class Context>
koord_status to_status(Context& context, const Result<koord_status>& status) {
  return status ? *status : to_status(context, status.error());
}

// `body(context)` returns a koord_status, a Result<koord_status> or a Result<void>. A Context, which is behind the
// koord_host's impl, has fail(status, text).
template <class Context = PluginContext, class Body>
koord_status serve(const koord_host* host, Body&& body) noexcept {
  if (!host || !host->impl) return KOORD_E_INVALID;
  Context& context = *static_cast<Context*>(host->impl);
  try {
    return to_status(context, body(context));
  } catch (const std::bad_alloc&) {
    return KOORD_E_NOMEM;
  } catch (const std::exception& exception) {
    return context.fail(KOORD_E_PANIC, exception.what());
  } catch (...) {
    return KOORD_E_PANIC;
  }
}

}  // namespace koord::service
