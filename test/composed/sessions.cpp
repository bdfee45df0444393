// SPDX-License-Identifier: Apache-2.0
#include "test/composed/sessions.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/json/reader.hpp"

namespace koord::test {
namespace {

namespace fs = std::filesystem;
using cgroup::Controller;

constexpr auto kLong = std::chrono::minutes(3);  // long enough for a busy or an emulated machine
constexpr double kMoreRounds = 3;
constexpr const char* kAdvisors[] = {"advisor-node-resource", "advisor-pod-resource", "advisor-pod-throttled"};
constexpr const char* kNode =
    "kind: Node\nmetadata: {name: n, annotations: %}\nstatus: {capacity: {cpu: \"2\", memory: 8Gi}, allocatable: {cpu: \"2\", memory: "
    "8Gi}}\n";

// Returns the number, INT64_MAX for no limit, nullopt if the text is not a number.
std::optional<std::int64_t> amount_of(const std::string& text) {
  if (text == "-1" || text.starts_with("max")) return INT64_MAX;
  std::string_view rest = text;
  const auto first = next_word(rest);
  const Result<std::int64_t> amount = parse_int(first.value_or(""));
  return amount ? std::optional(*amount) : std::nullopt;
}

bool lies_between(const std::string& value, const std::string& one, const std::string& other) {
  if (value == one || value == other) return true;
  const auto amount = amount_of(value), a = amount_of(one), b = amount_of(other);
  return amount && a && b && *amount >= std::min(*a, *b) && *amount <= std::max(*a, *b);
}

bool is_on_the_way(const std::string& value, const std::string& base, const Target& target) {
  if (lies_between(value, base, target.value)) return true;
  return !target.on_the_way.empty() &&
         (lies_between(value, base, target.on_the_way) || lies_between(value, target.value, target.on_the_way));
}

std::string text_of(const std::string& path) { return std::string(trim(read_file(path).value_or("(unreadable)"))); }

void write_or_throw(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  if (const auto written = write_file_atomically(path, text); !written)
    throw std::runtime_error(written.error().message());
}

}  // namespace

Sessions::Sessions(const Given& given) : given_(given), cgroup_root_(pods.root(folder.path())) {
  const auto quota_us = static_cast<unsigned>(std::atoi(given.service_limit.c_str()) * 100);
  if (!given.service_limit.empty())
    for (const RealCgroup* cgroup : {&pods.service_pod, &pods.service})
      pods.limit_cpu(*cgroup, quota_us);  // the values that a kubelet sets
  pods.set_shares(pods.besteffort, 2);
  service_ = std::make_unique<ChildProcess>([] {
    for (;;) asm volatile("");
  });
  pods.service.add_process(service_->pid());
  write_node_files();
  const std::string limits = given.service_limit.empty() ? ""
                                                         : ", limits: {cpu: " + given.service_limit +
                                                               ", memory: 128Mi" + given.service_more_limits + "}";
  pods.write_files(folder.path(), given.node_slo, "{requests: {cpu: 100m, memory: 64Mi}" + limits + "}",
                   given.batch_resources, given.service_qos, given.service_annotations);
  before_ = now();
  std::vector<std::string> directories;
  for (const char* advisor : kAdvisors) directories.push_back(built("plugins/" + std::string(advisor)));
  for (const std::string& plugin : given.plugins) {
    const std::string directory = built("plugins/" + plugin);
    directories.push_back(fs::exists(directory) ? directory : built("test/composed/plugins/own"));
  }
  agent.emplace(config(false), directories);
}

Sessions::~Sessions() = default;

// Writes files of a node without CPU usage, so there is always room for burst.
void Sessions::write_node_files() const {
  for (const char* file : {"/proc/stat", "/proc/meminfo", "/proc/sys/kernel/random/boot_id"})
    write_or_throw(folder.path() + file, read_file(file).value());
  fs::create_directory(folder / "sys");
  fs::create_directory_symlink("/sys/devices", folder / "sys/devices");
  if (fs::exists("/sys/block")) fs::create_directory_symlink("/sys/block", folder / "sys/block");
  if (fs::exists("/sys/dev")) fs::create_directory_symlink("/sys/dev", folder / "sys/dev");
  std::string node = kNode;
  node.replace(node.find('%'), 1, given_.node_annotations);
  write_or_throw(folder / "node.yaml", node);
  // Knobs of the node are plain files below the test's roots. The machine's own knobs are not changed.
  write_or_throw(folder / "proc/sys/vm/min_free_kbytes", "67584");
  write_or_throw(folder / "proc/sys/vm/watermark_scale_factor", "10");
  write_or_throw(folder / "sys/kernel/mm/memcg_reaper/reap_background", "0");
}

// Some strategies have periods of 5 s and 10 s. Tests count rounds, so a shorter period saves time and changes no
// result.
std::string Sessions::settings(bool again) const {
  std::string text;
  for (const std::string& plugin : given_.plugins) {
    text += (text.empty() ? "{" : ", ") + plugin + ": {period: 1s";
    if (plugin == given_.plugins.front()) text += ", config: {" + (again ? given_.config_again : given_.config) + "}";
    text += "}";
  }
  return text + "}";
}

std::string Sessions::config(bool again) const {
  return "  settings: " + settings(again) + "\nroots: {cgroup: " + cgroup_root_ + ", proc: " + folder / "proc" +
         ", sys: " + folder / "sys" + "}\nstate: {source: file, file: {pods: " + folder / "pods.yaml" +
         ", node: " + folder / "node.yaml" + ", nodeSLO: " + folder / "slo.yaml" +
         "}}\nlog: {level: " + (again ? "debug" : "info") + "}\nqos: {mode: " + given_.mode + "}\n" + lines_;
}

std::vector<std::string> Sessions::start_arguments() const {
  std::vector<std::string> all = arguments;
  if (!gates_.empty()) all.push_back("--feature-gates=" + gates_);
  return all;
}

void Sessions::expect(const std::string& path, const Target& target) {
  if (!fs::exists(path)) return;
  targets_[path] = target;
  before_ = now();
}

std::map<std::string, std::string> Sessions::now() const {
  std::map<std::string, std::string> all = pods.knobs();
  for (const auto& [path, target] : targets_) all.try_emplace(path, read_file(path).value_or("(unreadable)"));
  return all;
}

bool Sessions::start() {
  if (!watch_) {
    std::vector<std::string> paths;
    for (const auto& [path, target] : targets_) paths.push_back(path);
    watch_ = std::make_unique<FileWatch>(paths);
  }
  return agent->start(start_arguments());
}

void Sessions::configure(const std::string& lines) {
  lines_ = lines;
  agent->write_config(config(is_configured_again_));
}

void Sessions::interrupt(Interruption interruption) {
  const std::string& strategy = given_.plugins.front();
  switch (interruption) {
    case Interruption::sigkill:
      agent->kill();
      REQUIRE(start());
      return;
    case Interruption::sigterm:
      CHECK(agent->stop() == 0);
      CHECK_MESSAGE(is_as_before(), differences());
      REQUIRE(start());
      return;
    case Interruption::sighup:
      is_configured_again_ = !is_configured_again_;
      agent->write_config(config(is_configured_again_));
      agent->process().signal(SIGHUP);
      return;
    case Interruption::reload:
      CHECK(agent->ctl({"plugin", "reload", strategy}).exit_status == 0);
      return;
    case Interruption::keep: {
      agent->kill();
      arguments.insert(arguments.end(), {"--set", "qos.onExit=keep"});
      REQUIRE(start());
      CHECK_MESSAGE(settles(), unsettled());
      CHECK(agent->stop() == 0);
      CHECK_MESSAGE(unsettled().empty(), unsettled());
      arguments.resize(arguments.size() - 2);
      REQUIRE(start());
      return;
    }
  }
}

double Sessions::rounds() const { return agent->calls_of_plugin(given_.plugins.front()); }

bool Sessions::runs_on(double more) const {
  const double from = rounds();
  return eventually([&] { return rounds() >= from + more; }, kLong);
}

// Needed because the last session may have left the expected value, and the first steps of this session may be lower.
bool Sessions::has_decided() const {
  const std::string answer = agent->get("/api/v1/knobs");
  const auto knobs = read_json_object(answer);
  if (!knobs) return false;
  const boost::json::array& all = knobs->at("knobs").as_array();
  return std::all_of(all.begin(), all.end(), [](const boost::json::value& knob) {
    return !knob.at("held").as_bool() || !knob.at("intents").as_array().empty();
  });
}

bool Sessions::settles() {
  const auto has_settled = [&] { return unsettled().empty() && has_decided(); };
  const auto stays_settled = [&] { return has_settled() && runs_on(kMoreRounds) && has_settled(); };
  return eventually(stays_settled, kLong);
}

bool Sessions::becomes_as_before() const {
  return eventually([&] { return is_as_before(); }, kLong);
}

std::string Sessions::unsettled() const {
  std::string all;
  for (const auto& [path, target] : targets_)
    if (const std::string now = text_of(path); now != target.value)
      all += path + ": '" + now + "', expected '" + target.value + "'\n";
  return all;
}

std::string Sessions::differences() const {
  std::string all;
  for (const auto& [path, text] : now())
    if (const auto found = before_.find(path); found == before_.end() || found->second != text)
      all += path + ": '" + (found == before_.end() ? "" : found->second) + "' is now '" + text + "'\n";
  return all;
}

std::string Sessions::outside() const {
  std::string all;
  for (const auto& [path, target] : targets_) {
    const auto found = before_.find(path);
    const std::string base(trim(found == before_.end() ? "" : found->second));
    // A plain file is empty for a moment while it is rewritten, unlike a kernel file.
    const bool is_plain = path.starts_with(folder.path());
    for (const std::string& value : watch_->seen(path))
      if (!(is_plain && value.empty()) && !is_on_the_way(value, base, target))
        all += path + ": '" + value + "' is not between '" + base + "' and '" + target.value + "'\n";
  }
  return all;
}

std::string Sessions::file(const RealCgroup& cgroup, Controller controller, std::string_view name) const {
  return cgroup.path(controller) + "/" + std::string(name);
}

std::string Sessions::quota_file(const RealCgroup& cgroup) const {
  return file(cgroup, Controller::cpu, pods.is_v2() ? "cpu.max" : "cpu.cfs_quota_us");
}

}  // namespace koord::test
