// SPDX-License-Identifier: Apache-2.0
#include "core/knob/knob_files.hpp"

#include <sys/stat.h>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"

namespace koord::knob {
namespace {

using cgroup::Version;

std::uint64_t inode_of(const std::string& directory) {
  struct stat about;
  return ::stat(directory.c_str(), &about) == 0 ? about.st_ino : 0;
}

Result<std::string> read_text(const std::string& directory, std::string_view file) {
  Result<std::string> content = read_file(directory + "/" + std::string(file));
  if (content) return std::string(trim(*content));
  if (!content.error().is(std::errc::no_such_file_or_directory)) return content;
  return system_error(inode_of(directory) != 0 ? ENOTSUP : ENODEV, std::move(content).error().text);
}

Result<void> write_text(const std::string& path, const std::string& text) {
  Result<void> written = write_value(path, text.empty() ? "\n" : text);  // nothing written is no write
  if (!written && written.error().is(std::errc::no_such_file_or_directory))
    return system_error(ENODEV, std::move(written).error().text);
  return written;
}

}  // namespace

Result<Version> KnobFiles::version_of(const Knob& knob) const {
  const std::optional<Version> version = layout_.version(knob.controller);
  if (!version) return system_error(ENOTSUP, "this node has no " + std::string(name_of(knob.controller)) + " controller");
  if (!files_of(knob, *version).empty()) return *version;
  return system_error(ENOTSUP, "cgroup " + std::string(*version == Version::v2 ? "v2" : "v1") + " has no '" +
                                   std::string(knob.name) + "'");
}

Result<KnobFiles::Reading> KnobFiles::read(const Knob& knob, std::string_view cgroup_dir) const {
  const Version version = TRY(version_of(knob));
  const std::string directory = layout_.directory(knob.controller, cgroup_dir);
  Reading reading;
  for (std::string_view file : files_of(knob, version)) {
    std::string text = TRY(read_text(directory, file));
    reading.texts.push_back(std::move(text));
  }
  reading.value = TRY(decode(knob, reading.texts, version));
  reading.cgroup = inode_of(directory);
  return reading;
}

Result<void> KnobFiles::write(const Knob& knob, std::string_view cgroup_dir, const Texts& texts, const Texts& now) const {
  const Version version = TRY(version_of(knob));
  const std::string directory = layout_.directory(knob.controller, cgroup_dir) + "/";
  const std::vector<std::string_view> files = files_of(knob, version);
  auto write_one = [&](std::size_t i) -> Result<void> {
    return texts[i] == now[i] ? Result<void>() : write_text(directory + std::string(files[i]), texts[i]);
  };
  if (files.size() == 1) return write_one(0);
  // Two files go one after the other, and the kernel may refuse what is between: then the other one goes first.
  Result<void> first = write_one(0);
  if (first) return write_one(1);
  if (!first.error().is(std::errc::invalid_argument) || texts[1] == now[1]) return first;
  TRY(write_one(1));
  return write_one(0);
}

Result<Texts> KnobFiles::texts_of(const Knob& knob, const Value& value) const {
  return encode(knob, value, TRY(version_of(knob)));
}

Result<Value> KnobFiles::settled(const Knob& knob, const Value& value) const {
  const Version version = TRY(version_of(knob));
  return decode(knob, encode(knob, value, version), version);
}

Result<std::string> read_knob(const KnobFiles& files, std::string_view name, std::string_view cgroup_dir) {
  const Knob* knob = TRY(knob_named(name));
  return spell(*knob, TRY(files.read(*knob, cgroup_dir)).value);
}

}  // namespace koord::knob
