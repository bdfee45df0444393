// SPDX-License-Identifier: Apache-2.0
#include "core/load/file_content.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "core/base/file.hpp"
#include "plugin_shelf.hpp"
#include "signer.hpp"

using namespace koord;
using namespace koord::load;
using config::Trust;
using koord::test::PluginShelf;
using koord::test::Signer;

namespace {

struct FileContentFixture {
  PluginShelf shelf{"puppet", "second"};
  std::string file = shelf.file("puppet");
  Signer ours, theirs;
  std::string our_key = ours.publish(shelf.path() + "/ours.pem");
  std::string their_key = theirs.publish(shelf.path() + "/theirs.pem");

  std::string digest() const { return *sha256_of(*read_file(file)); }
  void write(const std::string& path, const std::string& content) const {
    REQUIRE(write_file_atomically(path, content));
  }
  ContentDemand keys(Trust trust, const std::vector<std::string>& paths) const {
    return {trust, {}, *read_trusted_keys(paths)};
  }
  ContentDemand pin(const std::string& sha256) const { return {Trust::any, sha256, {}}; }
  ContentDemand our_signature() const { return keys(Trust::signature, {our_key}); }
  // Returns "" if the file has the required content.
  std::string refusal(const ContentDemand& demand) const {
    Result<CheckedFile> checked = check_content(file, demand);
    return checked ? "" : checked.error().message();
  }
};

std::string refusal_of_key(const std::string& path) {
  auto keys = read_trusted_keys({path});
  return keys ? "" : keys.error().message();
}

}  // namespace

