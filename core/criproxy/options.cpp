// SPDX-License-Identifier: Apache-2.0
#include "core/criproxy/options.hpp"

#include <boost/program_options.hpp>

#include <algorithm>
#include <sstream>

#include "core/base/parse.hpp"

namespace koord::criproxy {
namespace {

namespace po = boost::program_options;

constexpr std::string_view kNone = "none";

// The values of the command line as text, before they are checked.
struct Texts {
  std::string listen, runtime, agent, agent_wait = "200ms", hook_servers, hook_server_wait = "2s", state, health,
                                      drain = "500ms", log_level = "info", log_format = "text";
  Texts() {
    const Options defaults;
    listen = defaults.listen;
    runtime = defaults.runtime;
    agent = defaults.agent;
    hook_servers = defaults.hook_servers;
    state = defaults.state;
    health = defaults.health;
  }
};

po::options_description describe(Texts& texts) {
  const auto text = [](std::string& to, const char* name) {
    return po::value<std::string>(&to)->default_value(to)->value_name(name);
  };
  po::options_description options("Options");
  options.add_options()                                                                                       //
      ("listen", text(texts.listen, "SOCKET"), "unix socket for the kubelet")                                 //
      ("runtime", text(texts.runtime, "SOCKET"), "unix socket of the container runtime")                      //
      ("agent", text(texts.agent, "SOCKET"), "unix socket of koordetector; none: it is not asked")            //
      ("agent-timeout", text(texts.agent_wait, "TIME"), "a call passes unchanged if the agent takes longer")  //
      ("hook-servers", text(texts.hook_servers, "DIR"), "files that name hook servers of koordlet's kind")    //
      ("hook-server-timeout", text(texts.hook_server_wait, "TIME"), "longest wait for one hook server")       //
      ("state-dir", text(texts.state, "DIR"), "checkpoints of pods and containers")                           //
      ("health", text(texts.health, "ADDRESS"), "TCP address of /healthz and /metrics, or none")              //
      ("drain", text(texts.drain, "TIME"), "time that calls get to end after SIGTERM")                        //
      ("log-level", text(texts.log_level, "LEVEL"), "trace, debug, info, warn or error")                      //
      ("log-format", text(texts.log_format, "FORMAT"), "text or json")                                        //
      ("version", "print the version")                                                                        //
      ("help,h", "print this help");
  return options;
}

std::string socket_path(std::string text) {
  constexpr std::string_view kScheme = "unix://";
  if (text.starts_with(kScheme)) text.erase(0, kScheme.size());
  return text;
}

Result<std::string> required_path(const char* option, const std::string& text) {
  std::string path = socket_path(text);
  if (!path.starts_with('/'))
    return invalid("--" + std::string(option) + ": expected an absolute path, found '" + text + "'");
  return path;
}

Result<Duration> duration(const char* option, const std::string& text) {
  Result<Duration> parsed = parse_duration(text);
  if (!parsed) return std::move(parsed).error().context("--" + std::string(option));
  if (*parsed < Duration(0)) return invalid("--" + std::string(option) + ": expected a positive time");
  return parsed;
}

Result<Options> interpret(const Texts& texts) {
  Options options;
  options.listen = TRY(required_path("listen", texts.listen));
  options.runtime = TRY(required_path("runtime", texts.runtime));
  if (options.listen == options.runtime) return invalid("--listen and --runtime are the same socket");
  options.agent = texts.agent == kNone ? "" : TRY(required_path("agent", texts.agent));
  options.agent_wait = TRY(duration("agent-timeout", texts.agent_wait));
  options.hook_servers = TRY(required_path("hook-servers", texts.hook_servers));
  options.hook_server_wait = TRY(duration("hook-server-timeout", texts.hook_server_wait));
  options.state = TRY(required_path("state-dir", texts.state));
  options.health = texts.health == kNone ? "" : texts.health;
  options.drain = TRY(duration("drain", texts.drain));
  options.log_level = TRY(log::parse_level(texts.log_level));
  options.log_format = TRY(log::parse_format(texts.log_format));
  return options;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Texts texts;
  po::variables_map given;
  try {
    using namespace po::command_line_style;
    const po::options_description options = describe(texts);
    const po::parsed_options parsed =
        po::command_line_parser(arguments).options(options).style(unix_style & ~allow_guessing).run();
    const auto is_positional = [](const po::option& option) { return option.position_key >= 0; };
    if (const auto stray = std::ranges::find_if(parsed.options, is_positional); stray != parsed.options.end())
      return invalid("unexpected argument '" + stray->value.front() + "', expected only options; see --help");
    po::store(parsed, given);
    po::notify(given);
  } catch (const po::error& error) {
    return invalid(error.what());
  }
  if (given.count("help") || given.count("version")) {
    Options options;
    options.action = given.count("help") ? Options::Action::help : Options::Action::version;
    return options;
  }
  return interpret(texts);
}

std::string usage() {
  Texts texts;
  std::ostringstream text;
  text
      << "Usage: koord-cri-proxy [options]\n\n"
         "Stands between the kubelet and a container runtime without NRI. Passes every call of CRI unchanged, and asks\n"
         "koordetector, and hook servers of koordlet's kind, before pods and containers are made or updated. SIGTERM ends\n"
         "it. A second proxy on the same --listen takes the socket over from the first.\n\n"
      << describe(texts);
  return text.str();
}

}  // namespace koord::criproxy
