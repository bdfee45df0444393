// SPDX-License-Identifier: Apache-2.0
#include "core/scrape/scrape.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/base/path.hpp"
#include "core/base/program.hpp"
#include "core/http/client.hpp"
#include "core/http/location.hpp"

namespace koord::scrape {
namespace {

// OpenMetrics is preferred, because only that format has units.
constexpr const char* kAccept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
constexpr std::size_t kMaxToken = 64 << 10;

std::size_t limit_of(std::uint64_t wanted, std::size_t usual, std::size_t most) {
  return wanted == 0 ? usual : static_cast<std::size_t>(std::min<std::uint64_t>(wanted, most));
}

// Reads a regular file only, because opening a pipe would block, and a device never ends.
Result<std::string> read_regular_file(const std::string& path, std::size_t max_bytes, int flags) {
  const UniqueFd fd = TRY(open_at(AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | flags));
  struct stat status;
  if (::fstat(fd.get(), &status) != 0) return system_error(errno, "'" + path + "'");
  if (!S_ISREG(status.st_mode)) return invalid("'" + path + "': found no regular file, expected one");
  return read_all(fd.get(), path, max_bytes);
}

// Returns the header Authorization. The file is read for each scrape, because tokens of service accounts change every
// hour.
Result<std::string> authorization_of(const std::string& token_file) {
  const std::string content = TRY(read_regular_file(token_file, kMaxToken, 0));
  const std::string_view token = trim(content);
  const bool is_token =
      !token.empty() && std::all_of(token.begin(), token.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!is_token) return invalid("'" + token_file + "': found no token, expected one line of printable characters");
  return "Bearer " + std::string(token);
}

std::string path_of(const UniqueFd& fd) { return "/proc/self/fd/" + std::to_string(fd.get()); }

struct Text {
  std::string what, body;
  exposition::Syntax syntax = exposition::Syntax::text;
  ByteShare memory = {};  // memory of the body
};

// Appends a piece. While the text is moved to larger memory, it exists twice.
Result<void> append(std::string& text, std::string_view piece, ByteShare& memory) {
  const std::size_t moved = text.size() + piece.size() > text.capacity() ? text.size() : 0;
  TRY(memory.grow(piece.size() + moved));
  text += piece;
  memory.shrink(moved);
  return {};
}

Result<Text> text_of_file(const ScrapeTarget& target) {
  const std::string path = target.url.substr(kFileScheme.size());
  // O_NOFOLLOW: the owner of the file's directory must not make the agent read a different user's file and show parts
  // of it.
  std::string body =
      TRY(read_regular_file(path, limit_of(target.max_body_bytes, kDefaultMaxBody, kMostMaxBody), O_NOFOLLOW));
  return Text{"'" + path + "'", std::move(body)};
}

bool is_within(const std::vector<std::string>& granted, const std::string& path) {
  return std::any_of(granted.begin(), granted.end(), [&](const std::string& one) {
    return is_at_or_below(path, one) || (one.ends_with('/') && path.starts_with(one));
  });
}

// Opens a granted socket. A third-party plugin may have written the socket's directory. So the socket is opened before
// its path is compared, and the client connects to the path of the descriptor. No link can redirect it in between.
Result<UniqueFd> granted_socket(const std::string& path, const service::Rights& rights) {
  UniqueFd socket = TRY(open_at(AT_FDCWD, path, O_PATH | O_CLOEXEC));
  std::error_code failed;
  const std::string found = std::filesystem::read_symlink(path_of(socket), failed).string();
  if (failed || !is_within(rights.sockets, found))
    return invalid("'" + path + "': found a socket that is not granted; writePaths: [" + path +
                   "] in the plugin's settings allows it");
  return socket;
}

// Fails for an endpoint that is not granted, because the agent can reach more endpoints than a third-party plugin, and
// with other rights.
Result<void> check_endpoint(const ScrapeTarget& target, bool is_unix, const service::Rights& rights) {
  if (rights.host_plugin || (rights.network & (is_unix ? kNetworkUnix : kNetworkTcp)) != 0) return {};
  return invalid("'" + target.url.substr(0, 200) + "': found an endpoint that is not granted; network: [" +
                 (is_unix ? "unix" : "tcp") + "] in the plugin's settings allows it");
}

Result<Text> text_of_endpoint(const ScrapeTarget& target, const ScrapeLimits& limits) {
  const http::Location location = TRY(http::parse_location(target.url));
  const bool is_unix = location.endpoint.starts_with('/');
  TRY(check_endpoint(target, is_unix, limits.rights));
  UniqueFd socket;
  if (is_unix && !limits.rights.host_plugin) socket = TRY(granted_socket(location.endpoint, limits.rights));
  Text text{
      .what = "'" + location.endpoint + "': '" + location.target + "'", .body = {}, .memory = ByteShare(limits.memory)};
  http::ClientOptions options{
      .timeout = limits.timeout,
      .headers = {{"Host", location.host}, {"Accept", kAccept}, {"User-Agent", user_agent()}},
      .max_body = limit_of(target.max_body_bytes, kDefaultMaxBody, kMostMaxBody),
      .cancel_fd = limits.stop_fd,
      .on_body = [&text](std::string_view piece) { return append(text.body, piece, text.memory); }};
  if (!target.token_file.empty())
    options.headers.emplace_back("Authorization", TRY(authorization_of(target.token_file)));
  if (location.tls)
    options.tls = {.ca_file = target.ca_file,
                   .certificate_file = target.certificate_file,
                   .key_file = target.key_file,
                   .server_name = target.server_name.empty() ? location.server_name : target.server_name};
  const http::ClientResponse response =
      TRY(http::get(socket ? path_of(socket) : location.endpoint, location.target, options));
  if (response.status != 200)
    return invalid(text.what + ": found status " + std::to_string(response.status) + ", expected 200");
  text.syntax = exposition::syntax_of(response.header("Content-Type").value_or(""));
  return text;
}

}  // namespace

Result<exposition::Document> scrape(const ScrapeTarget& target, const ScrapeLimits& limits) {
  if (target.reads_files() && !limits.rights.host_plugin)
    return invalid("'" + target.url +
                   "': found a file of the host, expected that of plugins of plugins.ownDirectories alone");
  Text text = TRY(target.url.starts_with(kFileScheme) ? text_of_file(target) : text_of_endpoint(target, limits));
  exposition::DocumentLimits most;
  most.samples = limit_of(target.max_samples, most.samples, kMostMaxSamples);
  auto document = exposition::Document::read(std::move(text.body), text.syntax, most, std::move(text.memory));
  if (!document) return std::move(document).error().context(text.what);
  return document;
}

}  // namespace koord::scrape