TEST_CASE("SHA-256 and Ed25519 give what FIPS 180-4 and RFC 8032 say") {
  CHECK(*sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(*sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  const PublicKey key{0x3d, 0x40, 0x17, 0xc3, 0xe8, 0x43, 0x89, 0x5a, 0x92, 0xb7, 0x0a, 0xa7, 0x4d, 0x1b, 0x7e, 0xbc,
                      0x9c, 0x98, 0x2c, 0xcf, 0x2e, 0xc4, 0x96, 0x8c, 0xc0, 0xcd, 0x55, 0xf1, 0x2a, 0xf4, 0x66, 0x0c};
  const std::string signature(
      "\x92\xa0\x09\xa9\xf0\xd4\xca\xb8\x72\x0e\x82\x0b\x5f\x64\x25\x40\xa2\xb2\x7b\x54\x16\x50\x3f\x8f\xb3\x76\x22\x23"
      "\xeb\xdb\x69\xda\x08\x5a\xc1\xe4\x3e\x15\x99\x6e\x45\x8f\x36\x13\xd0\xf1\x1d\x8c\x38\x7b\x2e\xae\xb4\x30\x2a\xee"
      "\xb0\x0d\x29\x16\x12\xbb\x0c\x00",
      64);
  CHECK(*verify(key, signature, "\x72"));
  CHECK_FALSE(*verify(key, signature, "\x73"));
}

TEST_CASE_FIXTURE(FileContentFixture, "a file of which nothing is asked is not read") {
  auto checked = check_content(file, {});
  REQUIRE(checked);
  CHECK_FALSE(checked->content_was_read);
}

TEST_CASE_FIXTURE(FileContentFixture, "the right pin is enough, in each mode but 'signed'") {
  CHECK(refusal({Trust::any, digest(), {}}) == "");
  CHECK(refusal({Trust::pinned, digest(), {}}) == "");
  CHECK(check_content(file, pin(digest()))->content_was_read);
}

TEST_CASE_FIXTURE(FileContentFixture, "a wrong pin is refused with both digests") {
  const std::string wrong(64, 'a');
  CHECK(refusal(pin(wrong)) == "'" + file + "': expected sha256 " + wrong + ", found " + digest());
}

TEST_CASE_FIXTURE(FileContentFixture, "'pinned' refuses a file without a pin, signed or not") {
  ours.sign_file(file);
  CHECK(refusal(keys(Trust::pinned, {our_key})) ==
        "'" + file + "': expected its sha256 in plugins.settings, as plugins.trust is 'pinned', found none");
}

TEST_CASE_FIXTURE(FileContentFixture, "a signature by any of the trusted keys is enough") {
  ours.sign_file(file);
  CHECK(refusal(our_signature()) == "");
  CHECK(refusal(keys(Trust::signature, {their_key, our_key})) == "");
}

TEST_CASE_FIXTURE(FileContentFixture, "a signature by another key is refused with the keys that were tried") {
  Signer().sign_file(file);
  CHECK(refusal(keys(Trust::signature, {our_key, their_key})) ==
        "'" + file + ".sig': expected a signature of '" + file + "' by one of the keys '" + our_key + "', '" +
            their_key + "', found a signature by none of them; the file has sha256 " + digest());
}

TEST_CASE_FIXTURE(FileContentFixture, "a signature of another file is refused") {
  ours.sign_file(shelf.file("second"));
  std::filesystem::rename(shelf.file("second") + ".sig", file + ".sig");
  CHECK(refusal(our_signature()).starts_with("'" + file + ".sig': expected a signature of '" + file + "'"));
}

TEST_CASE_FIXTURE(FileContentFixture, "'signed' refuses a file without a signature") {
  CHECK(refusal(our_signature()) ==
        "expected a signature in '" + file + ".sig', as plugins.trust is 'signed', found none");
  CHECK(refusal({Trust::signature, digest(), {}}) != "");
}

TEST_CASE_FIXTURE(FileContentFixture, "a signature must be 64 bytes long") {
  for (std::size_t length : {0, 1, 63, 65, 128}) {
    write(file + ".sig", std::string(length, 'x'));
    CHECK(refusal(our_signature()) ==
          "'" + file + ".sig': expected an Ed25519 signature of 64 bytes, found " + std::to_string(length));
  }
}

TEST_CASE_FIXTURE(FileContentFixture,
                  "a signature is optional otherwise, and is verified if it exists and there are keys") {
  const ContentDemand demand = keys(Trust::any, {our_key});
  CHECK(refusal(demand) == "");
  theirs.sign_file(file);
  CHECK(refusal(demand) != "");
  CHECK(refusal({}) == "");  // no signature can be checked
  CHECK(refusal({Trust::pinned, digest(), demand.keys}) != "");
}

TEST_CASE_FIXTURE(FileContentFixture, "a signature does not make up for a wrong pin") {
  ours.sign_file(file);
  ContentDemand demand = our_signature();
  demand.sha256 = std::string(64, 'a');
  CHECK(refusal(demand).ends_with("found " + digest()));
}

TEST_CASE_FIXTURE(FileContentFixture, "a signature that others can write is refused, and a link to elsewhere") {
  ours.sign_file(file);
  ::chmod((file + ".sig").c_str(), 0666);
  CHECK(refusal(our_signature()).ends_with("found mode 0666"));
  PluginShelf elsewhere;
  std::filesystem::rename(file + ".sig", elsewhere.file("sig"));
  std::filesystem::create_symlink(elsewhere.file("sig"), file + ".sig");
  CHECK(refusal(our_signature()).ends_with("found a link to '" + elsewhere.file("sig") + "'"));
}

TEST_CASE_FIXTURE(FileContentFixture, "a key that cannot be read is an error that names its file") {
  CHECK(refusal_of_key("/no/such.pem") ==
        "plugins.trustedKeys: cannot resolve '/no/such.pem': No such file or directory");
  ::chmod(our_key.c_str(), 0666);
  CHECK(refusal_of_key(our_key) ==
        "plugins.trustedKeys: '" + our_key + "': expected no write permission for group and others, found mode 0666");
}

TEST_CASE_FIXTURE(FileContentFixture, "a file that is not a public Ed25519 key is an error that names it") {
  const std::string no_key = "plugins.trustedKeys: '" + our_key + "': expected a public key in PEM, found none";
  for (const std::string& content : {std::string(), std::string("no key"), ours.private_pem(),
                                     ours.private_pem("secret"), ours.public_pem().substr(0, 60)}) {
    write(our_key, content);
    CHECK(refusal_of_key(our_key) == no_key);
  }
  for (const char* other : {"X25519", "ED448"}) {
    Signer(other).publish(our_key);
    CHECK(refusal_of_key(our_key) ==
          "plugins.trustedKeys: '" + our_key + "': expected an Ed25519 key, found another kind");
  }
}

TEST_CASE_FIXTURE(FileContentFixture, "property: if any byte of the file changes, neither pin nor signature matches") {
  const std::string content = read_file(file)->substr(0, 600);
  write(file, content);
  ours.sign_file(file);
  const ContentDemand pinned = pin(digest()), is_signed = our_signature();
  REQUIRE(refusal(pinned) == "");
  REQUIRE(refusal(is_signed) == "");
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < content.size(); ++at) {
    std::string changed = content;
    changed[at] = static_cast<char>(changed[at] ^ (1 << at % 8));
    write(file, changed);
    accepted += refusal(pinned).empty() + refusal(is_signed).empty();
  }
  for (const std::string& changed : {content + '\0', content.substr(1), content.substr(0, 599), std::string()}) {
    write(file, changed);
    accepted += refusal(pinned).empty() + refusal(is_signed).empty();
  }
  CHECK(accepted == 0);
}

TEST_CASE_FIXTURE(FileContentFixture, "property: with any one bit of the signature changed it does not fit") {
  ours.sign_file(file);
  const std::string signature = *read_file(file + ".sig");
  const ContentDemand demand = our_signature();
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < 8 * signature.size(); ++bit) {
    std::string changed = signature;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    write(file + ".sig", changed);
    accepted += refusal(demand).empty();
  }
  CHECK(accepted == 0);
}

