/* A model of many heistd that share one queue of jobs in a database, for Debian's `spin`.
 *
 * scripts/verification/queue_model runs it: the sound protocol must pass, and each of the variants
 * that the script lists, a macro here, must fail. The model decides what the statements check.
 *
 * ROLES (processes)
 *   clients       post the urgent job, and change the priority of the signal that job 0 follows.
 *   connection    of a node: one statement at a time on one connection; its answers.
 *   job_on_node   what a node does with one job: start, end, or the abort of the fence.
 *   machine       of a node: what befalls it (crash, SIGSTOP, lost connection), and its recovery.
 *   keeper        reclaims the jobs of nodes whose lease has ended; any other node does that.
 *   clock         lets time pass, in ticks.
 *
 * STATES
 *   of a job in the database: ABSENT -> READY -> CLAIMED -> DONE, with ways back from CLAIMED to
 *   READY (release, loss, reclaim), or to DEAD when that was the last attempt.
 *   of a job on a node: NONE -> HELD (claimed, not started) -> STARTED -> ENDED (its completion is
 *   not answered yet) -> NONE; or LOST (aborted by the fence; the database is not told yet), or
 *   GIVEN (a release is not answered yet).
 *
 * STATEMENTS: each atomic block below that touches the database is one transaction in SQL. Those
 * that look at the node's session lock its row first, so that they come before or after a reclaim
 * of the node, not beside it. Reclaim and reconnect read the jobs in a second statement, behind
 * that lock: a single one would read them as they were before it waited, and miss what was claimed
 * meanwhile.
 *   claim      session is valid and lease not over; the most urgent ready job, oldest first, of a
 *              level at which the node has fewer jobs than agents, counted in the same statement:
 *              UPDATE job SET owner, state, epoch = epoch + 1, attempt = attempt + 1.
 *   renew      UPDATE node SET alive_until = now() + lease WHERE id AND session.
 *   complete   UPDATE job SET state = 'done' WHERE id AND epoch AND state = 'claimed'; if that was
 *              no row, a job that is done with this epoch answers "done" again, all else is late.
 *   loss       the same condition; ready again, or dead if this was the last attempt.
 *   release    the same condition; ready again, attempt = attempt - 1. Only for what never started.
 *   reclaim    UPDATE node SET session = session + 1 WHERE alive_until < now(), and a loss of each
 *              of its jobs, in one transaction. That ends the node's session.
 *   reconnect  takes a new number for the node's session, so that a claim or renewal which is still
 *              on its way on the old connection has no effect; then releases what the database has
 *              as the node's, and the node does not know: the answer of that claim was lost.
 *   restart    a new session and lease; a loss of each job that the process had which has crashed.
 *
 * ASSUMPTIONS
 *   The database is one, and keeps what it has committed. Clocks of nodes and of the database run
 *   at the same rate, also while a process is stopped (CLOCK_BOOTTIME); their values do not matter.
 *   A node that is awake acts within a tick: it renews when that is due, and its running jobs end
 *   within CHUNK ticks after the fence. A statement is answered within the tick, unless its node
 *   is stopped or has lost its connection; these last for any time. To have fewer states a
 *   statement takes effect as it is asked, unless the connection is lost just then; with
 *   SLOW_STATEMENTS other steps come in between. A crashed process is gone before it is started
 *   again with the same name. What a chunk in progress still does after a SIGSTOP cannot be
 *   prevented: the node looks at its lease at the next chunk.
 *   One agent a node. Work never fails by itself. `faults` bounds how much befalls all nodes.
 *
 * PROPERTIES
 *   ends once        A job that is done or dead stays so; the completion that was accepted is that
 *                    of the current claim, and its node is never told that it was late.
 *   current claim    At each start and end on a node the job is claimed by this node, by
 *                    this claim. So two nodes never work on it, but for the rest of a chunk.
 *   not beside       When a job starts, no other node has it started, but for one that is stopped
 *                    or has gone on and not looked at its lease yet.
 *   attempts         A job is started no more often than its limit says, and it is dead only if
 *                    as many faults have happened.
 *   no inversion     After a claim of a node was answered, the node runs no chunk of a job that is
 *                    lower than one which that claim could have taken and left.
 *   no prefetch      A claim gives a node no job that its agents cannot start at once.
 *   no dead end      Time never stands still before all jobs have ended (invalid end states).
 *   each job ends    With weak fairness, each accepted job ends (an LTL formula, with LIVENESS).
 */

