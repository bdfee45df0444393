// SPDX-License-Identifier: Apache-2.0
// Reads a fixture from a tar file. The file is untrusted, so every entry is checked before it is used.
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <filesystem>
#include <utility>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/json/reader.hpp"
#include "core/workshop/archive.hpp"
#include "core/workshop/fixture.hpp"

namespace koord::workshop {
namespace json = boost::json;
namespace {

constexpr std::size_t kMaxFrames = 10'000;
constexpr std::array<std::string_view, 5> kTrees{"proc", "sys", "cgroup", "resctrl", "run"};

// Returns whether the path is below one of the node's trees and never leaves it.
bool is_node_path(std::string_view path) {
  std::string_view top = path.substr(0, path.find('/'));
  if (std::find(kTrees.begin(), kTrees.end(), top) == kTrees.end() || top.size() == path.size()) return false;
  while (auto part = next_field(path, '/'))
    if (part->empty() || *part == "." || *part == "..") return false;
  return path.find('\0') == std::string_view::npos;
}

class Reader {
 public:
  Result<Fixture> read(std::string_view text) {
    Archive in(::archive_read_new());
    ::archive_read_support_format_tar(in.get());
    ::archive_read_support_filter_gzip(in.get());
    if (::archive_read_open_memory(in.get(), text.data(), text.size()) != ARCHIVE_OK) return archive_error(in.get());
    archive_entry* entry = nullptr;
    int status = ARCHIVE_OK;
    while ((status = ::archive_read_next_header(in.get(), &entry)) == ARCHIVE_OK || status == ARCHIVE_WARN)
      TRY(take(in.get(), entry));
    if (status != ARCHIVE_EOF) return archive_error(in.get());
    return finish();
  }

 private:
  Result<void> take(archive* in, archive_entry* entry) {
    const char* name = ::archive_entry_pathname(entry);
    if (name == nullptr) return invalid("an entry without a name");
    if (++entries_ > kMaxFixtureEntries) return invalid("more than " + std::to_string(kMaxFixtureEntries) + " entries");
    std::string path = std::filesystem::path(name).lexically_normal().string();
    while (path.ends_with('/')) path.pop_back();
    if (path == ".") return {};
    TreeEntry content = TRY(content_of(in, entry, path));
    if (path == "fixture.json") return take_about(content.content);
    if (path == "pods.json") return fixture_.state.pods = std::move(content.content), Result<void>();
    if (path == "node.json") return fixture_.state.node = std::move(content.content), Result<void>();
    if (path == "node_slo.json") return fixture_.state.node_slo = std::move(content.content), Result<void>();
    return take_frame(path, std::move(content));
  }

  Result<TreeEntry> content_of(archive* in, archive_entry* entry, const std::string& path) {
    using enum TreeEntry::Type;
    if (::archive_entry_filetype(entry) == AE_IFDIR) return TreeEntry{directory, {}};
    if (::archive_entry_filetype(entry) == AE_IFLNK) {
      const char* target = ::archive_entry_symlink(entry);
      if (target == nullptr || *target == '/' || std::string_view(target).find("..") != std::string_view::npos)
        return invalid("'" + path + "': expected a link to a file in the same directory");
      return TreeEntry{link, target};
    }
    if (::archive_entry_filetype(entry) != AE_IFREG)
      return invalid("'" + path + "' is neither file, link nor directory");
    TreeEntry found;
    std::array<char, 65536> piece;
    for (;;) {
      la_ssize_t n = ::archive_read_data(in, piece.data(), piece.size());
      if (n < 0) return archive_error(in);
      if (n == 0) return found;
      bytes_ += static_cast<std::size_t>(n);
      if (bytes_ > kMaxFixtureBytes) return invalid("more than " + std::to_string(kMaxFixtureBytes) + " bytes");
      found.content.append(piece.data(), static_cast<std::size_t>(n));
    }
  }

