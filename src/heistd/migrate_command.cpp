#include <CLI/CLI.hpp>
#include <heistd/migrate_command.hpp>
#include <heistd/postgresql/postgres_schema.hpp>
#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace heistd {
namespace {

std::string outcome(int found) {
  const auto now = std::to_string(schema_version);
  if (found == 0) return "has the schema \"heistd\" now, version " + now;
  if (found == schema_version) return "has version " + now + " already; nothing was changed";
  return "was brought from version " + std::to_string(found) + " to " + now;
}

}  // namespace

bool asks_to_migrate(int argc, const char* const* argv) noexcept {
  return argc > 1 && std::string_view(argv[1]) == "migrate";
}

int run_migrate(int argc, const char* const* argv) {
  CLI::App app(
      "Makes the tables in a database of PostgreSQL that servers with --journal share, or "
      "brings them to the version of this program",
      "heistd migrate");
  std::string target;
  app.add_option("--journal", target, "As of heistd: postgresql://USER@HOST/DATABASE")
      ->type_name("URI")
      ->envname("HEISTD_JOURNAL")
      ->required();
  try {
    app.parse(argc - 1, argv + 1);
    std::cout << "heistd: the database " << outcome(migrate(target)) << std::endl;
    return 0;
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  } catch (const std::exception& error) {
    std::cerr << "heistd: migrate: " << error.what() << std::endl;
    return 1;
  }
}

}  // namespace heistd
