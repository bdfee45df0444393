// SPDX-License-Identifier: Apache-2.0
#include "core/ctl/top_screen.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <future>
#include <optional>
#include <string>
#include <utility>

#include "core/base/unique_fd.hpp"
#include "core/base/url.hpp"
#include "core/ctl/decision_view.hpp"
#include "core/ctl/interference_view.hpp"

namespace koord::ctl {
namespace {

using FetchTop = Result<TopView> (*)(const Invocation&);

// Interval of the checks for a response.
constexpr int kAnswerPollMs = 50;

// Returns verdicts and decisions about the pod of a row, or the reason why the agent has none.
std::string detail_about(const Invocation& invocation, const TopRow& row) {
  if (row.pod.empty()) return "outside of pods: koordctl interference and koordctl knobs show more\n";
  const std::string name = percent_encode(row.pod);
  const auto text_of = [&](const std::string& target, const auto& render) {
    const Result<std::string> answer = ask_agent(invocation, target);
    const Result<std::string> text = answer ? render(*answer) : Result<std::string>(answer.error());
    return text ? *text : text.error().message() + "\n";
  };
  return text_of("/api/v1/interference?pod=" + name,
                 [](const std::string& answer) { return render_interference(answer, true); }) +
         "\n" + text_of("/api/v1/why?pod=" + name, render_why);
}

// Waits for the agent's responses in a separate thread, so that keys work meanwhile.
class TopRequests {
 public:
  TopRequests(const Invocation& invocation, FetchTop fetch) : invocation_(invocation), fetch_(fetch) {
    invocation_.cancel_fd = over_.get();
  }
  // Ends the request in flight.
  ~TopRequests() { ::eventfd_write(over_.get(), 1); }
  TopRequests(const TopRequests&) = delete;
  TopRequests& operator=(const TopRequests&) = delete;

  // Requests the values, and the detail of a row.
  void begin(const TopRow* detail_of) {
    answer_ = std::async(std::launch::async, [this, row = detail_of ? std::optional(*detail_of) : std::nullopt] {
      Result<TopView> view = fetch_(invocation_);
      return Answer{std::move(view), row ? row->name : "", row ? detail_about(invocation_, *row) : ""};
    });
  }
  void take_into(TopControl& control) {
    if (!answer_.valid() || answer_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return;
    Answer answer = answer_.get();
    if (answer.view)
      control.update(std::move(answer.view).value());
    else
      control.fail(answer.view.error().message());
    if (control.detail_of() && control.detail_of()->name == answer.detail_of)
      control.update_detail(std::move(answer.detail));
  }
  bool is_waiting() const { return answer_.valid(); }

 private:
  struct Answer {
    Result<TopView> view;
    std::string detail_of, detail;
  };
  const UniqueFd over_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  Invocation invocation_;
  const FetchTop fetch_;
  std::future<Answer> answer_;
};

}  // namespace

void run_top_screen(const Invocation& invocation, Terminal& terminal, TopControl& control, const TopLoop& loop) {
  using Steady = std::chrono::steady_clock;
  TopRequests requests(invocation, loop.fetch);
  auto next = Steady::now() + std::chrono::milliseconds(loop.interval_ms);
  std::string detail_of;
  while (!loop.interrupted) {
    const std::string now_of = control.detail_of() ? control.detail_of()->name : "";
    if (!requests.is_waiting() && (Steady::now() >= next || now_of != detail_of)) {
      requests.begin(control.detail_of());
      next = Steady::now() + std::chrono::milliseconds(loop.interval_ms);
      detail_of = now_of;
    }
    requests.take_into(control);
    terminal.show(control.draw(terminal.width(), terminal.lines()));
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Steady::now()).count();
    const int wait = requests.is_waiting() ? kAnswerPollMs : static_cast<int>(std::max<std::int64_t>(left, 0));
    const int key = terminal.read_key(wait);
    if (key != 0 && !control.press(key, terminal.lines())) return;
  }
}

}  // namespace koord::ctl
