// SPDX-License-Identifier: Apache-2.0
// BatchWriter: sends the patches of BatchNodes with a client of the API server, a few at a time. [loop thread]
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/kube/client.hpp"
#include "core/manager/batch_nodes.hpp"

namespace koord::manager {

class BatchWriter {
 public:
  static constexpr std::size_t kMostPatches = 8;

  // `may_write` is called before each patch. All references must outlive this object.
  BatchWriter(const Clock& clock, kube::Client& client, BatchNodes& nodes, std::function<bool()> may_write)
      : clock_(clock), client_(client), nodes_(nodes), may_write_(std::move(may_write)) {}

  // Sends the patches that are due. Call it after each change, and periodically.
  void run();
  // Cancels the running patches. Called when this replica no longer leads.
  void cancel();

  const std::string& problem() const { return problem_; }  // of the last failure; empty after a success

 private:
  void take(const std::string& node, const Result<kube::Reply>& reply);

  const Clock& clock_;
  kube::Client& client_;
  BatchNodes& nodes_;
  const std::function<bool()> may_write_;
  std::map<std::string, kube::Client::PendingPtr> running_;
  std::string problem_;
};

}  // namespace koord::manager
