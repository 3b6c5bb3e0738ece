/* What each statement does in the database (queue.pml has them in SQL). */

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
