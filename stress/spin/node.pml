/* What a node does: its connection, and its jobs. */

inline forget(n, j) {
  on_node[AT(n, j)] = NONE;
  known_epoch[AT(n, j)] = 0;
  known_claim[AT(n, j)] = 0
}

inline forget_all(n, but_ended) {
  i = 0;
  do
  :: i < JOBS ->
    if
    :: but_ended && on_node[AT(n, i)] == ENDED
    :: else -> forget(n, i)
    fi;
    i++
  :: else -> break
  od
}

inline begin_session(n) {
  valid[n] = true;
  lease[n] = LEASE;
  since[n] = 0;
  unchecked[n] = false
}

inline room_has_changed(n) {
  fresh[n] = false;
  i = 0;
  do
  :: i < JOBS -> left_ready[AT(n, i)] = false; i++
  :: else -> break
  od
}

inline ask(n, kind, j) {
  printf("node %d asks: %e, job %d\n", n, kind, j);
  asked[n] = kind;
  asked_job[n] = j;
  asked_epoch[n] = (kind == CLAIM || kind == RENEW -> 0 : known_epoch[AT(n, j)]);
  asked_claim[n] = (kind == CLAIM || kind == RENEW -> 0 : known_claim[AT(n, j)]);
  asked_age[n] = 0;
  fresh[n] = (kind == CLAIM)
}

inline clear_statement(n) {
  asked[n] = NOTHING;
  asked_job[n] = 0;
  asked_epoch[n] = 0;
  asked_claim[n] = 0;
  asked_age[n] = 0;
  answer[n] = NO_ANSWER;
  answer_level[n] = 0;
  fresh[n] = false
}

inline clear_old_statement(n) {
  old_asked[n] = NOTHING;
  old_job[n] = 0;
  old_epoch[n] = 0;
  old_claim[n] = 0
}

#define MUST_GIVE(n, j) \
  (on_node[AT(n, j)] == GIVEN || (on_node[AT(n, j)] == HELD && OUTRANKED(n, j)))
#if JOBS == 2
#define GIVES_SOMETHING(n) (MUST_GIVE(n, 0) || MUST_GIVE(n, 1))
#else
#define GIVES_SOMETHING(n) (MUST_GIVE(n, 0) || MUST_GIVE(n, 1) || MUST_GIVE(n, 2))
#endif
#define ASKS_NOTHING(n) (since[n] < RENEW_DUE && polled[n] && !ANY(ENDED, n) && !ANY(LOST, n) && \
                         !GIVES_SOMETHING(n))
#define CAN_ASK(n) (machine_state[n] == UP && connected[n] && asked[n] == NOTHING)

inline first_that_is(what, n) {
  i = 0;
  do
  :: i < JOBS && on_node[AT(n, i)] != what -> i++
  :: else -> break
  od
}

inline first_to_give(n) {
  i = 0;
  do
  :: i < JOBS && !MUST_GIVE(n, i) -> i++
  :: else -> break
  od
}

/* Ends of attempts go before claims, so that a claim counts no job that has ended. */
inline ask_what_is_due(n) {
  if
  :: ANY(ENDED, n) -> first_that_is(ENDED, n); ask(n, COMPLETE, i)
  :: else ->
    if
    :: ANY(LOST, n) -> first_that_is(LOST, n); ask(n, LOSS, i)
    :: else ->
      if
      :: GIVES_SOMETHING(n) ->
        first_to_give(n);
        ask(n, RELEASE, i);
#ifndef STARTS_WHAT_IT_RELEASES
        on_node[AT(n, i)] = GIVEN
#endif
      :: else ->
        if
        :: since[n] >= RENEW_DUE -> ask(n, RENEW, 0)
        :: else -> ask(n, CLAIM, 0)
        fi
      fi
    fi
  fi
}

inline hold_claimed(n) {
  on_node[AT(n, asked_job[n])] = HELD;
  known_epoch[AT(n, asked_job[n])] = asked_epoch[n];
  known_claim[AT(n, asked_job[n])] = asked_claim[n]
}

inline hear_of_claim(n) {
  if
  :: answer[n] == STORED -> hold_claimed(n)
  :: answer[n] == EMPTY -> polled[n] = true
  :: else
  fi
}