  Result<void> take_about(const std::string& text) {
    const Result<json::object> read = read_json_object(text);
    if (!read) return invalid("fixture.json: " + read.error().text);
    const json::object& object = *read;
    auto string_at = [&](const char* key) {
      const json::value* value = object.if_contains(key);
      return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
    };
    if (string_at("format") != kFixtureFormat)
      return invalid("fixture.json: expected the format '" + std::string(kFixtureFormat) + "', found '" +
                     string_at("format") + "'");
    fixture_.node_name = string_at("node");
    const json::value* start = object.if_contains("startNs");
    const json::value* frames = object.if_contains("framesNs");
    if (start == nullptr || !start->is_int64() || start->as_int64() < 0)
      return invalid("fixture.json: expected startNs, a number of nanoseconds");
    if (frames == nullptr || !frames->is_array() || frames->as_array().empty() ||
        frames->as_array().size() > kMaxFrames)
      return invalid("fixture.json: expected framesNs, 1 to " + std::to_string(kMaxFrames) + " times");
    fixture_.start_ns = start->as_int64();
    for (const json::value& at : frames->as_array()) {
      if (!at.is_int64() || at.as_int64() < (times_.empty() ? 0 : times_.back()))
        return invalid("fixture.json: expected framesNs that ascend from 0");
      times_.push_back(at.as_int64());
    }
    return {};
  }

  // Reads an entry "frames/3/proc/stat" or "frames/3.gone".
  Result<void> take_frame(const std::string& path, TreeEntry content) {
    std::string_view rest = path;
    if (rest == "frames" && content.type == TreeEntry::Type::directory) return {};
    auto top = next_field(rest, '/');
    if (top != "frames")
      return invalid("'" + path +
                     "' is not of a fixture; expected fixture.json, pods.json, node.json, node_slo.json or frames/…");
    auto number = next_field(rest, '/');
    bool gone = number && number->ends_with(".gone");
    if (gone) number->remove_suffix(5);
    Result<std::uint64_t> index = parse_uint(number.value_or(""));
    if (!index || *index >= kMaxFrames)
      return invalid("'" + path + "': expected frames/ and a number below " + std::to_string(kMaxFrames));
    if (frames_.size() <= *index) frames_.resize(*index + 1);
    if (gone) return take_gone(path, content.content, frames_[*index]);
    if (rest.empty() || rest.find('/') == std::string_view::npos) return {};  // the root folders of the trees
    if (!is_node_path(rest)) return invalid("'" + path + "': expected a path below proc, sys, cgroup, resctrl or run");
    frames_[*index].changed.insert_or_assign(std::string(rest), std::move(content));
    return {};
  }

  static Result<void> take_gone(const std::string& name, std::string_view list, Frame& frame) {
    while (auto path = next_field(list, '\n')) {
      if (path->empty()) continue;
      if (!is_node_path(*path))
        return invalid(name + ": '" + std::string(*path) + "' is not a path below proc, sys, cgroup, resctrl or run");
      frame.gone.emplace_back(*path);
    }
    return {};
  }

  Result<Fixture> finish() {
    if (times_.empty()) return invalid("expected a fixture.json, found none");
    if (frames_.size() > times_.size())
      return invalid("fixture.json lists " + std::to_string(times_.size()) + " frames, found " +
                     std::to_string(frames_.size()));
    frames_.resize(times_.size());
    for (std::size_t i = 0; i < frames_.size(); ++i) frames_[i].at = Duration(times_[i]);
    fixture_.frames = std::move(frames_);
    return std::move(fixture_);
  }

  Fixture fixture_;
  std::vector<std::int64_t> times_;
  std::vector<Frame> frames_;
  std::size_t entries_ = 0, bytes_ = 0;
};

}  // namespace

Result<Fixture> parse_fixture(std::string_view text) { return Reader().read(text); }

Result<Fixture> read_fixture(const std::string& path) {
  Result<std::string> text = read_file(path, kMaxFixtureBytes);
  if (!text) return std::move(text).error();
  Result<Fixture> fixture = parse_fixture(*text);
  if (!fixture) return std::move(fixture).error().context("'" + path + "'");
  return fixture;
}

}  // namespace koord::workshop
