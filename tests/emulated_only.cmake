# Tests of machines that only the emulator has.

# Pages as large as a slab.
add_test(NAME concurrent.with_pages_of_64_kib COMMAND heist_concurrent_tests --gtest_brief=1
  "--gtest_filter=NodePool.*:DepotTest.*")
set_tests_properties(concurrent.with_pages_of_64_kib PROPERTIES
  LABELS unit TIMEOUT 300 ENVIRONMENT QEMU_PAGESIZE=65536)

# An allocator that tags its addresses: a program has to end with a message.
add_test(NAME concurrent.with_tagged_addresses COMMAND sh -c "\"$@\" || :" sh
  ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:heist_concurrent_tests> "--gtest_filter=DepotTest.*")
set_tests_properties(concurrent.with_tagged_addresses PROPERTIES
  LABELS unit TIMEOUT 300 ENVIRONMENT "QEMU_CPU=max;GLIBC_TUNABLES=glibc.mem.tagging=3"
  PASS_REGULAR_EXPRESSION "an address of more than 48 bits")
