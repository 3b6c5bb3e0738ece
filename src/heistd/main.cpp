// heistd: a job server on a cluster of agents, with three kinds of jobs.
#include <exception>
#include <heist/jobs.hpp>
#include <heistd/builtin/builtin_kinds.hpp>
#include <iostream>
#include <jobs/server_core.hpp>

int main(int argc, char** argv) {
  try {
    heist::jobs::Server server;
    heistd::add_builtin_kinds(heistd::kinds_of(server));
    return server.run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "heistd: " << error.what() << std::endl;
    return 1;
  }
}
