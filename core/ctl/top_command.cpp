// SPDX-License-Identifier: Apache-2.0
// koordctl top: the node and its pods, containers and services by what they use, live on a terminal.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>

#include "core/base/parse.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/top_model.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kClear = "\x1b[H\x1b[2J";
constexpr const char* kEnterScreen = "\x1b[?1049h\x1b[?25l";
constexpr const char* kLeaveScreen = "\x1b[?25h\x1b[?1049l";

void describe_top(po::options_description& options) {
  options.add_options()("once", po::bool_switch(), "print one table and end; so without a terminal")(
      "sort", po::value<std::string>()->default_value("cpu")->value_name("cpu|memory|latency|throttled|stalled|name"),
      "sort key")("interval,i", po::value<std::string>()->default_value("2s"), "time between two tables");
}

struct ScreenSize {
  std::size_t width = 80, lines = 24;
};

ScreenSize screen_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

// The verdicts that stand; empty of an agent that has none.
std::string standing_verdicts(const Invocation& invocation) {
  return ask_agent(invocation, "/api/v1/interference?limit=1000").value_or("");
}

Result<TopView> fetch(const Invocation& invocation, TopOrder order) {
  std::string node = TRY(ask_agent(invocation, "/api/v1/node"));
  std::string pods = TRY(ask_agent(invocation, "/api/v1/pods"));
  TopView view = TRY(parse_top(node, pods, standing_verdicts(invocation)));
  sort_rows(view.rows, order);
  return view;
}

Result<void> print_json(const Invocation& invocation) {
  std::string node = TRY(ask_agent(invocation, "/api/v1/node"));
  std::string pods = TRY(ask_agent(invocation, "/api/v1/pods"));
  json::object all = TRY(parse_object(pods));
  all["node"] = TRY(parse_object(node));
  if (const std::string verdicts = standing_verdicts(invocation); !verdicts.empty()) {
    const json::value answer = TRY(parse_object(verdicts));
    all["verdicts"] = json_list(answer, "verdicts");
  }
  invocation.out << json::serialize(all) << "\n";
  return {};
}

// Ctrl-C ends the wait, not the process, so that the terminal is restored.
volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

Result<void> live(const Invocation& invocation, TopOrder order, int interval_ms) {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  Result<TopView> view = fetch(invocation, order);
  if (!view) return view.error();
  invocation.out << kEnterScreen;
  while (!interrupted && view) {
    ScreenSize size = screen_size();
    invocation.out << kClear << render_top(*view, size.width, size.lines - 1) << std::flush;
    ::poll(nullptr, 0, interval_ms);
    if (!interrupted) view = fetch(invocation, order);
  }
  invocation.out << kLeaveScreen << std::flush;
  return view ? Result<void>() : Result<void>(view.error());
}

Result<void> run_top(const Invocation& invocation) {
  TopOrder order = TRY(parse_top_order(invocation.text("sort")));
  Duration interval = TRY(parse_duration(invocation.text("interval")));
  if (invocation.output == Output::json) return print_json(invocation);
  if (!invocation.options["once"].as<bool>() && ::isatty(STDOUT_FILENO)) {
    auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(interval).count();
    return live(invocation, order, static_cast<int>(std::clamp<std::int64_t>(ms, 100, 3'600'000)));
  }
  TopView view = TRY(fetch(invocation, order));
  invocation.out << render_top(view, 0, 0);
  return {};
}

}  // namespace

const Command kTop{
    "top", "", "Show the node, its pods, containers and services by CPU, memory and delays; -: older than two periods.",
    describe_top, run_top};

}  // namespace koord::ctl
