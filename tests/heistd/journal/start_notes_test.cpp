// Notes of attempts that are under way, in a file beside the database.
#include <gmock/gmock.h>

#include <fstream>
#include <heistd/journal/start_notes.hpp>

#include "journal_fixture.hpp"

namespace heistd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class StartNotesTest : public testing::Test {
 protected:
  std::filesystem::path file() const { return directory.path() / "starts"; }
  /// Such as "2 of 00..07".
  std::vector<std::string> left() const {
    std::vector<std::string> notes;
    for (const auto& note : StartNotes::left_in(directory.path())) {
      notes.push_back(std::to_string(note.attempt) + " of " + note.id);
    }
    return notes;
  }
  void overwrite(std::streamoff place, std::string_view text) const {
    std::fstream notes(file(), std::ios::in | std::ios::out | std::ios::binary);
    notes.seekp(place);
    notes << text;
  }

  const ScratchDirectory directory;
};

TEST_F(StartNotesTest, left_in_then_what_was_written_last_in_each_place_is_read) {
  EXPECT_THAT(left(), IsEmpty());
  StartNotes notes(directory.path());
  EXPECT_THAT(left(), IsEmpty());
  notes.write(0, id_of(5), 12);
  notes.write(1, id_of(6), 1);
  notes.write(0, id_of(7), 2);
  EXPECT_THAT(left(), ElementsAre("2 of " + id_of(7), "1 of " + id_of(6)));
}

// Rule: JRN-1
TEST_F(StartNotesTest, left_in_when_notes_are_damaged_then_the_others_are_read) {
  constexpr std::streamoff note_bytes = 64;
  StartNotes notes(directory.path());
  for (int place = 0; place < 6; ++place) {
    notes.write(static_cast<std::size_t>(place), id_of(place), 1);
  }
  overwrite(0, "not a job's id");
  overwrite(1 * note_bytes + 33, "x");
  overwrite(2 * note_bytes + 33, "0");
  overwrite(3 * note_bytes, std::string(note_bytes, '\0'));
  overwrite(4 * note_bytes, id_of(9).replace(0, 1, "a"));  // of another note, a part
  overwrite(6 * note_bytes, id_of(6) + " 1  ");
  EXPECT_THAT(left(), ElementsAre("1 of " + id_of(5)));
}

TEST_F(StartNotesTest, write_when_another_process_has_the_directory_then_its_notes_stay) {
  StartNotes lost(directory.path());
  lost.write(0, id_of(1), 1);
  StartNotes notes(directory.path());
  notes.write(0, id_of(2), 1);
  EXPECT_THROW(lost.write(0, id_of(3), 1), SqliteError);
  EXPECT_THAT(left(), ElementsAre("1 of " + id_of(2)));
}

TEST_F(StartNotesTest, begin_when_the_file_cannot_be_made_then_refused) {
  EXPECT_THROW(StartNotes(directory.path() / "gone"), JournalRefused);
}

}  // namespace
}  // namespace heistd
