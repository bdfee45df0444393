// SPDX-License-Identifier: Apache-2.0
#include "core/manager/batch_writer.hpp"

#include <utility>

#include "core/base/parse.hpp"
#include "core/kube/object.hpp"
#include "core/kube/refusal.hpp"
#include "core/kube/update.hpp"

namespace koord::manager {

void BatchWriter::run() {
  while (running_.size() < kMostPatches && may_write_()) {
    const std::optional<BatchNodes::Patch> patch = nodes_.next(clock_.now());
    if (!patch) return;
    kube::Call call = kube::merge_patch_call("/api/v1/nodes", patch->node, patch->body, true);
    running_[patch->node] = client_.send(std::move(call), [this, node = patch->node](Result<kube::Reply> reply) {
      const std::string name = node;
      take(name, reply);
      running_.erase(name);
      run();
    });
  }
}

void BatchWriter::take(const std::string& node, const Result<kube::Reply>& reply) {
  const bool done = reply && reply->ok();
  problem_ = done ? "" : node + ": " + kube::describe(reply);
  std::uint64_t version = 0;
  if (done)
    if (const Result<kube::ObjectView> object = kube::parse_object(reply->body))
      version = parse_uint(object->resource_version).value_or(0);
  nodes_.ended(clock_.now(), node, done, version);
}

void BatchWriter::cancel() {
  for (auto& [node, pending] : std::exchange(running_, {})) {
    pending.reset();
    nodes_.ended(clock_.now(), node, false);
  }
}

}  // namespace koord::manager
