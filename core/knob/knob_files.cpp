// SPDX-License-Identifier: Apache-2.0
#include "core/knob/knob_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/cgroup/extraction.hpp"
#include "core/knob/core_groups.hpp"
#include "core/knob/failures.hpp"
#include "core/knob/process_scores.hpp"
#include "core/knob/resctrl.hpp"
#include "core/knob/traffic_control.hpp"

namespace koord::knob {
namespace {

using cgroup::Version;

std::uint64_t inode_of(const std::string& path) {
  struct stat about;
  return ::stat(path.c_str(), &about) == 0 ? about.st_ino : 0;
}

bool is_in_cgroup(const Knob& knob) { return knob.place == Place::cgroup || knob.place == Place::root_cgroup; }

std::uint64_t inode_of(int fd) {
  struct stat about;
  return ::fstat(fd, &about) == 0 ? about.st_ino : 0;
}

// Returns the error for a missing file. If the directory exists, the kernel lacks the knob, else the cgroup has ended.
Error missing(const std::string& directory, Error error) {
  return system_error(inode_of(directory) != 0 ? ENOTSUP : ENODEV, std::move(error).text);
}

Result<std::string> read_text(const std::string& directory, const std::string& path) {
  Result<std::string> content = read_file(path);
  if (content) return std::string(trim(*content));
  return content.error().is(std::errc::no_such_file_or_directory) ? missing(directory, std::move(content).error())
                                                                  : content;
}

Result<std::string> read_text_at(int directory, const std::string& path, const std::string& file) {
  Result<UniqueFd> fd = open_at(directory, file, O_RDONLY);
  if (fd) return std::string(trim(TRY(read_all(fd->get(), path + "/" + file))));
  Error error = std::move(fd).error();
  error.text = "cannot open '" + path + "/" + file + "'";
  if (!error.is(std::errc::no_such_file_or_directory)) return error;
  // If the cgroup has ended, its open directory has no files, and the path has a different inode or does not exist.
  return system_error(inode_of(path) == inode_of(directory) ? ENOTSUP : ENODEV, std::move(error).text);
}

}  // namespace

// A directory to write to: the open directory, or `path` if no directory is open.
struct KnobFiles::FileDirectory {
  std::shared_ptr<const UniqueFd> fd = {};
  std::string path;

