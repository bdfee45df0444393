// SPDX-License-Identifier: Apache-2.0
// koordctl top: the node and its pods, containers and services with their usage, updated on a terminal.
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <csignal>
#include <memory>

#include "core/base/parse.hpp"
#include "core/ctl/command.hpp"
#include "core/ctl/json_view.hpp"
#include "core/ctl/terminal.hpp"
#include "core/ctl/top_control.hpp"
#include "core/ctl/top_model.hpp"
#include "core/ctl/top_screen.hpp"

namespace koord::ctl {
namespace {

constexpr const char* kClear = "\x1b[H\x1b[2J";
constexpr const char* kEnterScreen = "\x1b[?1049h\x1b[?25l";
constexpr const char* kLeaveScreen = "\x1b[?25h\x1b[?1049l";

void describe_top(po::options_description& options) {
  options.add_options()("once", po::bool_switch(), "print one table and end; so without a terminal");
  options.add_options()("watch,w", po::bool_switch(), "print a table at each interval, without a terminal, too");
  options.add_options()(
      "sort",
      po::value<std::string>()->default_value("harm")->value_name("harm|cpu|memory|latency|throttled|stalled|name"),
      "sort key; harm: verdicts first, then the largest of throttled, stalled, and wait p95 as a share of 100ms");
  options.add_options()("limit,n", po::value<std::string>()->default_value("0")->value_name("COUNT"),
                        "show at most this many rows; 0: all");
  options.add_options()("all,a", po::bool_switch(),
                        "show idle rows, too: below 0.01 cores and not held up; so with --sort memory and name");
  options.add_options()("interval,i", po::value<std::string>()->default_value("2s"), "time between two tables");
}

struct ScreenSize {
  std::size_t width = 80, lines = 24;
};

ScreenSize screen_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) return {};
  return {size.ws_col, size.ws_row};
}

// Returns the standing verdicts; "" if the agent has none.
std::string standing_verdicts(const Invocation& invocation) {
  return ask_agent(invocation, "/api/v1/interference?limit=1000").value_or("");
}

struct Choice {
  TopOrder order = TopOrder::harm;
  std::size_t limit = 0;
  bool without_idle = true;
};

Result<Choice> choice_of(const Invocation& invocation) {
  Choice choice;
  choice.order = TRY(parse_top_order(invocation.text("sort")));
  choice.limit = TRY(parse_uint(invocation.text("limit")));
  choice.without_idle = !invocation.options["all"].as<bool>() && folds_idle_rows(choice.order);
  return choice;
}

Result<TopView> fetch_all(const Invocation& invocation) {
  std::string node = TRY(ask_agent(invocation, "/api/v1/node"));
  std::string pods = TRY(ask_agent(invocation, "/api/v1/pods"));
  return parse_top(node, pods, standing_verdicts(invocation));
}

Result<TopView> fetch(const Invocation& invocation, const Choice& choice) {
  TopView view = TRY(fetch_all(invocation));
  sort_rows(view.rows, choice.order);
  shorten(view, choice.without_idle, choice.limit);
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

// Ctrl-C ends the wait, not the process, because the terminal must be restored.
volatile std::sig_atomic_t interrupted = 0;
void on_interrupt(int) { interrupted = 1; }

Result<void> live(const Invocation& invocation, const Choice& choice, int interval_ms, bool has_screen) {
  Result<TopView> view = fetch(invocation, choice);
  if (!view) return view.error();
  if (has_screen) invocation.out << kEnterScreen;
  while (!interrupted && view) {
    const ScreenSize size = screen_size();
    if (has_screen)
      invocation.out << kClear << render_top(*view, size.width, size.lines - 1) << std::flush;
    else
      invocation.out << render_top(*view, 0, 0) << "\n" << std::flush;
    if (!invocation.out) break;  // the reader of the output has ended
    ::poll(nullptr, 0, interval_ms);
    if (!interrupted) view = fetch(invocation, choice);
  }
  if (has_screen) invocation.out << kLeaveScreen << std::flush;
  return view ? Result<void>() : Result<void>(view.error());
}

void end_by_signals() {
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM}) ::sigaction(signal, &action, nullptr);
}

Result<void> run_top(const Invocation& invocation) {
  const Choice choice = TRY(choice_of(invocation));
  const Duration interval = TRY(parse_duration(invocation.text("interval")));
  if (invocation.output == Output::json) return print_json(invocation);
  const bool once = invocation.options["once"].as<bool>(), watches = invocation.options["watch"].as<bool>();
  if (once && watches) return invalid("--once and --watch exclude each other");
  const bool has_screen = ::isatty(STDOUT_FILENO);
  if (watches || (has_screen && !once)) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(interval).count();
    const int interval_ms = static_cast<int>(std::clamp<std::int64_t>(ms, 100, 3'600'000));
    if (!watches && ::isatty(STDIN_FILENO)) {
      TopControl control(choice.order, invocation.options["all"].as<bool>(), choice.limit);
      control.update(TRY(fetch_all(invocation)));
      end_by_signals();
      const Result<std::unique_ptr<Terminal>> terminal = Terminal::open();
      if (terminal) {
        run_top_screen(invocation, **terminal, control, {fetch_all, interval_ms, interrupted});
        return {};
      }
    }
    end_by_signals();
    return live(invocation, choice, interval_ms, has_screen);
  }
  const TopView view = TRY(fetch(invocation, choice));
  invocation.out << render_top(view, 0, 0);
  return {};
}

}  // namespace

const Command kTop{
    "top", "",
    "Show the node, its pods, containers and services, the most held up first; -: older than two periods. On a "
    "terminal: keys as its last line lists them.",
    describe_top, run_top};

}  // namespace koord::ctl
