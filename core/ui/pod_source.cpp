// SPDX-License-Identifier: Apache-2.0
#include "core/ui/pod_source.hpp"

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "core/http/response_parser.hpp"
#include "core/ui/exec.hpp"

namespace koord::ui {
namespace {

constexpr std::size_t kMostIdle = 4;
constexpr std::size_t kMostAnswerBytes = 64u << 20;
constexpr std::size_t kMostNameBytes = 253;

bool is_name(std::string_view text) {
  const auto is_alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !text.empty() && text.size() <= kMostNameBytes && is_alphanumeric(text.front()) &&
         is_alphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_alphanumeric(c) || c == '-' || c == '.'; });
}

bool gave_up(const Error& error) { return error.is(std::errc::timed_out) || error.is(std::errc::operation_canceled); }

// Returns the error of koordctl in the pod, without kubectl's addition. nullopt: it is an error of kubectl.
std::optional<std::string> complaint_of_koordctl(std::string text) {
  constexpr std::string_view begin = "koordctl: ", end = "; command terminated with exit code ";
  const std::size_t from = text.find(begin);
  if (from == text.npos) return std::nullopt;
  text.erase(0, from + begin.size());
  return text.substr(0, text.rfind(end));
}

class PodSource : public Source {
 public:
  explicit PodSource(PodSourceOptions options) : options_(std::move(options)) {}

  Result<http::ClientResponse> get(const std::string& target) override;
  Result<http::ClientResponse> sql(const std::string& statement, std::size_t max_rows) override;

 private:
  Result<std::unique_ptr<Exec>> start(const std::vector<std::string>& options,
                                      const std::vector<std::string>& words) const;
  Result<http::ClientResponse> ask(std::unique_ptr<Exec> kubectl, const std::string& target, const Patience& patience);
  std::unique_ptr<Exec> take_idle();
  Patience patience() const { return {std::chrono::steady_clock::now() + options_.patience, closed_fd()}; }
  // Adds kubectl's error output, which is the reason if kubectl has ended.
  Error failure(Error why, bool has_ended, Exec& kubectl) const;

  const PodSourceOptions options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Exec>> idle_;
};

Error PodSource::failure(Error why, bool has_ended, Exec& kubectl) const {
  const std::string text = kubectl.complaints();
  if (has_ended && !text.empty())
    why = invalid(text);
  else if (!text.empty())
    why.text += " after '" + text + "'";
  return std::move(why).context("kubectl exec in pod '" + options_.pod.ns + "/" + options_.pod.name + "'");
}

// `options`: options of kubectl exec; `words`: arguments of koordctl in the pod.
Result<std::unique_ptr<Exec>> PodSource::start(const std::vector<std::string>& options,
                                               const std::vector<std::string>& words) const {
  std::vector<std::string> all{options_.kubectl, "exec", "--namespace=" + options_.pod.ns};
  if (!options_.context.empty()) all.push_back("--context=" + options_.context);
  all.insert(all.end(), options.begin(), options.end());
  all.insert(all.end(), {options_.pod.name, "--", "koordctl"});
  all.insert(all.end(), words.begin(), words.end());
  Result<std::unique_ptr<Exec>> kubectl = Exec::start(all);
  if (kubectl || !kubectl.error().is(std::errc::no_such_file_or_directory)) return kubectl;
  return invalid(kubectl.error().message() + "; --pod needs kubectl in PATH or --kubectl PROGRAM");
}

// Returns an idle kubectl that still runs. The agent closes a connection that is idle for a minute, and kubectl ends
// with it.
std::unique_ptr<Exec> PodSource::take_idle() {
  const std::lock_guard lock(mutex_);
  while (!idle_.empty()) {
    std::unique_ptr<Exec> kubectl = std::move(idle_.back());
    idle_.pop_back();
    if (kubectl->is_silent()) return kubectl;
  }
  return nullptr;
}

Result<http::ClientResponse> PodSource::ask(std::unique_ptr<Exec> kubectl, const std::string& target,
                                            const Patience& patience) {
  http::ResponseParser parser(kMostAnswerBytes);
  bool has_ended = false;
  const auto feed = [&](std::string_view bytes) -> Result<bool> {
    has_ended = bytes.empty();
    if (!has_ended) return parser.feed(bytes);
    TRY(parser.end());
    return true;
  };
  Result<void> done = kubectl->exchange("GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n", patience, feed);
  if (!done) return failure(std::move(done).error().context("no answer of an agent"), has_ended, *kubectl);
  const bool is_reusable = parser.may_be_reused();
  http::ClientResponse answer = parser.take();
  const std::lock_guard lock(mutex_);
  if (is_reusable && idle_.size() < kMostIdle) idle_.push_back(std::move(kubectl));
  return answer;
}

Result<http::ClientResponse> PodSource::get(const std::string& target) {
  const Patience limit = patience();
  if (std::unique_ptr<Exec> kubectl = take_idle()) {
    Result<http::ClientResponse> answer = ask(std::move(kubectl), target, limit);
    if (answer || gave_up(answer.error())) return answer;
    // The idle kubectl ended before or during the request, so a new one is tried.
  }
  std::unique_ptr<Exec> kubectl = TRY(start({"--stdin"}, {"proxy-stdio", "--socket=" + options_.socket}));
  return ask(std::move(kubectl), target, limit);
}

Result<http::ClientResponse> PodSource::sql(const std::string& statement, std::size_t max_rows) {
  const std::unique_ptr<Exec> kubectl = TRY(start({}, {"sql", "--output=json", "--db=" + options_.database,
                                                       "--limit=" + std::to_string(max_rows), "--", statement}));
  std::string rows;
  const auto keep = [&](std::string_view bytes) -> Result<bool> {
    rows += bytes;
    if (rows.size() > kMostAnswerBytes) return invalid("the rows have more than 64 MiB; select fewer");
    return bytes.empty();
  };
  Result<void> done = kubectl->exchange({}, patience(), keep);
  if (!done) return failure(std::move(done).error(), false, *kubectl);
  const int status = kubectl->exit_status();
  if (status == 0) return http::ClientResponse{.status = 200, .headers = {}, .body = std::move(rows)};
  if (auto text = complaint_of_koordctl(kubectl->complaints()))
    return http::ClientResponse{.status = 400, .headers = {}, .body = *std::move(text)};
  return failure(invalid("exit status " + std::to_string(status)), true, *kubectl);
}

}  // namespace

Result<Pod> parse_pod(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != text.npos && is_name(text.substr(0, slash)) && is_name(text.substr(slash + 1)))
    return Pod{std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
  return invalid("--pod '" + std::string(text) + "' is not a pod, expected NAMESPACE/NAME");
}

std::unique_ptr<Source> pod_source(PodSourceOptions options) { return std::make_unique<PodSource>(std::move(options)); }

}  // namespace koord::ui
