/* What befalls a node, and how it recovers. */

/* What is on its way may arrive later, or never. */
inline lose_connection(n) {
  printf("node %d has no connection any more\n", n);
  if
  :: asked[n] != NOTHING && answer[n] == NO_ANSWER ->
    old_asked[n] = asked[n];
    old_job[n] = asked_job[n];
    old_epoch[n] = asked_epoch[n];
    old_claim[n] = asked_claim[n]
  :: else
  fi;
  connected[n] = false;
  clear_statement(n)
}

/* A claim or a renewal of the old session has no effect any more; ends have their epochs. */
inline end_old_session(n) {
#ifndef OLD_CLAIM_HAS_EFFECT
  if
  :: old_asked[n] == CLAIM || old_asked[n] == RENEW -> clear_old_statement(n)
  :: else
  fi
#else
  skip
#endif
}

inline release_unknown(n) {
#ifndef LOST_CLAIM_STAYS
  i = 0;
  do
  :: i < JOBS ->
    if
    :: state[i] == CLAIMED && owner[i] == n && known_epoch[AT(n, i)] != epoch[i] -> give_back(i)
    :: else
    fi;
    i++
  :: else -> break
  od
#else
  skip
#endif
}

inline reconnect(n) {
  end_old_session(n);
  if
  :: valid[n] -> release_unknown(n)
  :: else -> forget_all(n, true); begin_session(n)
  fi;
  connected[n] = true;
  heard_level[n] = signal_level
}

inline crash(n) {
  printf("node %d crashes\n", n);
  machine_state[n] = DOWN;
  lose_connection(n);
  forget_all(n, false);
  room_has_changed(n);
  unchecked[n] = false;
  since[n] = 0;
  polled[n] = false;
  heard_level[n] = 0
}

inline restart(n) {
  end_old_session(n);
  lose_all_of(n);
  begin_session(n);
  machine_state[n] = UP;
  connected[n] = true;
  heard_level[n] = signal_level
}

/* Nodes are alike, so the first fault may as well be that of node 0. */
#define CAN_FAIL(n) \
  (machine_state[n] == UP && faults < FAULTS && (faults > 0 || n == 0) && !ALL_ENDED)
#define CAN_FAIL_ASKING(n) (CAN_FAIL(n) && CAN_ASK(n) && !ASKS_NOTHING(n))

proctype machine(byte n) {
end:
  do
  :: d_step { CAN_FAIL(n) -> faults++; crash(n) }
  :: d_step { CAN_FAIL_ASKING(n) -> faults++; ask_what_is_due(n); crash(n) }
  :: d_step {
      CAN_FAIL(n) ->
      faults++;
      printf("node %d is stopped\n", n);
      machine_state[n] = STOPPED
    }
  :: d_step {
      CAN_FAIL(n) && connected[n] ->
      faults++;
      lose_connection(n)
    }
  :: d_step {
      CAN_FAIL_ASKING(n) ->
      faults++;
      ask_what_is_due(n);
      lose_connection(n)
    }
  :: d_step { machine_state[n] == DOWN -> printf("node %d starts again\n", n); restart(n) }
  :: d_step {
      machine_state[n] == STOPPED ->
      printf("node %d goes on\n", n);
      machine_state[n] = UP;
      unchecked[n] = ANY(STARTED, n)
    }
  :: d_step {
      machine_state[n] == UP && !connected[n] && (valid[n] || !ANY(STARTED, n)) ->
      printf("node %d connects again\n", n);
      reconnect(n)
    }
  :: d_step {
      old_asked[n] != NOTHING ->
      printf("an old statement of node %d arrives: %e\n", n, old_asked[n]);
      execute(n, old_asked[n], old_job[n], old_epoch[n], old_claim[n]);
      clear_old_statement(n)
    }
  :: d_step { old_asked[n] != NOTHING -> clear_old_statement(n) }
  od
}
