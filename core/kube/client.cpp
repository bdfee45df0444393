// SPDX-License-Identifier: Apache-2.0
#include "core/kube/client.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <utility>

#include "core/base/parse.hpp"
#include "core/base/program.hpp"
#include "core/http/async_client.hpp"
#include "core/kube/credentials.hpp"
#include "core/kube/lines.hpp"
#include "core/kube/rate_limit.hpp"
#include "core/kube/refusal.hpp"

namespace koord::kube {
namespace {

constexpr std::size_t kMaxWaiting = 1024;          // calls that wait for the rate limit
constexpr std::size_t kMaxRefusalBytes = 1 << 20;  // limit for an error answer to a watch

const char* method_of(Verb verb) {
  switch (verb) {
    case Verb::create:
      return "POST";
    case Verb::update:
      return "PUT";
    case Verb::patch:
      return "PATCH";
    case Verb::remove:
      return "DELETE";
    default:
      return "GET";
  }
}

std::optional<Duration> retry_after(const http::ClientResponse& response) {
  const auto text = response.header("Retry-After");
  if (!text) return std::nullopt;
  const auto seconds = parse_uint(trim(*text));
  if (!seconds) return std::nullopt;
  return std::chrono::seconds(std::min<std::uint64_t>(*seconds, 24 * 3600));
}

// Returns whether the server asks for fewer calls. Disruption budgets refuse with 429, too, but their wait concerns
// only this eviction.
bool is_busy(const Reply& reply) {
  return reply.status == 503 || (reply.status == 429 && !status_of(reply).has_cause(Status::kDisruptionBudget));
}

http::Origin origin_of(const ConnectionConfig& config, const Credentials& credentials) {
  return {.host = config.host, .port = config.port, .tls = credentials.tls()};
}

}  // namespace

struct Client::State {
  State(event::Loop& l, event::WorkerPool& workers, const Clock& c, ConnectionConfig which,
        const ClientOptions& options)
      : loop(l),
        clock(c),
        config(std::move(which)),
        credentials(config, clock),
        http(loop, workers, origin_of(config, credentials), {.kept = options.kept_connections}),
        limit(options.requests_per_second, options.burst),
        health(loop, clock, options.probes, random_seed()) {}

  class Job;
  class Handle;
  void start_due_requests();
  void apply(Credentials::Changes changes) {
    if (changes.tls) http.renew(credentials.tls());
  }

  event::Loop& loop;
  const Clock& clock;
  const ConnectionConfig config;
  Credentials credentials;
  http::AsyncClient http;
  RateLimit limit;
  ServerHealth health;
  std::deque<std::weak_ptr<Job>> waiting;  // wait for the rate limit, in the order of arrival
  std::unique_ptr<event::Timer> next_turn;
  std::atomic<std::uint64_t> failures = 0, delayed = 0;
};

// One call, from waiting for the rate limit to its end.
class Client::State::Job : public std::enable_shared_from_this<Job> {
 public:
  Job(State& state, Call call, WatchHandlers handlers, OnPiece on_piece)
      : state_(state),
        call_(std::move(call)),
        on_reply_(std::move(handlers.on_end)),
        on_line_(std::move(handlers.on_line)),
        on_long_line_(std::move(handlers.on_long_line)),
        on_begin_(std::move(handlers.on_begin)),
        on_piece_(std::move(on_piece)),
        lines_(call_.max_body, long_line_reader()) {}

  Verb verb() const { return call_.verb; }
  void begin();
  void fail_soon(Error error);
  bool was_sent() const { return pending_ && pending_->was_sent(); }
  void cancel() {
    done_ = true;
    soon_.reset();
    deadline_.reset();
    pending_.reset();
  }

 private:
  http::AsyncRequest request(const std::string& token) const;
  void download(const std::string& token, http::AsyncClient::OnAnswer on_answer);
  Result<void> take(std::string_view piece);
  void on_answer(Result<http::ClientResponse> answer);
  bool begin_again();
  Result<void> give_last_line();
  bool give(std::string_view line);
  Lines::OnLongLine long_line_reader();
  void finish(Result<Reply> reply);

