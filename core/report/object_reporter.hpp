// SPDX-License-Identifier: Apache-2.0
// ObjectReporter: keeps an object of this node up to date, such as its NodeResourceTopology. Every ten seconds it
// computes on a worker how to change the object, and writes it when something changes. It has no heartbeat. Without a
// client it only computes. [loop thread] except where marked.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.hpp"
#include "core/event/worker_pool.hpp"
#include "core/report/periodic_task.hpp"
#include "core/report/publisher.hpp"
#include "core/report/written_object.hpp"
#include "core/state/hub.hpp"

namespace koord::report {

// Returns the object to write, from the current object as JSON; nullopt if it needs no change.
using Merge = std::function<Result<std::optional<std::string>>(std::string_view object)>;

class ObjectReporter {
 public:
  struct Object {
    std::string kind;        // as in state::NodeObjects
    std::string collection;  // "/apis/topology.node.k8s.io/v1alpha1/noderesourcetopologies"
    // [worker] An error means that the intended content is unknown. In that case the object does not change.
    std::function<Result<Merge>(const state::Snapshot&)> compute;
    std::function<std::string(const state::Node&)>
        create;                 // [worker] returns a new object for a node without one, before the merge
    ReductionRules rules = {};  // the parts to leave out of an object that the API server refuses
  };
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const state::Hub& hub;
    const Clock& clock;
    kube::Client* client = nullptr;  // null: nothing is written
  };
  struct View {
    Account account;
    std::string problem;                // why the intended object is unknown
    std::optional<std::string> wanted;  // the intended object, if known
    bool differs = false;               // is different from the API server's object, without parts that it refused
  };

  ObjectReporter(Parts parts, Object object, const std::string& node_name, Duration period = std::chrono::seconds(10));
  ~ObjectReporter();

  void start() { periodic_task_.start(); }
  void stop();
  // Starts an additional poll now.
  void poll() { periodic_task_.poll(); }
  // Returns whether a poll or a request is running.
  bool busy() const { return periodic_task_.is_polling() || (publisher_ && publisher_->is_writing()); }

  View view() const;  // [any]

 private:
  struct PollResult {
    bool is_known = false;  // the API server's object is known
    std::shared_ptr<const std::string> there;
    Merge merge;
    std::string fresh;  // a new object, for a node that has no object on the server
    bool differs = false;

    bool exists() const { return there && !there->empty(); }
  };

  PollResult make_result();
  Result<void> compare(const state::Snapshot& state, PollResult& poll, std::optional<std::string>& wanted) const;
  bool is_reduction(const std::string& wanted, const std::string& there) const;
  void decide(const PollResult& poll);

  const Parts parts_;
  const Object object_;
  const std::string node_name_;
  std::unique_ptr<Publisher> publisher_;

  WrittenObject written_;
  std::shared_ptr<const std::string> from_state_, newest_;  // [worker] in the state; the newer of that and our write

  mutable std::mutex mutex_;  // protects view_
  View view_;

  PeriodicTask periodic_task_;  // last member: is destroyed first
};

}  // namespace koord::report