  Result<void> write(const std::string& file, const std::string& text) const {
    const std::string shown = path + "/" + file;
    const std::string content = text.empty() ? "\n" : text;  // the kernel would ignore 0 bytes
    Result<void> written = fd ? write_value_at(fd->get(), file, content, shown) : write_value(shown, content);
    if (!written && written.error().is(std::errc::no_such_file_or_directory))
      return system_error(ENODEV, std::move(written).error().text);
    return written;
  }
};

KnobFiles::KnobFiles(cgroup::Layout layout, NodeRoots roots, std::shared_ptr<const CoreSchedulingCalls> calls)
    : layout_(std::move(layout)),
      roots_(std::move(roots)),
      resctrl_(std::make_unique<Resctrl>(roots_.resctrl, layout_)),
      scores_(std::make_unique<ProcessScores>(roots_.proc, layout_)),
      core_groups_(std::make_unique<CoreGroups>(roots_.proc, layout_, std::move(calls))),
      traffic_(std::make_unique<TrafficControl>(roots_.proc)) {}

KnobFiles::~KnobFiles() = default;

// Returns nullptr if the knob is a file.
const KnobBackend* KnobFiles::backend_of(const Knob& knob) const {
  switch (knob.place) {
    case Place::cgroup:
    case Place::root_cgroup:
    case Place::proc:
    case Place::sys:
      return nullptr;
    case Place::processes:
      return knob.form == Form::score ? scores_.get() : core_groups_.get();
    case Place::interface:
      return traffic_.get();
    default:
      return resctrl_.get();
  }
}

Result<Version> KnobFiles::version_of(const Knob& knob) const {
  if (!is_in_cgroup(knob)) return Version::v2;  // the version does not matter
  const std::optional<Version> version = layout_.version(knob.controller);
  if (!version) return unsupported("this node has no " + std::string(name_of(knob.controller)) + " controller");
  if (!files_of(knob, *version).empty()) return *version;
  return unsupported("cgroup " + std::string(*version == Version::v2 ? "v2" : "v1") + " has no '" +
                     std::string(knob.name) + "'");
}

Result<std::string> KnobFiles::directory_of(const KnobTarget& target) const {
  if (target.knob.place == Place::proc) return roots_.proc;
  if (target.knob.place == Place::sys) return roots_.sys;
  return layout_.directory(target.knob.controller, target.cgroup_dir);
}

Result<std::string> KnobFiles::path_of(const KnobTarget& target, std::string_view file) const {
  const std::string directory = TRY(directory_of(target));
  const std::string path = directory + "/" + std::string(file);
  if (target.knob.form != Form::feature || inode_of(path) != 0) return path;
  return directory + "/kernel/debug/sched_features";  // before Linux 5.13
}

Result<KnobFiles::Reading> KnobFiles::read(const KnobTarget& target) const {
  const Knob& knob = target.knob;
  if (knob.is_one_shot) return unsupported("'" + std::string(knob.name) + "' is done, and has no value");
  const KnobBackend* backend = backend_of(knob);
  if (backend == nullptr) return read_cgroup(target);
  Reading reading;
  reading.texts = {TRY(backend->read(target))};
  reading.value = TRY(decode(knob, reading.texts, Version::v2));
  reading.cgroup = backend->inode(target);
  return reading;
}

Result<KnobFiles::Reading> KnobFiles::read_cgroup(const KnobTarget& target) const {
  const Version version = TRY(version_of(target.knob));
  const std::string directory = TRY(directory_of(target));
  Reading reading;
  if (is_in_cgroup(target.knob)) {
    Result<UniqueFd> opened = open_at(AT_FDCWD, directory, O_PATH | O_DIRECTORY);
    if (!opened && opened.error().is(std::errc::no_such_file_or_directory))
      return system_error(ENODEV,
                          "cannot open '" + directory + "/" + std::string(files_of(target.knob, version)[0]) + "'");
    reading.directory = std::make_shared<const UniqueFd>(TRY(std::move(opened)));
  }
  for (std::string_view file : files_of(target.knob, version)) {
    std::string text;
    if (reading.directory) {
      text = TRY(read_text_at(reading.directory->get(), directory, std::string(file)));
    } else {
      const std::string path = TRY(path_of(target, file));
      text = TRY(read_text(directory, path));
    }
    reading.texts.push_back(has_items(target.knob) ? item_of(target.knob, text, target.item) : std::move(text));
  }
  if (target.knob.form == Form::feature && reading.texts[0].empty())
    return unsupported("this kernel has no scheduler feature '" + std::string(target.item) + "'");
  reading.value = TRY(decode(target.knob, reading.texts, version, target.item));
  reading.cgroup = reading.directory ? inode_of(reading.directory->get()) : inode_of(directory);
  return reading;
}

Result<void> KnobFiles::write(const KnobTarget& target, const Texts& texts, const Texts& now) const {
  if (const KnobBackend* backend = backend_of(target.knob)) return backend->write(target, texts[0]);
  const std::string directory = TRY(directory_of(target));
  return write_cgroup(target, texts, now, FileDirectory{{}, directory});
}

Result<void> KnobFiles::replace(const KnobTarget& target, const Texts& texts, const Reading& now) const {
  if (target.knob.place == Place::processes && scores_->inode(target) != now.cgroup)
    return ended("cannot write to '" + std::string(target.cgroup_dir) + "', which has been replaced since it was read");
  if (!is_in_cgroup(target.knob)) return write(target, texts, now.texts);
  const FileDirectory directory = TRY(directory_for_write(target, now));
  return write_cgroup(target, texts, now.texts, directory);
}

// Returns the directory that was read. Opens it again if it was not kept open.
Result<KnobFiles::FileDirectory> KnobFiles::directory_for_write(const KnobTarget& target, const Reading& now) const {
  FileDirectory directory;
  directory.path = TRY(directory_of(target));
  directory.fd = now.directory;
  if (directory.fd) return directory;
  Result<UniqueFd> opened = open_at(AT_FDCWD, directory.path, O_PATH | O_DIRECTORY);
  if (!opened && !opened.error().is(std::errc::no_such_file_or_directory)) return std::move(opened).error();
  if (!opened || inode_of(opened->get()) != now.cgroup)
    return ended("cannot write to '" + directory.path + "', which has been replaced since it was read");
  directory.fd = std::make_shared<const UniqueFd>(std::move(*opened));
  return directory;
}

// Writes one of the knob's files.
Result<void> KnobFiles::write_file(const KnobTarget& target, const FileDirectory& directory, std::string_view file,
                                   const std::string& text) const {
  if (target.knob.form != Form::feature) return directory.write(std::string(file), text);
  const std::string path = TRY(path_of(target, file));  // older kernels have a different name for it
  return directory.write(path.substr(directory.path.size() + 1), text);
}

// Removes the set of a cgroup. The kernel refuses this while tasks are in the cgroup. On v2, all CPUs or memory nodes
// of the machine have the same effect on the tasks.
Result<void> KnobFiles::write_no_set(const KnobTarget& target, const FileDirectory& directory,
                                     std::string_view file) const {
  Result<void> written = directory.write(std::string(file), "");
  if (written || !written.error().is(std::errc::no_space_on_device)) return written;
  const std::string root = layout_.directory(target.knob.controller, "");
  return directory.write(std::string(file), TRY(read_text(root, root + "/" + std::string(file) + ".effective")));
}

// Writes a memory limit. v1 refuses a limit above the limit of memory and swap together, which a runtime sets to the
// memory limit unless it is asked for swap. In that case, the limit of memory and swap is raised, too.
Result<void> KnobFiles::write_memory_limit(const FileDirectory& directory, std::string_view file,
                                           const std::string& text) const {
  Result<void> written = directory.write(std::string(file), text);
  if (written || !written.error().is(std::errc::invalid_argument)) return written;
  const std::string swap_file = "memory.memsw.limit_in_bytes";
  const Result<std::string> swap = read_text(directory.path, directory.path + "/" + swap_file);
  if (!swap) return written;
  const std::int64_t most = cgroup::parse_value(*swap), limit = text == "-1" ? INT64_MAX : cgroup::parse_value(text);
  if (most < 0 || most >= limit || !directory.write(swap_file, text)) return written;
  return directory.write(std::string(file), text);
}

Result<void> KnobFiles::write_cgroup(const KnobTarget& target, const Texts& texts, const Texts& now,
                                     const FileDirectory& directory) const {
  const Version version = TRY(version_of(target.knob));
  const std::vector<std::string_view> files = files_of(target.knob, version);
  auto write_one = [&](std::size_t i) -> Result<void> {
    if (i < now.size() && texts[i] == now[i]) return {};
    const bool is_unset = has_items(target.knob) && texts[i].empty();
    if (target.knob.form == Form::set && texts[i].empty() && version == Version::v2)
      return write_no_set(target, directory, files[i]);
    if (files[i] == "memory.limit_in_bytes") return write_memory_limit(directory, files[i], texts[i]);
    return write_file(target, directory, files[i], is_unset ? unset_text(target.knob, version, target.item) : texts[i]);
  };
  if (target.knob.form == Form::idle) {
    TRY(write_one(0));
    // The kernel sets the weight of an idle cgroup and refuses other weights. It does not restore the weight when the
    // cgroup stops being idle.
    return texts[0] == "0" && !texts[1].empty() ? write_file(target, directory, files[1], texts[1]) : Result<void>();
  }
  if (target.knob.form != Form::bandwidth || files.size() != 2) {
    for (std::size_t i = 0; i < files.size(); ++i) TRY(write_one(i));
    return {};
  }
  // The two files are written one after the other. If the kernel refuses the state in between, the other file is
  // written first.
  Result<void> first = write_one(0);
  if (first) return write_one(1);
  if (!first.error().is(std::errc::invalid_argument) || texts[1] == now[1]) return first;
  TRY(write_one(1));
  return write_one(0);
}

Result<std::int64_t> KnobFiles::run_one_shot(const KnobTarget& target, std::int64_t amount, const Clock& clock,
                                             Duration longest) const {
  if (target.knob.place == Place::resctrl_group) {
    TRY(resctrl_->write(target, "0"));
    return amount;
  }
  constexpr std::int64_t kPart = 8 << 20;
  const Version version = TRY(version_of(target.knob));
  const std::string directory = TRY(directory_of(target));
  const std::string path = directory + "/" + std::string(files_of(target.knob, version)[0]);
  const Time end = clock.now() + longest;
  std::int64_t done = 0;
  while (done < amount && (done == 0 || clock.now() < end)) {
    const std::int64_t part = std::min(kPart, amount - done);
    Result<void> written = write_value(path, std::to_string(part));
    if (!written && written.error().is(std::errc::resource_unavailable_try_again)) break;  // the kernel has no more
    if (!written && written.error().is(std::errc::no_such_file_or_directory))
      return missing(directory, std::move(written).error());
    if (!written) return std::move(written).error();
    done += part;
  }
  return done;
}

Result<Texts> KnobFiles::texts_of(const Knob& knob, const Value& value) const {
  return encode(knob, value, TRY(version_of(knob)));
}

Result<Value> KnobFiles::decoded(const Knob& knob, const Texts& texts, std::string_view item) const {
  return decode(knob, texts, TRY(version_of(knob)), item);
}

Result<Value> KnobFiles::settled(const Knob& knob, const Value& value) const {
  const Version version = TRY(version_of(knob));
  Value settled = TRY(decode(knob, encode(knob, value, version), version, value.item));
  const KnobBackend* backend = backend_of(knob);
  return backend != nullptr ? backend->settled(knob, std::move(settled)) : settled;
}

Value KnobFiles::restorable(const KnobTarget& target, Value original) const {
  const KnobBackend* backend = backend_of(target.knob);
  return backend != nullptr ? backend->restorable(target, std::move(original)) : original;
}

void KnobFiles::adopt(const KnobTarget& target, const std::vector<Texts>& written) const {
  const KnobBackend* backend = backend_of(target.knob);
  if (backend == nullptr) return;
  std::vector<std::string> texts;
  for (const Texts& one : written)
    if (!one.empty()) texts.push_back(one.front());
  backend->adopt(target, texts);
}

void KnobFiles::begin_round() const {
  for (const KnobBackend* backend : {resctrl_.get(), scores_.get(), core_groups_.get()}) backend->begin_round();
}

bool KnobFiles::is_nested(const Knob& knob) const {
  const bool may_be = knob.form == Form::bandwidth || knob.form == Form::set;
  return may_be && is_in_cgroup(knob) && layout_.version(knob.controller) == Version::v1;
}

std::vector<std::string> KnobFiles::inner_cgroups(const Knob& knob, std::string_view cgroup_dir) const {
  std::vector<std::string> dirs;
  Result<std::vector<std::string>> names = list_subdirectories(layout_.directory(knob.controller, cgroup_dir));
  if (!names) return dirs;  // the cgroup has ended
  for (const std::string& name : *names)
    dirs.push_back(cgroup_dir.empty() ? name : std::string(cgroup_dir) + "/" + name);
  return dirs;
}

CpuSet KnobFiles::online_cpus() const {
  Result<std::string> list = read_file(roots_.sys + "/devices/system/cpu/online");
  return list ? CpuSet::parse(trim(*list)).value_or(CpuSet()) : CpuSet();
}

Result<std::string> KnobFiles::content(const Knob& knob, std::string_view cgroup_dir) const {
  const KnobTarget target{knob, cgroup_dir};
  const Version version = TRY(version_of(knob));
  const std::string directory = TRY(directory_of(target));
  std::string all;
  for (std::string_view file : files_of(knob, version)) {
    const std::string path = TRY(path_of(target, file));
    const std::string text = TRY(read_text(directory, path));
    if (!text.empty()) all += (all.empty() ? "" : "\n") + text;
  }
  return all;
}

Result<std::string> read_knob(const KnobFiles& files, std::string_view name, std::string_view cgroup_dir) {
  const std::size_t space = name.find(' ');
  const std::string_view item = space == std::string_view::npos ? std::string_view() : name.substr(space + 1);
  const Knob* knob = TRY(knob_named(name.substr(0, space)));
  if (item.empty() && has_items(*knob)) return files.content(*knob, cgroup_dir);
  return spell(*knob, TRY(files.read({*knob, cgroup_dir, item})).value);
}

}  // namespace koord::knob
