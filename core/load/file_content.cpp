// SPDX-License-Identifier: Apache-2.0
#include "core/load/file_content.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <span>

#include "core/base/file.hpp"
#include "core/base/parse.hpp"
#include "core/load/elf_section.hpp"
#include "core/load/file_trust.hpp"

namespace koord::load {
namespace {

constexpr std::size_t kMaxPemBytes = 64u << 10;
constexpr std::size_t kMaxSignatureFile = 64u << 10;

// Returns the content of the signature file; nullopt if there are no keys to verify it, or if it is missing and not
// required.
Result<std::optional<std::string>> find_signature(const std::string& path, const ContentDemand& demand) {
  const bool must = demand.trust == config::Trust::signature;
  if (demand.keys.empty() && !must) return std::optional<std::string>();
  const std::string beside = path + ".sig";
  const Result<std::string> real = check_trusted_file(std::filesystem::path(path).parent_path().string(), beside);
  if (!real && real.error().is(std::errc::no_such_file_or_directory)) {
    if (!must) return std::optional<std::string>();
    return invalid("expected a signature in '" + beside + "', as plugins.trust is 'signed', found none");
  }
  if (!real) return real.error();
  const std::string signature = TRY(read_file(*real, kMaxSignatureFile));
  if (signature.size() != kSignatureBytes) {
    return invalid("'" + beside + "': expected an Ed25519 signature of " + std::to_string(kSignatureBytes) +
                   " bytes, found " + std::to_string(signature.size()));
  }
  return std::optional(signature);
}

Result<std::string> read_bytes(int fd, const std::string& path, const FileVersion& stamp) {
  if (stamp.size > kMaxFileBytes) {
    return invalid("'" + path + "': expected at most " + std::to_string(kMaxFileBytes) + " bytes, found " +
                   std::to_string(stamp.size));
  }
  std::string bytes(stamp.size, '\0');
  const ByteSource source = TRY(bytes_of_file(fd));
  TRY(source.read(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

Result<void> check_signature(const std::string& path, const std::string& signature, const std::string& bytes,
                             const std::string& sha256, const std::vector<TrustedKey>& keys) {
  std::vector<std::string> tried;
  for (const TrustedKey& key : keys) {
    if (TRY(verify(key.key, signature, bytes))) return {};
    tried.push_back("'" + key.path + "'");
  }
  return invalid("'" + path + ".sig': expected a signature of '" + path + "' by one of the keys " + join(tried, ", ") +
                 ", found a signature by none of them; the file has sha256 " + sha256);
}

Result<TrustedKey> read_trusted_key(const std::string& path) {
  const std::string real = TRY(check_trusted_file(path));
  const std::string pem = TRY(read_file(real, kMaxPemBytes));
  Result<PublicKey> key = read_public_key(pem);
  if (!key) return std::move(key).error().context("'" + path + "'");
  return TrustedKey{path, *key};
}

}  // namespace

Result<std::vector<TrustedKey>> read_trusted_keys(const std::vector<std::string>& paths) {
  std::vector<TrustedKey> keys;
  for (const std::string& path : paths) {
    Result<TrustedKey> key = read_trusted_key(path);
    if (!key) return std::move(key).error().context("plugins.trustedKeys");
    keys.push_back(*std::move(key));
  }
  return keys;
}

Result<CheckedFile> check_content(const std::string& path, const ContentDemand& demand) {
  if (demand.trust == config::Trust::pinned && demand.sha256.empty())
    return invalid("'" + path + "': expected its sha256 in plugins.settings, as plugins.trust is 'pinned', found none");
  const std::optional<std::string> signature = TRY(find_signature(path, demand));
  const UniqueFd file = TRY(open_at(AT_FDCWD, path, O_RDONLY | O_NONBLOCK));
  struct stat about;
  if (::fstat(file.get(), &about) != 0) return system_error(errno, "cannot stat '" + path + "'");
  const FileVersion stamp = version_from(about);
  if (demand.sha256.empty() && !signature) return CheckedFile{stamp, false};
  const std::string bytes = TRY(read_bytes(file.get(), path, stamp));
  const std::string sha256 = TRY(sha256_of(bytes));
  if (!demand.sha256.empty() && demand.sha256 != sha256)
    return invalid("'" + path + "': expected sha256 " + demand.sha256 + ", found " + sha256);
  if (signature) TRY(check_signature(path, *signature, bytes, sha256, demand.keys));
  return CheckedFile{stamp, true};
}

}  // namespace koord::load