TEST_CASE_FIXTURE(FileContentFixture, "a file that was written to or replaced after the check is found out") {
  const FileVersion stamp = check_content(file, pin(digest()))->stamp;
  CHECK(check_unchanged(file, stamp));
  const std::string content = *read_file(file);
  write(file, content);  // the same bytes in a different file
  CHECK(check_unchanged(file, stamp)
            .error()
            .message()
            .starts_with("'" + file + "': expected the file that was mapped, inode " + std::to_string(stamp.inode) +
                         " of "));
  const FileVersion second = *stamp_of(file);
  std::filesystem::last_write_time(file, std::filesystem::last_write_time(file) - std::chrono::hours(1));
  CHECK_FALSE(check_unchanged(file, second));
}

TEST_CASE_FIXTURE(FileContentFixture, "the manual's three commands make a key, a signature and a pin") {
  if (std::system("command -v openssl >/dev/null") != 0) {
    MESSAGE("SKIPPED: there is no openssl program");
    return;
  }
  const std::string at = "cd " + shelf.path() + " && umask 022 && ";
  REQUIRE(std::system((at + "openssl genpkey -algorithm ed25519 -out acme.key && "
                            "openssl pkey -in acme.key -pubout -out acme.pem")
                          .c_str()) == 0);
  REQUIRE(std::system((at + "openssl pkeyutl -sign -rawin -inkey acme.key -in puppet.so -out puppet.so.sig").c_str()) ==
          0);
  REQUIRE(std::system((at + "sha256sum puppet.so | cut -c-64 | tr -d '\\n' > pin").c_str()) == 0);
  ContentDemand demand = keys(Trust::signature, {shelf.path() + "/acme.pem"});
  demand.sha256 = *read_file(shelf.path() + "/pin");
  CHECK(refusal(demand) == "");
}
