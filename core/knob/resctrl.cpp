// SPDX-License-Identifier: Apache-2.0
#include "core/knob/resctrl.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/knob/failures.hpp"
#include "core/knob/fields.hpp"

namespace koord::knob {
namespace {

using cgroup::Controller;
using cgroup::Version;

bool is_directory(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

void append_lines(std::string_view content, std::vector<std::string>& lines) {
  while (auto line = next_field(content, '\n'))
    if (!trim(*line).empty()) lines.emplace_back(trim(*line));
}

// Appends the lines of this file of all directories inside. A directory that has ended is left out.
void append_inner_lines(const std::string& directory, const std::string& file, std::vector<std::string>& lines) {
  for (const std::string& name : list_subdirectories(directory).value_or({})) {
    const std::string inner = directory + "/" + name;
    if (Result<std::string> content = read_file(inner + file)) append_lines(*content, lines);
    append_inner_lines(inner, file, lines);
  }
}

Error gone(Error error) {
  return error.is(std::errc::no_such_file_or_directory) ? system_error(ENODEV, std::move(error).text)
                                                        : std::move(error);
}

}  // namespace

// The group of each thread that is not in the root group.
struct Resctrl::Threads {
  std::unordered_map<std::string, std::string> group_of;
};

Resctrl::Resctrl(std::string root, const cgroup::Layout& layout) : root_(std::move(root)), layout_(layout) {}

Resctrl::~Resctrl() = default;

std::string Resctrl::directory(std::string_view group) const {
  return group.empty() ? root_ : root_ + "/" + std::string(group);
}

Result<void> Resctrl::check_mounted() const {
  struct stat about;
  if (!root_.empty() && ::stat((root_ + "/schemata").c_str(), &about) == 0) return {};
  return unsupported("no resctrl at '" + root_ + "'");
}

Result<std::string> Resctrl::read(const KnobTarget& target) const {
  TRY(check_mounted());
  const Knob& knob = target.knob;
  const std::string_view name = target.cgroup_dir;
  if (knob.place == Place::resctrl_group) return std::string(is_directory(directory(name)) ? "1" : "0");
  return knob.place == Place::schemata ? read_schemata(knob, name) : read_groups(name);
}

Result<void> Resctrl::write(const KnobTarget& target, const std::string& text) const {
  TRY(check_mounted());
  const Knob& knob = target.knob;
  const std::string_view name = target.cgroup_dir;
  if (knob.place == Place::resctrl_group) return write_group(name, text == "1");
  if (knob.place == Place::resctrl_tasks) {
    std::string_view group = text;  // an original may name several groups; the root's is first
    group = next_word(group).value_or("");
    return move_threads(name, group == "/" ? std::string_view() : group);
  }
  Result<void> written = write_value(directory(name) + "/schemata", std::string(knob.v2_file) + ":" + text + "\n");
  if (!written) return with_reason(gone(std::move(written).error()));
  return {};
}

std::uint64_t Resctrl::inode(const KnobTarget& target) const {
  const Knob& knob = target.knob;
  const std::string_view name = target.cgroup_dir;
  struct stat about;
  if (knob.place == Place::resctrl_group) return 1;  // a new group of the same name counts as the same
  const std::string path = knob.place == Place::schemata ? directory(name) : layout_.directory(Controller::cpu, name);
  return ::stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

Result<std::string> Resctrl::read_schemata(const Knob& knob, std::string_view group) const {
  Result<std::string> content = read_file(directory(group) + "/schemata");
  if (!content) return gone(std::move(content).error());
  std::string_view rest = *content;
  while (auto line = next_field(rest, '\n')) {
    std::string_view word = trim(*line);
    if (word.starts_with(knob.v2_file) && word.substr(knob.v2_file.size()).starts_with(':'))
      return std::string(trim(word.substr(knob.v2_file.size() + 1)));
  }
  return unsupported("resctrl has no line '" + std::string(knob.v2_file) + "' here");
}

Result<std::vector<std::string>> Resctrl::groups() const {
  TRY(check_mounted());
  std::vector<std::string> names = TRY(list_subdirectories(root_));
  std::erase_if(names,
                [](const std::string& name) { return name == "info" || name == "mon_groups" || name == "mon_data"; });
  return names;
}

std::shared_ptr<const Resctrl::Threads> Resctrl::threads() const {
  std::lock_guard lock(mutex_);
  if (threads_) return threads_;
  auto fresh = std::make_shared<Threads>();
  if (Result<std::vector<std::string>> names = groups()) {
    for (const std::string& name : *names) {
      std::vector<std::string> ids;
      if (Result<std::string> tasks = read_file(directory(name) + "/tasks")) append_lines(*tasks, ids);
      for (std::string& id : ids) fresh->group_of.emplace(std::move(id), name);
    }
  }
  threads_ = std::move(fresh);
  return threads_;
}

void Resctrl::begin_round() const {
  std::lock_guard lock(mutex_);
  threads_.reset();
}

// Returns the threads of the cgroup and of the cgroups inside.
Result<std::vector<std::string>> Resctrl::threads_of(std::string_view cgroup_dir) const {
  const std::optional<Version> version = layout_.version(Controller::cpu);
  if (!version) return unsupported("this node has no cpu controller");
  const std::string top = layout_.directory(Controller::cpu, cgroup_dir);
  const std::string file = *version == Version::v2 ? "/cgroup.threads" : "/tasks";
  Result<std::string> own = read_file(top + file);
  if (!own) return gone(std::move(own).error());
  std::vector<std::string> ids;
  append_lines(*own, ids);
  append_inner_lines(top, file, ids);
  return ids;
}

Result<std::string> Resctrl::read_groups(std::string_view cgroup_dir) const {
  const std::vector<std::string> ids = TRY(threads_of(cgroup_dir));
  const std::shared_ptr<const Threads> all = threads();
  Value value;
  for (const std::string& id : ids) {
    const auto found = all->group_of.find(id);
    value.fields.emplace(found == all->group_of.end() ? "" : found->second, "");
  }
  return spell(*find_knob("resctrl.group"), value);
}

Result<void> Resctrl::move_threads(std::string_view cgroup_dir, std::string_view group) const {
  const std::vector<std::string> ids = TRY(threads_of(cgroup_dir));
  const std::shared_ptr<const Threads> all = threads();
  const std::string tasks = directory(group) + "/tasks";
  for (const std::string& id : ids) {
    const auto found = all->group_of.find(id);
    if (found == all->group_of.end() ? group.empty() : found->second == group) continue;
    Result<void> written = write_value(tasks, id);
    if (written || written.error().is(std::errc::no_such_process)) continue;  // the thread may have ended
    return with_reason(std::move(written).error());
  }
  return {};
}

Result<void> Resctrl::write_group(std::string_view group, bool is_there) const {
  const std::string path = directory(group);
  if (!is_there) {
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return {};
    return system_error(errno, "cannot remove the resctrl group '" + path + "'");
  }
  if (!group.starts_with(kOwnPrefix))
    return invalid("the resctrl group '" + std::string(group) +
                   "' is not there, and one that is made here begins with '" + std::string(kOwnPrefix) + "'");
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return {};
  return with_reason(system_error(errno, "cannot make the resctrl group '" + path + "'"));
}

// Adds the reason of the refusal, which the kernel writes to info/last_cmd_status.
Error Resctrl::with_reason(Error error) const {
  Result<std::string> reason = read_file(root_ + "/info/last_cmd_status");
  if (reason && !trim(*reason).empty() && trim(*reason) != "ok")
    error.text = error.message() + ": " + std::string(trim(*reason));
  return error;
}

Value Resctrl::settled(const Knob& knob, Value value) const {
  if (knob.form != Form::amounts) return value;
  Result<std::string> text = read_file(root_ + "/info/MB/bandwidth_gran");
  const std::int64_t step = text ? parse_int(trim(*text)).value_or(1) : 1;
  if (step < 2) return value;
  for (auto& [id, amount] : value.fields) {
    const std::int64_t number = parse_int(amount).value_or(0);
    amount = std::to_string((number + step - 1) / step * step);
  }
  return value;
}

}  // namespace koord::knob
