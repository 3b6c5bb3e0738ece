#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <heistd/limits.hpp>
#include <heistd/memory_file.hpp>
#include <system_error>
#include <utility>

namespace heistd {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

MemoryFile::MemoryFile(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {
  if (descriptor_ < 0) fail("cannot make a file in memory");
}

MemoryFile::~MemoryFile() { ::close(descriptor_); }

Blocks MemoryFile::read() const {
  Blocks blocks;
  for (off_t offset = 0;;) {
    std::string block(block_bytes, '\0');
    const auto bytes = ::pread(descriptor_, block.data(), block.size(), offset);
    if (bytes < 0) fail("cannot read a file in memory");
    if (bytes == 0) return blocks;
    offset += bytes;
    block.resize(static_cast<std::size_t>(bytes));
    blocks.push_back(std::move(block));
  }
}

}  // namespace heistd
