// SPDX-License-Identifier: Apache-2.0
// ServiceDispatcher: answers a child's requests, through the same service tables as for a plugin in this process: they
// check every argument and use the same plugin context. The child's data is unpacked first; an invalid request is an
// error, after which the child must not be used any more. [one thread]
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "core/base/result.hpp"
#include "core/child/protocol.hpp"
#include "core/child/snapshot_images.hpp"
#include "core/child/wire.hpp"
#include "core/service/plugin_context.hpp"

namespace koord::child {

class ServiceDispatcher {
 public:
  ServiceDispatcher(service::PluginContext& context, SnapshotImages& images) : context_(context), images_(images) {}

  struct Answer {
    std::string bytes;
    std::shared_ptr<const SnapshotImages::Shared> image;  // to go with it
  };
  // Send the answer unless its bytes are empty.
  Result<Answer> serve(Service service, Unpacker& request);

  // Points that came through the ring.
  void append(std::uint64_t t_ns, const std::vector<koord_point>& points);

 private:
  // Runs it, and adds the results of the service.
  Result<koord_status> run(Service service, Unpacker& in, Packer& out);
  koord_status acquire(Unpacker& in, Packer& out);

  const koord_host* host() const { return context_.host(); }

  service::PluginContext& context_;
  SnapshotImages& images_;
  std::shared_ptr<const SnapshotImages::Shared> to_send_;
};

}  // namespace koord::child
