// The resident set of this process: memory that is in use, whichever allocator it comes from.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace bench {

[[nodiscard]] inline double resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  long total = 0;
  long resident = 0;
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) std::abort();
  std::fclose(file);
  return double(resident) * double(sysconf(_SC_PAGESIZE));
}

}  // namespace bench