/* SIZES: a configuration may set others. */
#ifndef JOBS
#define JOBS 2
#endif
#ifndef FAULTS
#define FAULTS 2
#endif
#ifndef CHANGES
#define CHANGES 1
#endif
#define NODES 2
#define AGENTS 1
#define MAX_ATTEMPTS 2
#define LEASE 4
#define RENEW_DUE 1
#ifdef LONG_CHUNK
#define CHUNK 2
#else
#define CHUNK 1
#endif
#ifdef FENCE_AFTER_LEASE
#define FENCE LEASE
#else
#define FENCE 2
#endif

#define LOW 0
#define URGENT 1

/* The database. Job 0 follows the signal, job 1 is urgent, job 2 is low. */
#define ABSENT 0
#define READY 1
#define CLAIMED 2
#define DONE 3
#define DEAD 4
#define NOBODY NODES
byte state[JOBS];
byte owner[JOBS];
byte epoch[JOBS];
byte attempt[JOBS];
byte signal_level = LOW;
byte lease[NODES];   /* what is left of it */
bool valid[NODES];   /* the session that the node has is the one in its row */

/* The nodes. */
#define UP 0
#define STOPPED 1
#define DOWN 2
#define NONE 0
#define HELD 1
#define STARTED 2
#define ENDED 3
#define LOST 4
#define GIVEN 5
byte machine_state[NODES];
bool connected[NODES];
byte since[NODES];         /* ticks since the last renewal that was answered was asked for */
byte heard_level[NODES];   /* the signal's, as the node knows it */
bool polled[NODES];        /* in this tick, and there was nothing to claim */
byte on_node[NODES * JOBS];
byte known_epoch[NODES * JOBS];

/* The statement that a node has asked, and one of an earlier connection that is on its way. */
#define NOTHING 0
#define NO_ANSWER 0
mtype = { CLAIM, RENEW, COMPLETE, LOSS, RELEASE, STORED, LATE, EMPTY, NO_SESSION };
mtype asked[NODES];
byte asked_job[NODES];
byte asked_epoch[NODES];
byte asked_age[NODES];
mtype answer[NODES];
byte answer_level[NODES];
mtype old_asked[NODES];
byte old_job[NODES];
byte old_epoch[NODES];

/* What only the properties look at. */
byte faults;
byte changes;
byte starts[JOBS];
bool unchecked[NODES];            /* has gone on after SIGSTOP, and not looked at its lease yet */
bool fresh[NODES];                /* no job of the node has ended since its claim was asked */
bool left_ready[NODES * JOBS];    /* a claim of the node could have taken the job */

/* Each claim's number. It is the epoch, unless claims do not raise that. */
#ifdef CLAIM_KEEPS_EPOCH
byte claims[JOBS];
byte known_claim[NODES * JOBS];
byte asked_claim[NODES];
byte old_claim[NODES];
#else
#define claims epoch
#define known_claim known_epoch
#define asked_claim asked_epoch
#define old_claim old_epoch
#endif

/* Of no meaning outside one atomic block. */
hidden byte i;
hidden byte found;
hidden mtype result;

#define AT(n, j) ((n) * JOBS + (j))
#define LEVEL_OF(j, signal) ((j) == 0 -> (signal) : ((j) == 1 -> URGENT : LOW))
#define LEVEL(j) LEVEL_OF(j, signal_level)
#define HAS_STARTED(n, j) (on_node[AT(n, j)] == STARTED)
#define ACTIVE(n, j) (on_node[AT(n, j)] == HELD || HAS_STARTED(n, j))
#define HAS_ENDED(j) (state[j] == DONE || state[j] == DEAD)
#define OUTRANKED_BY(n, k, j) \
  (ACTIVE(n, k) && LEVEL_OF(k, heard_level[n]) > LEVEL_OF(j, heard_level[n]))
