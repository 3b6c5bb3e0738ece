#include "describe.hpp"

#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>

namespace heist::model {

namespace {

int base_of_program(dl_phdr_info* info, std::size_t /*size*/, void* base) {
  *static_cast<std::uintptr_t*>(base) = info->dlpi_addr;
  return 1;
}

}  // namespace

std::string describe(const void* code) {
  std::uintptr_t base = 0;
  dl_iterate_phdr(base_of_program, &base);
  std::array<char, 4096> text{};
  const auto length = readlink("/proc/self/exe", text.data(), text.size() - 1);
  if (length <= 0) return "?";
  const std::string program(text.data(), static_cast<std::size_t>(length));
  std::snprintf(text.data(), text.size(), "addr2line -Cfpse '%s' %#lx", program.c_str(),
                reinterpret_cast<std::uintptr_t>(code) - base - 1);
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(text.data(), "r"), pclose);
  std::string result;
  while (pipe && std::fgets(text.data(), static_cast<int>(text.size()), pipe.get()) != nullptr) {
    result += result.empty() ? "" : "      ";
    result += text.data();
  }
  while (!result.empty() && result.back() == '\n') result.pop_back();
  return result.empty() ? "?" : result;
}

const char* name_of(std::memory_order order) noexcept {
  static constexpr const char* names[] = {"relaxed", "consume", "acquire",
                                          "release", "acq_rel", "seq_cst"};
  return names[static_cast<std::size_t>(sync::unmarked(order))];
}

std::string place_of(const Where& where) {
  const std::string_view file = where.file_name();
  return std::string(file.substr(file.find_last_of('/') + 1)) + ":" + std::to_string(where.line());
}

}  // namespace heist::model
