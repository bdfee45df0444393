// SPDX-License-Identifier: Apache-2.0
// Checks of a plugin's file before it is mapped: the pinned digest, the signature of a trusted key. file_trust.hpp
// checks that only root and our user can write plugins, signatures and keys.
//
// The hashed bytes are the mapped ones: the file is opened once and read whole, that copy is hashed and verified. The
// loader opens the path again, so the same inode with the same size and times must be found there after mapping, each
// time it is mapped. Only root and our user can change it in between. Such a change is detected, though after its
// constructors have run. Not detected are changes hidden by setting the clock or made within one tick of it, changes of
// libraries that the file needs, and later writes into the file. [any thread]
#pragma once

#include <string>
#include <vector>

#include "core/base/result.hpp"
#include "core/config/config.hpp"
#include "core/load/crypto.hpp"
#include "core/load/file_stamp.hpp"

namespace koord::load {

struct TrustedKey {
  std::string path;
  PublicKey key;

  bool operator==(const TrustedKey&) const = default;
};

// One key from each PEM file; an error names the file.
Result<std::vector<TrustedKey>> read_trusted_keys(const std::vector<std::string>& paths);

// Requirements for one plugin's file. A signature is FILE.sig: the 64 bytes of Ed25519 over the file's bytes. Without
// keys it cannot be verified, so it is not read.
struct ContentDemand {
  config::Trust trust = config::Trust::any;
  std::string sha256;  // the pin; "" = none
  std::vector<TrustedKey> keys;

  bool operator==(const ContentDemand&) const = default;
};

struct CheckedFile {
  FileVersion stamp;
  bool content_was_read = false;  // something was asked of it
};

// `path` is what check_trusted_file() gave.
Result<CheckedFile> check_content(const std::string& path, const ContentDemand& demand);

}  // namespace koord::load