#define OWNED_AT(n, k, level) (state[k] == CLAIMED && owner[k] == n && LEVEL(k) >= level)
#define ACTIVE_AT(n, k, level) ((ACTIVE(n, k) || ((k) == found)) && LEVEL(k) >= level)
#if JOBS == 2
#define ANY(what, n) (on_node[AT(n, 0)] == what || on_node[AT(n, 1)] == what)
#define OUTRANKED(n, j) (OUTRANKED_BY(n, 0, j) || OUTRANKED_BY(n, 1, j))
#define OWNED(n, level) (OWNED_AT(n, 0, level) + OWNED_AT(n, 1, level))
#define ACTIVE_JOBS(n, level) (ACTIVE_AT(n, 0, level) + ACTIVE_AT(n, 1, level))
#define ALL_ENDED (HAS_ENDED(0) && HAS_ENDED(1))
#else
#define ANY(what, n) \
  (on_node[AT(n, 0)] == what || on_node[AT(n, 1)] == what || on_node[AT(n, 2)] == what)
#define OUTRANKED(n, j) (OUTRANKED_BY(n, 0, j) || OUTRANKED_BY(n, 1, j) || OUTRANKED_BY(n, 2, j))
#define OWNED(n, level) (OWNED_AT(n, 0, level) + OWNED_AT(n, 1, level) + OWNED_AT(n, 2, level))
#define ACTIVE_JOBS(n, level) \
  (ACTIVE_AT(n, 0, level) + ACTIVE_AT(n, 1, level) + ACTIVE_AT(n, 2, level))
#define ALL_ENDED (HAS_ENDED(0) && HAS_ENDED(1) && HAS_ENDED(2))
#endif
#ifdef NO_CREDITS_PER_LEVEL
#define ROOM(n, level) (OWNED(n, LOW) < AGENTS)
#else
#ifdef PREFETCH
#define ROOM(n, level) (OWNED(n, level) < AGENTS + 1)
#else
#define ROOM(n, level) (OWNED(n, level) < AGENTS)
#endif
#endif

/* What statements do. */

inline make_ready(j) {
  state[j] = READY;
  owner[j] = NOBODY;
  left_ready[AT(0, j)] = false;
  left_ready[AT(1, j)] = false;
}

inline lose(j) {
  if
  :: attempt[j] >= MAX_ATTEMPTS ->
    assert(faults >= MAX_ATTEMPTS); /* attempts */
    state[j] = DEAD;
    owner[j] = NOBODY
#ifdef RECLAIM_IGNORES_LIMIT
    ; make_ready(j)
#endif
  :: else -> make_ready(j)
  fi
}

inline give_back(j) {
#ifdef RELEASE_LOSES_JOB
  owner[j] = NOBODY;
#else
  make_ready(j);
#endif
#ifndef RELEASE_COUNTS_ATTEMPT
  attempt[j]--;
#endif
}

inline lose_all_of(n) {
  i = 0;
  do
  :: i < JOBS ->
    if
    :: state[i] == CLAIMED && owner[i] == n -> lose(i)
    :: else
    fi;
    i++
  :: else -> break
  od
}

/* Sets `found` to the job to claim, or to JOBS. */
inline find_claimable(n) {
  found = JOBS;
  i = 0;
  do
  :: i < JOBS ->
    if
    :: state[i] == READY && ROOM(n, LEVEL(i)) ->
      if
      :: found == JOBS -> found = i
      :: else ->
        if
        :: LEVEL(i) > LEVEL(found) -> found = i
        :: else
        fi
      fi
    :: else
    fi;
    i++
  :: else -> break
  od
}

inline note_what_is_left(n) {
  i = 0;
  do
  :: i < JOBS ->
    if
    :: state[i] == READY && fresh[n] && ACTIVE_JOBS(n, LEVEL(i)) < AGENTS ->
      left_ready[AT(n, i)] = true
    :: else
    fi;
    i++
  :: else -> break
  od
}

inline raise_epoch(j) {
#ifdef CLAIM_KEEPS_EPOCH
  epoch[j] = 1;
#endif
  claims[j]++
}

inline claim(n) {
  result = EMPTY;
  found = JOBS;
  if
  :: !valid[n] -> result = NO_SESSION
  :: valid[n] && lease[n] == 0
  :: else ->
    find_claimable(n);
    if
    :: found < JOBS ->
      state[found] = CLAIMED;
      owner[found] = n;
      attempt[found]++;
      raise_epoch(found);
      assert(OWNED(n, LEVEL(found)) <= AGENTS); /* no prefetch */
      printf("job %d is claimed by node %d\n", found, n);
      result = STORED
    :: else
    fi;
    note_what_is_left(n)
  fi
}

inline renew(n) {
  if
  :: valid[n] -> lease[n] = LEASE; result = STORED
  :: else -> result = NO_SESSION
  fi
}

