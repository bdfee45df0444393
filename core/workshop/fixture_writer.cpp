// SPDX-License-Identifier: Apache-2.0
// Writes a fixture to a tar file.
#include <archive_entry.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <utility>

#include "core/base/parse.hpp"
#include "core/workshop/archive.hpp"
#include "core/workshop/fixture.hpp"

namespace koord::workshop {
namespace json = boost::json;
namespace {

class Writer {
 public:
  static Result<void> write(const Fixture& fixture, const std::string& path) {
    Archive out(::archive_write_new());
    ::archive_write_set_format_pax_restricted(out.get());
    if (path.ends_with(".gz") || path.ends_with(".tgz")) ::archive_write_add_filter_gzip(out.get());
    const std::string unfinished = path + ".part";
    if (::archive_write_open_filename(out.get(), unfinished.c_str()) != ARCHIVE_OK)
      return archive_error(out.get()).context("'" + path + "'");
    Writer writer(out.get(), fixture.start_ns / 1'000'000'000);
    Result<void> written = writer.put_all(fixture);
    if (written && ::archive_write_close(out.get()) != ARCHIVE_OK) written = archive_error(out.get());
    std::error_code error;
    if (written) std::filesystem::rename(unfinished, path, error);
    if (written && !error) return {};
    std::error_code ignored;
    std::filesystem::remove(unfinished, ignored);
    return (written ? system_error(error.value(), {}) : std::move(written).error()).context("'" + path + "'");
  }

 private:
  Writer(archive* out, std::int64_t seconds)
      : out_(out), seconds_(seconds), entry_(::archive_entry_new(), ::archive_entry_free) {}

  Result<void> put_all(const Fixture& fixture) {
    json::array times;
    for (const Frame& frame : fixture.frames) times.emplace_back(frame.at.count());
    TRY(put("fixture.json", {TreeEntry::Type::file, json::serialize(json::object{{"format", kFixtureFormat},
                                                                                 {"node", fixture.node_name},
                                                                                 {"startNs", fixture.start_ns},
                                                                                 {"framesNs", times}}) +
                                                        "\n"}));
    const std::pair<const char*, const std::string*> texts[] = {{"pods.json", &fixture.state.pods},
                                                                {"node.json", &fixture.state.node},
                                                                {"node_slo.json", &fixture.state.node_slo}};
    for (const auto& [name, text] : texts)
      if (!text->empty()) TRY(put(name, {TreeEntry::Type::file, *text}));
    for (std::size_t i = 0; i < fixture.frames.size(); ++i)
      TRY(put_frame("frames/" + std::to_string(i), fixture.frames[i]));
    return {};
  }

  Result<void> put_frame(const std::string& name, const Frame& frame) {
    if (!frame.gone.empty()) TRY(put(name + ".gone", {TreeEntry::Type::file, join(frame.gone, "\n") + "\n"}));
    for (const auto& [path, entry] : frame.changed) TRY(put(name + "/" + path, entry));
    return {};
  }

  Result<void> put(const std::string& name, const TreeEntry& content) {
    using enum TreeEntry::Type;
    archive_entry* entry = ::archive_entry_clear(entry_.get());
    ::archive_entry_set_pathname(entry, name.c_str());
    ::archive_entry_set_mtime(entry, seconds_, 0);
    ::archive_entry_set_filetype(entry, content.type == file ? AE_IFREG : content.type == link ? AE_IFLNK : AE_IFDIR);
    ::archive_entry_set_perm(entry, content.type == directory ? 0755 : 0644);
    if (content.type == link) ::archive_entry_set_symlink(entry, content.content.c_str());
    ::archive_entry_set_size(entry, content.type == file ? static_cast<la_int64_t>(content.content.size()) : 0);
    if (::archive_write_header(out_, entry) != ARCHIVE_OK) return archive_error(out_).context(name);
    if (content.type != file || content.content.empty()) return {};
    if (::archive_write_data(out_, content.content.data(), content.content.size()) < 0)
      return archive_error(out_).context(name);
    return {};
  }

  archive* out_;
  std::int64_t seconds_;
  std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry_;
};

}  // namespace

Result<void> write_fixture(const Fixture& fixture, const std::string& path) { return Writer::write(fixture, path); }

}  // namespace koord::workshop