  State& state_;
  const Call call_;
  OnReply on_reply_;
  const std::function<void(std::string_view)> on_line_;  // set for a watch
  const std::function<void(std::string_view, std::size_t)> on_long_line_;
  const std::function<void()> on_begin_;
  const OnPiece on_piece_;  // set for a download
  std::size_t taken_ = 0;   // received bytes of the download
  Lines lines_;
  http::AsyncClient::PendingPtr pending_;
  std::unique_ptr<event::Timer> soon_, deadline_;
  bool begun_again_ = false;
  bool done_ = false;
};

void Client::State::Job::begin() {
  state_.apply(state_.credentials.refresh());
  const Result<std::string>& token = state_.credentials.token();
  if (!token) return fail_soon(Error(token.error()).context("cannot read the token"));
  const auto on_answer = [this](Result<http::ClientResponse> answer) { this->on_answer(std::move(answer)); };
  if (on_piece_) return download(*token, on_answer);
  if (!on_line_) {
    pending_ = state_.http.send(request(*token), on_answer);
    return;
  }
  const auto on_piece = [this](std::string_view piece) {
    const auto self = shared_from_this();
    return lines_.feed(piece, [this](std::string_view line) { return give(line); });
  };
  const auto on_begin = [this] {
    const auto self = shared_from_this();
    if (!done_ && on_begin_) on_begin_();
  };
  pending_ = state_.http.stream(request(*token), on_piece, on_answer, on_begin);
}

// Sends a call and passes on its body. A stream has no deadline for the whole answer, so a timer sets one.
void Client::State::Job::download(const std::string& token, http::AsyncClient::OnAnswer on_answer) {
  taken_ = 0;
  deadline_ = state_.loop.after(call_.timeout, [this] {
    const auto self = shared_from_this();
    pending_.reset();
    finish(Error{std::make_error_code(std::errc::timed_out), "the answer was not whole in time"});
  });
  pending_ = state_.http.stream(
      request(token), [this](std::string_view piece) { return take(piece); }, std::move(on_answer));
}

Result<void> Client::State::Job::take(std::string_view piece) {
  const auto self = shared_from_this();
  if (piece.size() > call_.max_body - taken_)
    return Error{std::make_error_code(std::errc::message_size),
                 "found a body of more than " + std::to_string(call_.max_body) + " bytes, expected at most those"};
  taken_ += piece.size();
  return on_piece_(piece);
}

http::AsyncRequest Client::State::Job::request(const std::string& token) const {
  http::AsyncRequest request{.method = method_of(call_.verb),
                             .target = state_.config.path_prefix + call_.target,
                             .headers = {{"User-Agent", user_agent()}, {"Accept", "application/json"}},
                             .body = call_.body,
                             .timeout = call_.timeout,
                             .silence = on_piece_ ? call_.timeout : call_.silence,
                             .max_body = on_line_ || on_piece_ ? kMaxRefusalBytes : call_.max_body};
  if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
  if (!call_.body.empty()) request.headers.emplace_back("Content-Type", call_.content_type);
  request.headers.insert(request.headers.end(), call_.headers.begin(), call_.headers.end());
  return request;
}

// `self` keeps this object alive until the callback has returned, even if the callback destroys it.
void Client::State::Job::on_answer(Result<http::ClientResponse> answer) {
  const auto self = shared_from_this();
  if (done_) return;
  if (!answer) return finish(std::move(answer).error());
  Reply reply{.status = answer->status, .body = std::move(answer->body), .retry_after = retry_after(*answer)};
  if (reply.status == 401 && begin_again()) return;
  if (reply.retry_after && is_busy(reply)) state_.limit.hold(call_.verb, *reply.retry_after, state_.clock.now());
  if (on_line_ && reply.ok()) {
    Result<void> given = give_last_line();
    if (done_) return;
    if (!given) return finish(std::move(given).error());
  }
  finish(std::move(reply));
}

// Sends the call again after 401, if newer credentials exist.
bool Client::State::Job::begin_again() {
  const Credentials::Changes changes = state_.credentials.refresh_now();
  state_.apply(changes);
  if (begun_again_ || !changes.any()) return false;
  begun_again_ = true;
  begin();
  return true;
}

Result<void> Client::State::Job::give_last_line() {
  return lines_.end([this](std::string_view line) { return give(line); });
}

bool Client::State::Job::give(std::string_view line) {
  on_line_(line);
  return !done_;
}

Lines::OnLongLine Client::State::Job::long_line_reader() {
  if (!on_long_line_) return {};
  return [this](std::string_view head, std::size_t bytes) {
    on_long_line_(head, bytes);
    return !done_;
  };
}

void Client::State::Job::fail_soon(Error error) {
  soon_ = state_.loop.after({}, [this, error = std::move(error)] { finish(error); });
}

void Client::State::Job::finish(Result<Reply> reply) {
  const auto self = shared_from_this();
  done_ = true;
  deadline_.reset();
  if (!reply) ++state_.failures;
  const std::string path = call_.target.substr(0, call_.target.find('?'));
  const ConnectionConfig& to = state_.config;
  if (!reply)
    reply =
        std::move(reply).error().context("'" + to.host + ":" + std::to_string(to.port) + to.path_prefix + path + "'");
  const OnReply on_reply = std::exchange(on_reply_, nullptr);
  on_reply(std::move(reply));
}

class Client::State::Handle final : public Pending {
 public:
  Handle(std::shared_ptr<State> state, std::shared_ptr<Job> job) : state_(std::move(state)), job_(std::move(job)) {}
  ~Handle() override { job_->cancel(); }
  bool was_sent() const override { return job_->was_sent(); }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Job> job_;
};

void Client::State::start_due_requests() {
  next_turn.reset();
  std::optional<Duration> next;
  std::deque<std::weak_ptr<Job>> still;
  for (const auto& one : std::exchange(waiting, {})) {
    const auto job = one.lock();
    if (!job) continue;
    const Duration wait = limit.take(job->verb(), clock.now());
    if (wait == Duration::zero()) {
      job->begin();
      continue;
    }
    next = std::min(next.value_or(wait), wait);
    still.push_back(one);
  }
  waiting = std::move(still);
  if (next) next_turn = loop.after(*next, [this] { start_due_requests(); });
}

Client::Client(event::Loop& loop, event::WorkerPool& workers, const Clock& clock, ConnectionConfig config,
               const ClientOptions& options)
    : state_(std::make_shared<State>(loop, workers, clock, std::move(config), options)) {}

Client::~Client() = default;

Client::PendingPtr Client::send(Call call, OnReply on_reply) {
  return start(std::move(call), {.on_line = nullptr, .on_end = std::move(on_reply)});
}

Client::PendingPtr Client::watch(Call call, WatchHandlers handlers) {
  call.verb = Verb::watch;
  return start(std::move(call), std::move(handlers));
}

Client::PendingPtr Client::download(Call call, OnPiece on_piece, OnReply on_reply) {
  return start(std::move(call), {.on_line = nullptr, .on_end = std::move(on_reply)}, std::move(on_piece));
}

Client::PendingPtr Client::start(Call call, WatchHandlers handlers, OnPiece on_piece) {
  State& state = *state_;
  auto job = std::make_shared<State::Job>(state, std::move(call), std::move(handlers), std::move(on_piece));
  std::erase_if(state.waiting, [](const auto& one) { return one.expired(); });
  if (state.waiting.size() >= kMaxWaiting) {
    job->fail_soon(
        Error{std::make_error_code(std::errc::device_or_resource_busy), "too many requests wait for their turn"});
  } else {
    state.waiting.push_back(job);
    state.start_due_requests();
    if (!state.waiting.empty() && state.waiting.back().lock() == job) ++state.delayed;
  }
  return std::make_unique<State::Handle>(state_, std::move(job));
}

ServerHealth& Client::server_health() { return state_->health; }

const ConnectionConfig& Client::config() const { return state_->config; }

Client::Use Client::use() const {
  return {.requests = state_->http.requests_sent(),
          .connections = state_->http.connections_opened(),
          .failures = state_->failures,
          .delayed = state_->delayed};
}

}  // namespace koord::kube
