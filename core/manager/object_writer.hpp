// SPDX-License-Identifier: Apache-2.0
// ObjectWriter: sends the writes of PerNodeObjects with a client of the API server, a few at the same time. [loop
// thread]
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/kube/client.hpp"
#include "core/manager/per_node_objects.hpp"

namespace koord::manager {

class ObjectWriter {
 public:
  static constexpr std::size_t kMostRunning = 8;

  // `collection`: "/apis/slo.koordinator.sh/v1alpha1/nodeslos". `may_write` is called before each write. All references
  // must outlive this object.
  ObjectWriter(const Clock& clock, kube::Client& client, std::string collection, PerNodeObjects& objects,
               std::function<bool()> may_write)
      : clock_(clock),
        client_(client),
        collection_(std::move(collection)),
        objects_(objects),
        may_write_(std::move(may_write)) {}

  // Sends the writes that are due. Call it after each change, and periodically.
  void run();
  // Cancels the running writes. Called when this replica no longer leads.
  void cancel();

  const std::string& problem() const { return problem_; }  // of the last failure; empty after a success

 private:
  void send(const PerNodeObjects::Write& write);
  void take(const std::string& name, const Result<kube::Reply>& reply);

  const Clock& clock_;
  kube::Client& client_;
  const std::string collection_;
  PerNodeObjects& objects_;
  const std::function<bool()> may_write_;
  std::map<std::string, kube::Client::PendingPtr> running_;
  std::string problem_;
};

}  // namespace koord::manager