#ifdef COMPLETION_WITHOUT_EPOCH
#define IS_CURRENT(j, e) (state[j] == CLAIMED)
#else
#define IS_CURRENT(j, e) (state[j] == CLAIMED && epoch[j] == e)
#endif
#ifdef REPEATED_COMPLETION_REFUSED
#define IS_REPEATED(j, e) false
#else
#define IS_REPEATED(j, e) (state[j] == DONE && epoch[j] == e)
#endif

inline complete(j, e, its_claim) {
  if
  :: IS_CURRENT(j, e) ->
    assert(its_claim == claims[j]); /* ends once */
    state[j] = DONE;
    owner[j] = NOBODY;
    result = STORED
  :: IS_REPEATED(j, e) -> result = STORED
  :: else -> result = LATE
  fi
}

inline execute(n, kind, j, e, its_claim) {
  result = STORED;
  if
  :: kind == CLAIM -> claim(n)
  :: kind == RENEW -> renew(n)
  :: kind == COMPLETE -> complete(j, e, its_claim)
  :: kind == LOSS ->
    if
    :: state[j] == CLAIMED && epoch[j] == e ->
#ifdef LOSS_IS_NOT_COUNTED
      give_back(j)
#else
      lose(j)
#endif
    :: else
    fi
  :: kind == RELEASE ->
    if
    :: state[j] == CLAIMED && epoch[j] == e -> give_back(j)
    :: else
    fi
  fi
}

/* What nodes do. */

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
  :: d_step { machine_state[n] == UP && connected[n] && answer[n] != NO_ANSWER -> hear(n) }
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
      machine_state[n] == UP && !connected[n] ->
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

#define OWNS_SOMETHING(n) (OWNED(n, LOW) > 0)
#define CAN_RECLAIM(n) (lease[n] == 0 && valid[n] && OWNS_SOMETHING(n) && \
                        machine_state[1 - n] == UP && connected[1 - n])

inline reclaim(n) {
  printf("the jobs of node %d are reclaimed\n", n);
#ifndef RECLAIM_LEAVES_SESSION
  valid[n] = false;
#endif
  lose_all_of(n)
}

proctype keeper() {
end:
  do
  :: d_step { CAN_RECLAIM(0) -> reclaim(0); skip }
  :: d_step { CAN_RECLAIM(1) -> reclaim(1); skip }
  od
}

proctype clients() {
end:
  do
  :: d_step { state[1] == ABSENT -> printf("the urgent job arrives\n"); make_ready(1) }
  :: d_step {
      changes < CHANGES ->
      changes++;
      printf("the signal changes\n");
      signal_level = 1 - signal_level;
      room_has_changed(0);
      room_has_changed(1);
      skip
    }
  od
}

#define IN_TIME(n) \
  (machine_state[n] != UP || \
   (!(ANY(STARTED, n) && since[n] >= FENCE + CHUNK) && \
    (!connected[n] || (asked[n] == NOTHING && ASKS_NOTHING(n)))))

inline age(n) {
  lease[n] = (lease[n] > 0 -> lease[n] - 1 : 0);
  since[n] = (machine_state[n] == DOWN -> 0 : (since[n] < LEASE -> since[n] + 1 : since[n]));
  asked_age[n] = (asked[n] != NOTHING && asked_age[n] < LEASE -> asked_age[n] + 1 : asked_age[n]);
  polled[n] = false
}

proctype clock() {
  do
  :: d_step { !ALL_ENDED && IN_TIME(0) && IN_TIME(1) -> printf("a tick\n"); age(0); age(1) }
  :: ALL_ENDED -> break
  od
}

init {
  d_step {
    i = 0;
    do
    :: i < JOBS -> owner[i] = NOBODY; state[i] = (i == 1 -> ABSENT : READY); i++
    :: else -> break
    od;
    begin_session(0);
    begin_session(1);
    connected[0] = true;
    connected[1] = true;
    i = 0
  }
  atomic {
    run clock();
    run clients();
    run keeper();
    run machine(0);
    run machine(1);
    run connection(0);
    run connection(1);
    run job_on_node(0, 0);
    run job_on_node(0, 1);
    run job_on_node(1, 0);
    run job_on_node(1, 1)
#if JOBS == 3
    ;
    run job_on_node(0, 2);
    run job_on_node(1, 2)
#endif
  }
}

#ifdef LIVENESS
ltl each_job_ends { <> ALL_ENDED }
#endif
