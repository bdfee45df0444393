// SPDX-License-Identifier: Apache-2.0
// KubeletSource: reads pods and the kubelet's configuration from the kubelet: every period, and at once when a pod was
// seen to come or go. A bad answer changes nothing: the last pods stay and get old (Hub::confirmed). The list of pods
// is parsed on the loop thread while it comes, so that an answer of any size takes little memory; its cgroups are
// looked up on a strand. Functions are [loop thread] unless marked.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/event/loop.hpp"
#include "core/event/strand.hpp"
#include "core/kube/client.hpp"
#include "core/state/pod_intake.hpp"
#include "core/state/pod_places.hpp"

namespace koord::state {

class KubeletSource {
 public:
  struct Parts {
    event::Loop& loop;
    event::WorkerPool& workers;
    const Clock& clock;
    Hub& hub;
    cgroup::Layout layout;
    const AnnotationFilter* annotations = nullptr;  // null: only what is always kept
  };
  struct Options {
    bool pods = true;       // false: another source knows them, and only the configuration is asked for
    std::string node = {};  // pods that are bound to another node are left out, once the Node object has this name
    Duration sync_period = std::chrono::seconds(10);
    Duration timeout = std::chrono::seconds(3);
    Duration config_period = std::chrono::minutes(10);
    // The time between two hurried requests for pods, and from one to its repetition: containers exist before the
    // kubelet lists them.
    Duration hurry_gap = std::chrono::milliseconds(200);
    Duration settle_time = std::chrono::seconds(2);
  };
  struct Answer {
    std::string_view path;  // "/pods", "/configz"
    unsigned status = 0;    // 0: none came
    Duration took{};
  };
  // Its state. Problems are one line each, empty: none.
  struct Status {
    std::string pods_problem, config_problem;
    std::uint64_t failures = 0;  // of both

    bool operator==(const Status&) const = default;
  };
  // All may be empty; called on the loop thread, and must not destroy the source.
  struct Handlers {
    std::function<void(const Answer&)> on_answer;
    std::function<void(const PodPlaces&)> on_places;  // after each list: where the pods are
    std::function<void(const Status&)> on_status;     // a problem came, went or is another
    std::function<void()> on_moved = {};              // by its configuration the pods are elsewhere than was thought
  };
  // A client's download(), or its send() when there is nowhere to hand pieces to.
  using Send = std::function<kube::Client::PendingPtr(kube::Call, kube::Client::OnPiece, kube::Client::OnReply)>;

  KubeletSource(Parts parts, const Options& options, Handlers handlers);
  ~KubeletSource();

  // Begins to ask, or goes on with another client; what the one before was asked is forgotten.
  void begin(Send send);
  // Stops asking.
  void end();

  // Ask soon. [any]
  void request();

  // [any]
  Status status() const;

 private:
  struct Alive {};

  kube::Client::PendingPtr ask(std::string_view path, kube::Client::OnPiece on_piece,
                               std::function<void(Result<kube::Reply>)> on_reply);
  void tick();
  void ask_pods();
  void ask_config();
  void hurry();
  void on_pods(Result<kube::Reply> reply, const std::shared_ptr<PodListReader>& reader);
  void on_config(Result<kube::Reply> reply);
  void pods_taken(const std::string& problem, const std::optional<PodPlaces>& places);
  void config_taken(const std::string& problem);
  void set_problem(std::string Status::*which, std::string problem);

  Parts parts_;
  const Options options_;
  const Handlers handlers_;
  PodIntake intake_;
  Send send_;

  kube::Client::PendingPtr pods_request_, config_request_;
  bool asking_pods_ = false, asking_config_ = false;
  bool hurried_ = false, settled_meanwhile_ = false;  // while it was asked
  std::optional<Time> pods_asked_, config_known_;
  std::unique_ptr<event::Timer> period_, soon_, settled_;
  std::atomic<bool> requested_ = false;

  mutable std::mutex mutex_;
  Status status_;

  std::shared_ptr<Alive> asking_;  // from begin() to end()
  const std::shared_ptr<Alive> alive_ = std::make_shared<Alive>();
  event::Strand strand_;  // last: it ends first, with all that uses the rest
};

}  // namespace koord::state
