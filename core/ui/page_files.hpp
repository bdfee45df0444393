// SPDX-License-Identifier: Apache-2.0
// The files of core/ui/page and the chart library, compressed, as embed_page.py writes them into the program. Constant;
// any thread.
#pragma once

#include <span>
#include <string_view>

namespace koord::ui {

struct PageFile {
  std::string_view path;  // "/style.css"
  std::string_view content_type;
  std::string_view gzip;
};

// Returns the files, sorted by name.
std::span<const PageFile> page_files();

}  // namespace koord::ui
