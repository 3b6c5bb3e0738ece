# Included where an emulator runs the tests: what they leave out there, and why.

# The reference shares no code with the library, and knows no threads.
list(REMOVE_ITEM folders reference)
set(options_of_history "--gtest_filter=HistoryOfThreads*")
# The server would have to be an emulated one, too.
list(REMOVE_ITEM folders postgresql)
# qemu aborts when a child of a program with threads starts a thread.
set(options_of_api "--gtest_filter=-Fork.child_when_it_makes_agents_of_its_own_*:Fork.child_when_forked_amid_*")
# qemu sets no limit of a program's memory (RLIMIT_AS).
set(options_of_concurrent "--gtest_filter=-Lif4.allocate_node_when_memory_runs_out_*")
set(options_of_heistd "--gtest_filter=-CompressWork.step_when_zstd_gets_no_memory_*")
# Their death tests start the program anew, without the emulator.
set(options_of_execution "--gtest_filter=-Close.start_when_*_ends_the_program*")
set(options_of_scopes "--gtest_filter=-*_then_the_program_ends:*_then_a_close_ends_the_program")
# Long ones, of what is the same on every processor.
set(options_of_counters "--gtest_filter=-Flat*")
set(options_of_parallel "--gtest_filter=-*input_has_any_shape*")
