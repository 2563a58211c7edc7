#include "patcher/cli/command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace patcher {

int Command::run(Reporter& report) {
  const Series series = load_series(options.series, options.until, options.allow_empty);
  if (!series.errors.empty()) return report.malformed(series.errors);
  return run_on(series, report);
}

CLI::Option* Command::add_common(CLI::App& app, const std::vector<std::string>& formats) {
  app.add_option("--root", options.root, "The tree to patch; by default the working directory")
      ->option_text("DIR");
  CLI::Option* series =
      app.add_option("--series", options.series,
                     "The list of patches, which lie beside it; by default patches/series")
          ->option_text("FILE");
  app.add_option("--format", options.format, "How to report, by default as text")
      ->check(CLI::IsMember(formats))
      ->option_text(fmt::format("{}", fmt::join(formats, "|")));
  app.add_flag("--json", options.json,
               "The same as --format json; a run without a verdict gives an object with \"error\"");
  app.add_option("--color", options.color, "By default auto: on a terminal, and without NO_COLOR")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->option_text("auto|always|never");
  return series;
}

void Command::add_part(CLI::App& app) {
  app.add_option("--until", options.until, "Only the first N patches of the series")
      ->check(CLI::Range(0L, 1000000L))
      ->option_text("N");
  app.add_flag("--allow-empty-series", options.allow_empty, "A series without patches is no error");
}

void Command::add_expect_changes(CLI::App& app) {
  app.add_flag("--expect-changes", run_.expect_changes,
               "Exit with already_applied's code when there is nothing to do");
}

void Command::add_rev(CLI::App& app) {
  app.add_option("--rev", options.rev,
                 "Judge this git revision of the tree, or REV:DIRECTORY, without a checkout")
      ->option_text("REV");
}

void Command::add_base(CLI::App& app) {
  app.add_option("--base", options.base, "The tree that the patches were made from")
      ->option_text("DIR");
  app.add_option("--base-rev", options.base_rev,
                 "Take this git revision of --base, or REV:DIRECTORY, without a checkout; without "
                 "--base, of --root")
      ->option_text("REV");
}

void Command::add_follow_moves(CLI::App& app) {
  app.add_flag("--follow-moves", options.follow_moves,
               "Carry a change whose function or type is in another file now to that file");
}

void Command::add_out_dir(CLI::App& app, const std::string& description) {
  app.add_option("--out-dir", options.out_dir, description)->option_text("DIR");
}

}  // namespace patcher
