// Followers: jobs that are to start after others, and those that their ends concern.
#pragma once

#include <array>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace heistd {

/// The jobs of one client that follow unfinished ones. What an end means for many of them is for
/// its caller to settle, one by one.
///
/// Thread: the network's.   Cost: O(1) each, whatever the number of followers.
class Followers {
 public:
  /// The bits of a JobId.
  using Id = std::array<std::uint64_t, 2>;
  /// What a follower takes here.
  static constexpr std::size_t record_bytes = 192;

  Followers() = default;
  Followers(const Followers&) = delete;
  Followers& operator=(const Followers&) = delete;
  ~Followers();

  /// Errors: std::bad_alloc; nothing changed.
  void add(const Id& predecessor, const Id& follower);
  /// Does nothing when the job follows no other one.
  void remove(const Id& follower) noexcept;

  enum class End : std::uint8_t { done, other };
  /// The job has ended so, as far as its caller knows. Those that follow it are to be settled.
  void note_end(const Id& predecessor, End end) noexcept;

  /// It has been aborted with the one that it follows, and is to be settled. Does nothing when it
  /// follows no other one.
  void note_abort(const Id& follower) noexcept;
  /// Null when it follows no other one.
  [[nodiscard]] const Id* predecessor_of(const Id& follower) const noexcept;

  /// The first one whose predecessor is done, and which is to be removed; or null.
  [[nodiscard]] const Id* first_released() const noexcept;
  /// The first one whose predecessor has ended in another way, or null.
  [[nodiscard]] const Id* first_orphan() const noexcept;
  /// It follows its predecessor as before, until its end is noted anew.   Precondition: there is a
  /// first orphan.
  void put_back_orphan() noexcept;

  /// By somebody who sees what comes meanwhile, perhaps in a later step.
  bool is_being_settled = false;

 private:
  struct Predecessor;
  struct Follower {
    Id id;
    Predecessor* predecessor;
    boost::intrusive::list_member_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>
        place = {};
  };
  using List = boost::intrusive::list<
      Follower,
      boost::intrusive::member_hook<Follower, decltype(Follower::place), &Follower::place>,
      boost::intrusive::constant_time_size<false>>;
  struct Predecessor {
    List followers = {};         ///< in the order in which they came
    std::size_t references = 0;  ///< with those that are to be settled
    Id id = {};
  };
  struct HashOfId {
    std::size_t operator()(const Id& id) const noexcept { return id[0]; }  // random
  };

  std::unordered_map<Id, Predecessor, HashOfId> predecessors_;
  std::unordered_map<Id, Follower, HashOfId> followers_;
  List released_;
  List orphans_;
};

}  // namespace heistd
