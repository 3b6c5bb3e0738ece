-- How attempts and jobs end, and how jobs come back.

-- Takes what is needed of a job that has not ended, and holds it against others.
CREATE OR REPLACE FUNCTION lock_open(its_id uuid) RETURNS open LANGUAGE plpgsql AS $$
DECLARE
  held open;
BEGIN
  SELECT o.* INTO held FROM open o WHERE o.place = (SELECT place FROM job WHERE id = its_id AND state = 0) FOR UPDATE;
  RETURN held;
END $$;

-- Ends one job without success. What follows it is left to the caller.
CREATE OR REPLACE FUNCTION end_alone(
  held open, its_state smallint, code bytea, message bytea, now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  ended job;
BEGIN
  DELETE FROM open WHERE place = held.place;
  UPDATE job SET state = its_state, attempt = held.attempt, forgiven = held.forgiven, error_code = code,
    error_message = message, ended_at = now, payload = CASE WHEN its_state = 5 THEN payload END
  WHERE day = held.day AND place = held.place RETURNING client, place, day, id, idempotency_key
  INTO ended.client, ended.place, ended.day, ended.id, ended.idempotency_key;
  IF its_state = 5 THEN
    INSERT INTO dead(client, place, day) VALUES (ended.client, ended.place, ended.day);
  END IF;
  IF its_state >= 4 AND ended.idempotency_key IS NOT NULL THEN
    DELETE FROM idempotency WHERE client = ended.client AND key = ended.idempotency_key AND id = ended.id;
  END IF;
END $$;

-- Lets the followers of jobs start that are done.
CREATE OR REPLACE FUNCTION release_followers(places bigint[], now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_current_xact_id();  -- before a place is drawn
  UPDATE open SET follows = NULL, turn = CASE WHEN may_start <= now THEN nextval('places') END,
    due = CASE WHEN may_start > now THEN may_start END
  WHERE follows = ANY(places);
END $$;

-- Aborts unfinished jobs that the caller has locked; says which. Without a message it is what became of the predecessor.
CREATE OR REPLACE FUNCTION abort_alone(places bigint[], code bytea, message bytea, now timestamptz) RETURNS uuid[]
LANGUAGE plpgsql AS $$
DECLARE
  ids uuid[];
BEGIN
  WITH ended AS (DELETE FROM open WHERE place = ANY(places) RETURNING day, place, attempt, forgiven),
  kept AS (
    UPDATE job j SET state = 4, attempt = e.attempt, forgiven = e.forgiven, error_code = code,
      error_message = coalesce(message, convert_to(
        'job ' || replace(predecessor::text, '-', '') || ', after which this one was to start, has not been done',
        'UTF8')),
      ended_at = now, payload = NULL
    FROM ended e WHERE j.day = e.day AND j.place = e.place RETURNING j.place, j.id, j.client, j.idempotency_key),
  freed AS (
    DELETE FROM idempotency i USING kept k WHERE i.client = k.client AND i.key = k.idempotency_key AND i.id = k.id)
  SELECT coalesce(array_agg(id ORDER BY place), '{}') INTO ids FROM kept;
  RETURN ids;
END $$;

-- Aborts all that follows jobs which have ended without success, and what follows that; says which.
CREATE OR REPLACE FUNCTION abort_followers(ended bigint[], now timestamptz) RETURNS uuid[] LANGUAGE plpgsql AS $$
DECLARE
  places bigint[] := ended;
  aborted uuid[] := '{}';
BEGIN
  LOOP
    places := ARRAY(SELECT place FROM open WHERE follows = ANY(places) ORDER BY place FOR UPDATE);
    EXIT WHEN places = '{}';
    aborted := aborted || abort_alone(places, 'predecessor_failed', NULL, now);
  END LOOP;
  RETURN aborted;
END $$;

-- What abort_followers() has aborted when these jobs had ended: for a repetition, as the answer was lost.
CREATE OR REPLACE FUNCTION aborted_followers(ended uuid[]) RETURNS uuid[] LANGUAGE sql STABLE AS $$
  WITH RECURSIVE aborted AS (
    SELECT id FROM job
    WHERE predecessor IS NOT NULL AND predecessor = ANY(ended) AND state = 4 AND error_code = 'predecessor_failed'
    UNION
    SELECT j.id FROM aborted a JOIN job j ON j.predecessor IS NOT NULL AND j.predecessor = a.id
    WHERE j.state = 4 AND j.error_code = 'predecessor_failed')
  SELECT coalesce(array_agg(id), '{}') FROM aborted
$$;

-- Ends a job without success, and what follows it; says what that was.
CREATE OR REPLACE FUNCTION end_job(
  held open, its_id uuid, its_state smallint, code bytea, message bytea, now timestamptz)
RETURNS uuid[] LANGUAGE plpgsql AS $$
BEGIN
  PERFORM end_alone(held, its_state, code, message, now);
  RETURN abort_followers(ARRAY[held.place], now);
END $$;

-- Whether the job has ended with this state and attempt, by a call of which the answer was lost.
CREATE OR REPLACE FUNCTION has_ended_so(its_id uuid, its_attempt int, its_state smallint) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (SELECT FROM job WHERE id = its_id AND attempt = its_attempt AND state = its_state);
END $$;

-- Ends attempts with results, one for each place in the arrays; whether each took effect. One statement for all costs a
-- fraction of one for each.
CREATE OR REPLACE FUNCTION complete(
  days date[], places bigint[], attempts int[], descriptions bytea[], results bytea[], again boolean, clock timestamptz)
RETURNS boolean[] LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  done bigint[];
BEGIN
  PERFORM FROM open WHERE place = ANY(places) ORDER BY place FOR UPDATE;  -- all take them in one order
  WITH ended AS (
    DELETE FROM open o USING unnest(days, places, attempts, descriptions, results) e(day, place, attempt, description, result)
    WHERE o.place = e.place AND o.attempt = e.attempt AND o.node = this_node()
    RETURNING o.day, o.place, o.attempt, o.forgiven, e.description, e.result),
  kept AS (
    UPDATE job j SET state = 2, attempt = e.attempt, forgiven = e.forgiven, result_description = e.description,
      result_bytes = coalesce(length(e.result), 0), result = e.result, error_code = NULL, error_message = NULL,
      ended_at = now, payload = NULL
    FROM ended e WHERE j.day = e.day AND j.place = e.place)
  SELECT coalesce(array_agg(place), '{}') INTO done FROM ended;
  PERFORM release_followers(done, now);
  RETURN ARRAY(
    SELECT e.place = ANY(done) OR (again AND EXISTS (
      SELECT FROM job j WHERE j.day = e.day AND j.place = e.place AND j.state = 2 AND j.attempt = e.attempt))
    FROM unnest(days, places, attempts) WITH ORDINALITY e(day, place, attempt, number) ORDER BY e.number);
END $$;

CREATE OR REPLACE FUNCTION client_of(its_id uuid) RETURNS bytea LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT client FROM job WHERE id = its_id);
END $$;

-- Gives a job that was claimed its next turn at that time, or ends it as dead when it has no attempts left.
CREATE OR REPLACE FUNCTION fail_attempt(
  held open, its_id uuid, code bytea, message bytea, retry_at timestamptz, now timestamptz,
  OUT is_dead boolean, OUT aborted uuid[])
LANGUAGE plpgsql AS $$
DECLARE
  number xid8 := pg_current_xact_id();
BEGIN
  is_dead := held.attempt - held.forgiven >= held.max_attempts;
  IF is_dead THEN
    aborted := end_job(held, its_id, 5::smallint, code, message, now);
    RETURN;
  END IF;
  aborted := '{}';
  UPDATE job SET error_code = code, error_message = message WHERE day = held.day AND place = held.place;
  UPDATE open SET node = NULL, returned = false, may_start = retry_at, expires_at = NULL,
    turn = CASE WHEN retry_at <= now THEN nextval('places') END,
    due = CASE WHEN retry_at > now THEN retry_at END
  WHERE place = held.place;
END $$;

-- Ends an attempt with an error. `retry_after` is in milliseconds; null: no other attempt.
CREATE OR REPLACE FUNCTION fail(
  its_id uuid, its_attempt int, code bytea, message bytea, retry_after bigint, again boolean, clock timestamptz,
  OUT is_stored boolean, OUT client bytea, OUT aborted uuid[])
LANGUAGE plpgsql AS $$
DECLARE
  held open := lock_open(its_id);
  now timestamptz := coalesce(clock, clock_timestamp());
BEGIN
  IF held.node IS DISTINCT FROM this_node() OR held.attempt <> its_attempt THEN
    is_stored := again AND (
      has_ended_so(its_id, its_attempt, 3::smallint) OR has_ended_so(its_id, its_attempt, 5::smallint)
      OR (retry_after IS NOT NULL AND held.node IS NULL AND coalesce(held.attempt = its_attempt, false)));
    client := client_of(its_id);
    aborted := aborted_followers(ARRAY[its_id]);
    RETURN;
  END IF;
  is_stored := true;
  client := client_of(its_id);
  IF retry_after IS NULL THEN
    aborted := end_job(held, its_id, 3::smallint, code, message, now);
  ELSE
    SELECT f.aborted INTO aborted
    FROM fail_attempt(held, its_id, code, message, now + retry_after * interval '1 ms', now) f;
  END IF;
END $$;

-- Gives a claimed job back, in its old place; the attempt does not count. One that was not started has its ttl still.
CREATE OR REPLACE FUNCTION give_back(held open, was_started boolean) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  number xid8 := pg_current_xact_id();
BEGIN
  UPDATE open SET node = NULL, forgiven = forgiven + 1, returned = true,
    expires_at = CASE WHEN NOT was_started THEN expires_at END, turn = coalesce(turn, nextval('places'))
  WHERE place = held.place;
END $$;

CREATE OR REPLACE FUNCTION release(its_id uuid, its_attempt int, was_started boolean, again boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  held open := lock_open(its_id);
BEGIN
  IF held.node IS DISTINCT FROM this_node() OR held.attempt <> its_attempt THEN
    RETURN again AND held.node IS NULL AND coalesce(held.attempt = its_attempt, false);
  END IF;
  PERFORM give_back(held, was_started);
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION abort(
  its_id uuid, code bytea, message bytea, again boolean, clock timestamptz,
  OUT is_stored boolean, OUT client bytea, OUT aborted uuid[])
LANGUAGE plpgsql AS $$
DECLARE
  held open := lock_open(its_id);
BEGIN
  is_stored := held.place IS NOT NULL;
  IF is_stored THEN
    client := client_of(its_id);
    aborted := end_job(held, its_id, 4::smallint, code, message, coalesce(clock, clock_timestamp()));
  ELSIF again THEN
    is_stored := EXISTS (SELECT FROM job WHERE id = its_id AND state = 4 AND error_code = code AND error_message = message);
    client := client_of(its_id);
    aborted := aborted_followers(ARRAY[its_id]);
  END IF;
END $$;

-- Aborts jobs that should have been started by now, `most` of them. What a claim holds is left to that.
CREATE OR REPLACE FUNCTION expire_some(most int, clock timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  places bigint[] := ARRAY(
    SELECT place FROM open WHERE expires_at <= now AND node IS NULL
    ORDER BY expires_at LIMIT most FOR UPDATE SKIP LOCKED);
BEGIN
  PERFORM abort_alone(places, 'expired', 'the job did not start within its ttl', now);
  PERFORM abort_followers(places, now);
END $$;

-- Queues a dead job again; the attempts that it has had do not count. Its key stands for it again,
-- unless it stands for another job by now. As in `submit` the key is taken before the lane: else the
-- two could wait for each other.
CREATE OR REPLACE FUNCTION requeue(its_id uuid, again boolean, clock timestamptz) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  number xid8 := pg_current_xact_id();
  now timestamptz := coalesce(clock, clock_timestamp());
  it job;
BEGIN
  SELECT * INTO it FROM job WHERE id = its_id FOR UPDATE;
  IF it.state IS DISTINCT FROM 5 THEN
    RETURN again AND coalesce(it.state = 0, false);
  END IF;
  IF it.idempotency_key IS NOT NULL THEN
    PERFORM take_key(it.client, it.idempotency_key, it.digest, its_id, now);
  END IF;
  PERFORM FROM day WHERE day = it.day FOR SHARE;  -- see `last_end_of`
  UPDATE day SET last_end = NULL WHERE day = it.day AND last_end IS NOT NULL;
  UPDATE job SET state = 0, ended_at = NULL WHERE day = it.day AND place = it.place;
  DELETE FROM dead WHERE client = it.client AND place = it.place;
  INSERT INTO open(place, day, lane, turn, may_start, max_attempts, attempt, forgiven)
  VALUES (it.place, it.day,
          CASE WHEN it.signal IS NULL THEN lane_of_priority(it.client, it.kind, it.priority)
          ELSE lane_of_signal(it.client, it.kind, it.signal, it.priority, 1::smallint) END,
          nextval('places'), now, it.max_attempts, it.attempt, it.attempt);
  RETURN true;
END $$;

-- Forgets a finished job.
CREATE OR REPLACE FUNCTION purge(its_id uuid, again boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  it job;
BEGIN
  DELETE FROM job WHERE id = its_id AND state >= 2 RETURNING * INTO it;
  IF it.place IS NULL THEN
    RETURN again AND NOT EXISTS (SELECT FROM job WHERE id = its_id);
  END IF;
  DELETE FROM dead WHERE client = it.client AND place = it.place;
  RETURN true;
END $$;
