// SPDX-License-Identifier: Apache-2.0
// A child's calls of koord.verdict/1, as the host serves them. [one thread]
#pragma once

#include "core/child/wire.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::child {

koord_status serve_verdict_post(const koord_host* host, Unpacker& in);
koord_status serve_verdict_end(const koord_host* host, Unpacker& in);
// The child keeps the list of the version that it names; it gets another one only if it has changed.
koord_status serve_verdict_acquire(service::PluginContext& context, Unpacker& in, Packer& out);

}  // namespace koord::child
