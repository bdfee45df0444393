// SPDX-License-Identifier: Apache-2.0
#include "core/workshop/check/process_state.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/file.hpp"

namespace koord::check {
namespace {

void* handler_of(int signal) {
  struct sigaction action = {};
  if (::sigaction(signal, nullptr, &action) != 0) return nullptr;  // a signal that the C library reserves
  return reinterpret_cast<void*>(action.sa_handler);
}

std::string line_of_status(std::string_view key) {
  const std::string status = read_file("/proc/self/status").value_or("");
  const std::size_t begin = status.find(key);
  return begin == std::string::npos ? "" : status.substr(begin, status.find('\n', begin) - begin);
}

std::size_t entries_of(const char* folder) {
  std::error_code error;
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder, error), {}));
}

std::string name_of_signal(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name ? "SIG" + std::string(name) : "signal " + std::to_string(signal);
}

}  // namespace

std::size_t count_descriptors() { return entries_of("/proc/self/fd"); }
std::size_t count_threads() { return entries_of("/proc/self/task"); }

std::size_t count_mappings() {
  const std::string maps = read_file("/proc/self/maps").value_or("");
  return static_cast<std::size_t>(std::count(maps.begin(), maps.end(), '\n'));
}

ProcessState ProcessState::now() {
  ProcessState state;
  for (int signal = 1; signal < static_cast<int>(state.handlers.size()); ++signal)
    state.handlers[static_cast<std::size_t>(signal)] = handler_of(signal);
  state.blocked_signals = line_of_status("SigBlk:");
  std::error_code gone;
  state.directory = std::filesystem::current_path(gone).string();
  const char* locale = std::setlocale(LC_ALL, nullptr);
  state.locale = locale ? locale : "";
  state.umask = ::umask(0);
  ::umask(state.umask);
  for (char** variable = environ; variable && *variable; ++variable) state.environment.insert(*variable);
  state.threads = count_threads();
  state.descriptors = count_descriptors();
  return state;
}

std::vector<std::string> changes(const ProcessState& before, const ProcessState& after, bool counts) {
  std::vector<std::string> found;
  for (std::size_t signal = 1; signal < before.handlers.size(); ++signal)
    if (before.handlers[signal] != after.handlers[signal])
      found.push_back("what " + name_of_signal(static_cast<int>(signal)) + " does");
  if (before.blocked_signals != after.blocked_signals) found.emplace_back("the blocked signals");
  if (before.directory != after.directory) found.emplace_back("the working directory");
  if (before.locale != after.locale) found.push_back("the locale, to " + after.locale);
  if (before.umask != after.umask) found.emplace_back("the umask");
  if (before.environment != after.environment) found.emplace_back("the environment");
  auto grown = [&](const char* what, std::size_t was, std::size_t is) {
    if (counts && was != is)
      found.push_back(std::string(what) + ", from " + std::to_string(was) + " to " + std::to_string(is));
  };
  grown("how many threads there are", before.threads, after.threads);
  grown("how many descriptors are open", before.descriptors, after.descriptors);
  return found;
}

}  // namespace koord::check
