// SPDX-License-Identifier: Apache-2.0
// koordctl sql: runs a SELECT on the file of the metric cache, read-only, even while the agent does not run.
#include "core/ctl/command.hpp"
#include "core/ctl/table.hpp"
#include "core/store/sql.hpp"
#include "core/ui/sql_json.hpp"

namespace koord::ctl {
namespace {

void describe_sql(po::options_description& options) {
  options.add_options()("db",
                        po::value<std::string>()->default_value("/var/lib/koordetector/metrics.db")->value_name("FILE"),
                        "the metric cache's file: store.path of the agent's configuration")(
      "limit", po::value<std::size_t>()->default_value(10'000)->value_name("N"), "print at most this many rows");
}

std::string as_table(const store::SqlResult& result) {
  std::vector<Column> columns;
  for (const std::string& name : result.columns) columns.push_back({name});
  Table table(std::move(columns));
  for (const std::vector<std::string>& row : result.rows) table.add(row);
  return table.render();
}

Result<void> run_sql_command(const Invocation& invocation) {
  store::SqlLimits limits;
  limits.max_rows = invocation.options["limit"].as<std::size_t>();
  store::SqlResult result = TRY(store::run_sql(invocation.text("db"), invocation.text("argument"), limits));
  invocation.out << (invocation.output == Output::json ? ui::sql_json(result) : as_table(result));
  if (result.truncated && invocation.output == Output::table)
    invocation.out << "… only the first " << limits.max_rows << " rows; see --limit\n";
  return {};
}

}  // namespace

const Command kSql{"sql",        "SELECT",        "Query the metric cache's tables `samples` and `series` in SQL.",
                   describe_sql, run_sql_command, true};

}  // namespace koord::ctl