inline hear_of_renewal(n) {
#ifdef FENCE_COUNTS_FROM_ANSWER
  since[n] = 0
#else
  since[n] = asked_age[n]
#endif
}

inline hear_of_end(n) {
  assert(!(answer[n] == LATE && state[asked_job[n]] == DONE &&
           claims[asked_job[n]] == asked_claim[n])); /* ends once */
  forget(n, asked_job[n])
}

inline hear(n) {
  printf("node %d hears: %e\n", n, answer[n]);
  heard_level[n] = answer_level[n];
  if
  :: answer[n] == NO_SESSION -> forget_all(n, true); begin_session(n)
  :: else ->
    if
    :: asked[n] == CLAIM -> hear_of_claim(n)
    :: asked[n] == RENEW -> hear_of_renewal(n)
    :: else -> hear_of_end(n)
    fi
  fi;
  clear_statement(n)
}

inline answer_statement(n) {
  execute(n, asked[n], asked_job[n], asked_epoch[n], asked_claim[n]);
  printf("the database answers node %d: %e %e\n", n, asked[n], result);
  answer[n] = result;
  answer_level[n] = signal_level;
  if
  :: asked[n] == CLAIM && result == STORED ->
    asked_job[n] = found;
    asked_epoch[n] = epoch[found];
    asked_claim[n] = claims[found]
  :: asked[n] == CLAIM && result == EMPTY -> hear(n)
  :: else
  fi
}

/* A new session begins when nothing of the old one runs any more, so after the fence. */
#define CAN_HEAR(n) (machine_state[n] == UP && connected[n] && answer[n] != NO_ANSWER && \
                     !(answer[n] == NO_SESSION && ANY(STARTED, n)))

proctype connection(byte n) {
end:
  do
  :: d_step {
      CAN_ASK(n) && !ASKS_NOTHING(n) ->
      ask_what_is_due(n);
#ifndef SLOW_STATEMENTS
      answer_statement(n)
#endif
    }
  :: d_step { asked[n] != NOTHING && answer[n] == NO_ANSWER -> answer_statement(n) }
  :: d_step { CAN_HEAR(n) -> hear(n) }
  od
}

#ifdef NO_CHECK_AFTER_STOP
#define MAY_WORK(n) (machine_state[n] == UP && (since[n] < FENCE || unchecked[n]))
#else
#define MAY_WORK(n) (machine_state[n] == UP && since[n] < FENCE)
#endif

#define CAN_WORK(n, j) (MAY_WORK(n) && !OUTRANKED(n, j))

inline act_on_world(n, j) {
  assert(state[j] == CLAIMED && owner[j] == n &&
         claims[j] == known_claim[AT(n, j)]); /* current claim */
  i = 0;
  do
  :: i < JOBS ->
    assert(!(state[i] == READY && left_ready[AT(n, i)] &&
             LEVEL(i) > LEVEL(j))); /* no inversion */
    i++
  :: else -> break
  od;
  unchecked[n] = false
}

inline start(n, j) {
  assert(!HAS_STARTED(1 - n, j) || machine_state[1 - n] == STOPPED ||
         unchecked[1 - n]); /* not beside */
  printf("node %d starts job %d\n", n, j);
  starts[j]++;
  assert(starts[j] <= MAX_ATTEMPTS); /* attempts */
  act_on_world(n, j);
  on_node[AT(n, j)] = STARTED
}

proctype job_on_node(byte n, j) {
end:
  do
  :: d_step { CAN_WORK(n, j) && on_node[AT(n, j)] == HELD -> start(n, j) }
  :: d_step {
      CAN_WORK(n, j) && HAS_STARTED(n, j) ->
      printf("node %d ends job %d\n", n, j);
      act_on_world(n, j);
      on_node[AT(n, j)] = ENDED;
      room_has_changed(n);
      skip
    }
  :: d_step { /* the fence */
      HAS_STARTED(n, j) && machine_state[n] == UP && since[n] >= FENCE ->
      printf("node %d aborts job %d: the fence\n", n, j);
      on_node[AT(n, j)] = LOST;
      unchecked[n] = unchecked[n] && ANY(STARTED, n);
      room_has_changed(n);
      skip
    }
  od
}
