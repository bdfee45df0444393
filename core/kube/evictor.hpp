// SPDX-License-Identifier: Apache-2.0
// Evictor: evicts pods through the API server. It asks for the version of the request before the first one, and again
// when the server rejects that version; evictions that begin meanwhile wait for the same answer. It does not repeat
// refused evictions: the caller decides whether they are still needed. [loop thread]
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/kube/client.hpp"
#include "core/kube/eviction.hpp"

namespace koord::kube {

class Evictor {
 public:
  // The client must outlive it, and it what evict() returned.
  explicit Evictor(Client& client);
  ~Evictor();
  Evictor(const Evictor&) = delete;
  Evictor& operator=(const Evictor&) = delete;

  // An error: the eviction was not sent (no connection, or no usable answer about the server's versions). `unanswered`:
  // it was sent, and may be done. Called once, never before evict() returns, and not any more when the returned object
  // is destroyed; was_sent() of that object says whether the server may still do it.
  using OnAnswer = std::function<void(Result<EvictionAnswer>)>;
  Client::PendingPtr evict(PodToEvict pod, OnAnswer on_answer);

  const std::optional<std::string>& version() const { return version_; }  // nullopt: not known yet

 private:
  class Run;
  using Then = void (Evictor::*)(std::string);

  void wait_for_version(Run& run);
  void ask(std::string target, Then then);
  void on_resources(std::string resources);
  void on_group(std::string group);
  void end_asking(const std::function<void(Run&)>& answer);

  Client& client_;
  std::optional<std::string> version_;
  Client::PendingPtr asking_;
  std::string resources_;
  std::vector<Run*> waiting_;  // for the version
};

}  // namespace koord::kube
