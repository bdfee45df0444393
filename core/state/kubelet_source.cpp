// SPDX-License-Identifier: Apache-2.0
#include "core/state/kubelet_source.hpp"

#include <utility>

#include "core/kube/refusal.hpp"
#include "core/state/objects.hpp"

namespace koord::state {
namespace {

constexpr std::string_view kPodsPath = "/pods";
constexpr std::string_view kConfigPath = "/configz";

// 110 pods are usual, and 250 are many. A pod takes at most about 1.5 MiB.
constexpr std::size_t kMaxListBytes = 512u << 20;

std::string problem_with(std::string_view path, const std::string& what) { return std::string(path) + ": " + what; }

bool is_good(const Result<kube::Reply>& reply) { return reply && reply->status == 200; }

}  // namespace

KubeletSource::KubeletSource(Parts parts, const Options& options, Handlers handlers)
    : parts_(std::move(parts)),
      options_(options),
      handlers_(std::move(handlers)),
      intake_(parts_.layout, parts_.hub),
      strand_(parts_.workers, "kubelet") {}

KubeletSource::~KubeletSource() = default;

void KubeletSource::begin(Send send) {
  end();
  send_ = std::move(send);
  asking_ = std::make_shared<Alive>();
  period_ = parts_.loop.every(options_.sync_period, [this] { tick(); });
  tick();
}

void KubeletSource::end() {
  asking_.reset();
  pods_request_.reset();
  config_request_.reset();
  send_ = nullptr;
  asking_pods_ = asking_config_ = hurried_ = settled_meanwhile_ = false;
  config_known_.reset();
  period_.reset();
  soon_.reset();
  settled_.reset();
}

void KubeletSource::request() {
  if (requested_.exchange(true)) return;
  parts_.loop.post([this, alive = std::weak_ptr<Alive>(alive_)] {
    if (alive.lock()) hurry();
  });
}

KubeletSource::Status KubeletSource::status() const {
  std::lock_guard lock(mutex_);
  return status_;
}

void KubeletSource::tick() {
  if (options_.pods) ask_pods();
  const bool config_is_old = !config_known_ || parts_.clock.now() - *config_known_ >= options_.config_period;
  if (config_is_old && !asking_config_) ask_config();
}

void KubeletSource::hurry() {
  requested_ = false;
  if (!send_ || !options_.pods) return;
  settled_ = parts_.loop.after(options_.settle_time, [this] {
    if (asking_pods_) settled_meanwhile_ = true;
    ask_pods();
  });
  if (asking_pods_) {
    hurried_ = true;
    return;
  }
  const Duration gone = pods_asked_ ? parts_.clock.now() - *pods_asked_ : Duration::max();
  if (gone >= options_.hurry_gap) return ask_pods();
  if (!soon_) soon_ = parts_.loop.after(options_.hurry_gap - gone, [this] { ask_pods(); });
}

kube::Client::PendingPtr KubeletSource::ask(std::string_view path, kube::Client::OnPiece on_piece,
                                            std::function<void(Result<kube::Reply>)> on_reply) {
  kube::Call call;
  call.target = path;
  call.timeout = options_.timeout;
  if (on_piece) call.max_body = kMaxListBytes;
  return send_(std::move(call), std::move(on_piece),
               [this, path, begun = parts_.clock.now(), on_reply = std::move(on_reply)](Result<kube::Reply> reply) {
                 const Answer answer{path, reply ? reply->status : 0, parts_.clock.now() - begun};
                 if (handlers_.on_answer) handlers_.on_answer(answer);
                 on_reply(std::move(reply));
               });
}

void KubeletSource::ask_pods() {
  soon_.reset();
  if (asking_pods_) return;
  asking_pods_ = true;
  pods_asked_ = parts_.clock.now();
  auto reader = std::make_shared<PodListReader>(parts_.annotations ? parts_.annotations->keys()
                                                                   : std::make_shared<const AnnotationKeys>());
  pods_request_ = ask(
      kPodsPath, [reader](std::string_view piece) { return reader->feed(piece); },
      [this, reader](Result<kube::Reply> reply) { on_pods(std::move(reply), reader); });
}

void KubeletSource::on_pods(Result<kube::Reply> reply, const std::shared_ptr<PodListReader>& reader) {
  if (!is_good(reply)) return pods_taken(problem_with(kPodsPath, kube::describe(reply)), {});
  Result<PodList> read = reader->end();
  if (!read) return pods_taken(problem_with(kPodsPath, read.error().message()), {});
  strand_.post(
      [this, list = *std::move(read), at = parts_.clock.now(), asking = std::weak_ptr<Alive>(asking_)]() mutable {
        // Without the Node object the name may be the host's name, which differs from the pods' spec.nodeName.
        if (parts_.hub.current()->node.name == options_.node) drop_pods_of_others(list, options_.node);
        const PodPlaces places =
            find_pods(parts_.layout, find_kube_root(parts_.layout, parts_.hub.current()->kubelet), list.pods);
        place_pods(list, places.root);
        // This may be a list of other objects, so it does not prove that the known pods are gone.
        const bool is_unusable = list.pods.empty() && !list.problems.empty();
        std::string problem = is_unusable ? "no listed pod is usable: " + first_problems(list.problems)
                                          : intake_.take(std::move(list), places.root, at);
        if (!problem.empty()) problem = problem_with(kPodsPath, problem);
        parts_.loop.post([this, asking, places, problem = std::move(problem)] {
          if (asking.lock()) pods_taken(problem, places);
        });
      });
}

void KubeletSource::pods_taken(const std::string& problem, const std::optional<PodPlaces>& places) {
  asking_pods_ = false;
  const bool recovered = problem.empty() && !status().pods_problem.empty();
  set_problem(&Status::pods_problem, problem);
  // After an outage the kubelet may have a different configuration.
  if (recovered && !asking_config_) ask_config();
  if (places && handlers_.on_places) handlers_.on_places(*places);
  // The answer may be older than the change that the request was for.
  const bool is_settled = std::exchange(settled_meanwhile_, false);
  if (std::exchange(hurried_, false)) return hurry();
  if (is_settled) ask_pods();
}

void KubeletSource::ask_config() {
  asking_config_ = true;
  config_request_ = ask(kConfigPath, {}, [this](Result<kube::Reply> reply) { on_config(std::move(reply)); });
}

void KubeletSource::on_config(Result<kube::Reply> reply) {
  if (!is_good(reply)) return config_taken(problem_with(kConfigPath, kube::describe(reply)));
  strand_.post([this, body = std::move(reply->body), asking = std::weak_ptr<Alive>(asking_)] {
    Result<KubeletConfig> config = parse_kubelet_config(body);
    const std::string problem = config ? "" : problem_with(kConfigPath, config.error().message());
    const cgroup::KubeRoot before = find_kube_root(parts_.layout, parts_.hub.current()->kubelet);
    if (config) parts_.hub.publish({.kubelet = *std::move(config)});
    const bool moved = before != find_kube_root(parts_.layout, parts_.hub.current()->kubelet);
    parts_.loop.post([this, asking, problem, moved] {
      if (!asking.lock()) return;
      config_taken(problem);
      if (!moved) return;
      hurry();
      if (handlers_.on_moved) handlers_.on_moved();
    });
  });
}

void KubeletSource::config_taken(const std::string& problem) {
  asking_config_ = false;
  config_known_ =
      problem.empty() ? std::optional(parts_.clock.now()) : std::nullopt;  // if unknown, the next tick asks again
  set_problem(&Status::config_problem, problem);
}

void KubeletSource::set_problem(std::string Status::*which, std::string problem) {
  Status changed;
  {
    std::lock_guard lock(mutex_);
    if (!problem.empty()) ++status_.failures;
    if (status_.*which == problem) return;
    status_.*which = std::move(problem);
    changed = status_;
  }
  if (handlers_.on_status) handlers_.on_status(changed);
}

}  // namespace koord::state
