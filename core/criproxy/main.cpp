// SPDX-License-Identifier: Apache-2.0
// koord-cri-proxy: a proxy between a kubelet and a container runtime. Exit status: 0 after a requested end, 1 if it
// could not run, 2 if the command line is wrong.
#include <iostream>

#include "core/base/version.hpp"
#include "core/criproxy/options.hpp"
#include "core/criproxy/program.hpp"

int main(int argc, char** argv) {
  const auto options = koord::criproxy::parse_options({argv + 1, argv + argc});
  if (!options) {
    std::cerr << "koord-cri-proxy: " << options.error().message() << "\n";
    return 2;
  }
  switch (options->action) {
    case koord::criproxy::Options::Action::help:
      std::cout << koord::criproxy::usage();
      return 0;
    case koord::criproxy::Options::Action::version:
      std::cout << "koord-cri-proxy " << koord::kVersion << "\n";
      return 0;
    case koord::criproxy::Options::Action::run:
      return koord::criproxy::run(*options);
  }
}
