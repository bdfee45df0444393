// SPDX-License-Identifier: Apache-2.0
// What a plugin's file must contain before it is mapped: the digest that is pinned, what a trusted key has signed.
// That nobody but root and our user can write it is file_trust.hpp's part, of plugins, signatures and keys alike.
//
// What was hashed is what is mapped: the file is opened once and read whole, that copy is hashed and verified. The
// loader opens the path again, so the same inode with the same size and times must be found there after mapping, each
// time it is mapped. Only root and our user can make it another in between. If they do, it is found, though after its
// constructors have run. Not found is what they hide by setting the clock or within one tick of it, what they do to
// libraries that the file needs, and what they write into it later. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/host/crypto.hpp"
#include "core/host/file_stamp.hpp"

namespace koord::host {

struct TrustedKey {
  std::string path;
  PublicKey key;

  bool operator==(const TrustedKey&) const = default;
};

// One key from each PEM file; an error names the file.
Result<std::vector<TrustedKey>> read_trusted_keys(const std::vector<std::string>& paths);

// What is asked of one plugin's file. A signature is FILE.sig: the 64 bytes of Ed25519 over the file's bytes. Without
// keys nobody can tell whether it is right, so it is not looked at.
struct ContentDemand {
  config::Trust trust = config::Trust::any;
  std::string sha256;  // the pin; "" = none
  std::vector<TrustedKey> keys;

  bool operator==(const ContentDemand&) const = default;
};

struct CheckedFile {
  FileStamp stamp;
  bool content_was_read = false;  // something was asked of it
};

// `path` is what check_trusted_file() gave.
Result<CheckedFile> check_content(const std::string& path, const ContentDemand& demand);

}  // namespace koord::host
