// SPDX-License-Identifier: Apache-2.0
// Shared by the reader and the writer of a fixture's tar file. Inside core/workshop only.
#pragma once

#include <archive.h>

#include <memory>
#include <string_view>

#include "core/base/result.hpp"

namespace koord::workshop {

inline constexpr std::string_view kFixtureFormat = "koord-fixture/1";

struct FreeArchive {
  void operator()(archive* a) const { ::archive_free(a); }
};
using Archive = std::unique_ptr<archive, FreeArchive>;

inline Error archive_error(archive* a) {
  const char* text = ::archive_error_string(a);
  return invalid(text != nullptr ? text : "no tar file");
}

}  // namespace koord::workshop
