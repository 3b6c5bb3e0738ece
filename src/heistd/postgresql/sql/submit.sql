-- Days of jobs, lanes, and how a job is accepted.

-- Makes a day's part of `job`, if need be. It is attached, as to make it in place would wait for all who read jobs.
CREATE OR REPLACE FUNCTION make_day(new_day date) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  its_name text := 'job_' || to_char(new_day, 'YYYYMMDD');
BEGIN
  INSERT INTO day(day) VALUES (new_day) ON CONFLICT DO NOTHING;
  IF FOUND THEN
    EXECUTE format('CREATE TABLE %I (LIKE job INCLUDING DEFAULTS INCLUDING STORAGE) WITH (fillfactor = 70)', its_name);
    EXECUTE format('ALTER TABLE job ATTACH PARTITION %I FOR VALUES IN (%L)', its_name, new_day);
  END IF;
END $$;

CREATE OR REPLACE FUNCTION utc_day(clock timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT (clock AT TIME ZONE 'UTC')::date
$$;

-- The lane for jobs without a signal.
CREATE OR REPLACE FUNCTION lane_of_priority(its_client bytea, its_kind bytea, its_priority smallint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  found int;
BEGIN
  SELECT lane INTO found FROM lane
  WHERE client = its_client AND kind = its_kind AND priority = its_priority AND signal IS NULL;
  IF found IS NULL THEN
    INSERT INTO lane(client, kind, priority) VALUES (its_client, its_kind, its_priority)
    ON CONFLICT (client, kind, priority) WHERE signal IS NULL DO UPDATE SET kind = EXCLUDED.kind
    RETURNING lane INTO found;
  END IF;
  RETURN found;
END $$;

-- The lane for jobs of a signal, which is made if need be, with a priority of their own, if it is given. The signal
-- stays until this transaction ends.
CREATE OR REPLACE FUNCTION lane_of_signal(
  its_client bytea, its_kind bytea, its_name bytea, its_priority smallint, signal_priority smallint)
RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  found_signal int;
  found int;
BEGIN
  SELECT signal INTO found_signal FROM signal WHERE client = its_client AND name = its_name FOR KEY SHARE;
  IF found_signal IS NULL THEN
    INSERT INTO signal(client, name, priority, was_put) VALUES (its_client, its_name, signal_priority, false)
    ON CONFLICT (client, name) DO UPDATE SET priority = signal.priority
    RETURNING signal INTO found_signal;
  END IF;
  SELECT lane INTO found FROM lane
  WHERE signal = found_signal AND kind = its_kind AND priority IS NOT DISTINCT FROM its_priority;
  IF found IS NULL THEN
    INSERT INTO lane(client, kind, signal, priority) VALUES (its_client, its_kind, found_signal, its_priority)
    ON CONFLICT (signal, kind, priority) WHERE signal IS NOT NULL DO UPDATE SET kind = EXCLUDED.kind
    RETURNING lane INTO found;
  END IF;
  RETURN found;
END $$;

-- The priority that jobs of a lane have now.
CREATE OR REPLACE FUNCTION priority_of(its_lane int) RETURNS smallint LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT coalesce(l.priority, s.priority) FROM lane l LEFT JOIN signal s USING (signal) WHERE lane = its_lane);
END $$;

-- Accepts jobs of which nothing is to be looked up: one for each place in the arrays, in their order. Delays and times
-- to live are in milliseconds; `follows` is the place of an unfinished predecessor. One statement for all costs a
-- fraction of one for each.
CREATE OR REPLACE FUNCTION insert_jobs(
  ids uuid[], clients bytea[], kinds bytea[], all_parameters bytea[], signals bytea[], priorities smallint[],
  signal_priorities smallint[], delays bigint[], ttls bigint[], timeouts bigint[], predecessors uuid[],
  all_follows bigint[], all_max_attempts int[], request_ids bytea[], keys bytea[], digests bytea[], payloads bytea[],
  now timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  number xid8 := pg_current_xact_id();  -- before a place is drawn
  today date := utc_day(now);
BEGIN
  IF NOT EXISTS (SELECT FROM day WHERE day = today) THEN
    PERFORM make_day(today);
  END IF;
  WITH given AS MATERIALIZED (
    SELECT nextval('places') AS place, n.*,
      coalesce(l.lane, CASE WHEN n.signal IS NULL THEN lane_of_priority(n.client, n.kind, n.priority)
                       ELSE lane_of_signal(n.client, n.kind, n.signal, n.priority, n.signal_priority) END) AS lane
    FROM unnest(ids, clients, kinds, all_parameters, signals, priorities, signal_priorities, delays, ttls, timeouts,
                predecessors, all_follows, all_max_attempts, request_ids, keys, digests, payloads)
      n(id, client, kind, parameters, signal, priority, signal_priority, delay, ttl, timeout, predecessor, follows,
        max_attempts, request_id, key, digest, payload)
    LEFT JOIN lane l ON l.client = n.client AND l.kind = n.kind AND l.priority = n.priority AND l.signal IS NULL
      AND n.signal IS NULL),
  kept AS (
    INSERT INTO job(day, place, id, client, kind, parameters, signal, priority, max_attempts, timeout, predecessor,
                    request_id, idempotency_key, digest, payload_bytes, payload)
    SELECT today, place, id, client, kind, parameters, signal, priority, max_attempts, timeout, predecessor,
           request_id, key, digest, coalesce(length(payload), 0), payload
    FROM given)
  INSERT INTO open(place, day, lane, turn, may_start, due, expires_at, follows, max_attempts)
  SELECT place, today, lane, CASE WHEN follows IS NULL AND delay = 0 THEN place END,
         now + delay * interval '1 ms', CASE WHEN follows IS NULL AND delay > 0 THEN now + delay * interval '1 ms' END,
         now + ttl * interval '1 ms', follows, max_attempts
  FROM given;
END $$;

-- Whether the key stands for another job, and for which; else it stands for this one from now on. `acceptance` is as
-- that of `submit`.
CREATE OR REPLACE FUNCTION take_key(
  its_client bytea, its_key bytea, its_digest bytea, its_id uuid, now timestamptz,
  OUT acceptance smallint, OUT accepted uuid)
LANGUAGE plpgsql AS $$
DECLARE
  kept_digest bytea;
BEGIN
  acceptance := 0;
  DELETE FROM idempotency WHERE client = its_client AND key = its_key AND until <= now;
  LOOP
    INSERT INTO idempotency VALUES (its_client, its_key, its_digest, its_id, now + interval '24 hours')
    ON CONFLICT DO NOTHING;
    EXIT WHEN FOUND;
    -- Waits for an end of that job which frees the key.
    SELECT id, digest INTO accepted, kept_digest FROM idempotency WHERE client = its_client AND key = its_key
    FOR KEY SHARE;
    IF FOUND THEN
      acceptance := CASE WHEN kept_digest = its_digest THEN 1 ELSE 2 END;
      RETURN;
    END IF;
  END LOOP;
  accepted := its_id;
END $$;

-- Whether a job can be followed, and its place if it has not ended yet. Its end waits for this transaction, and then
-- finds the follower.
CREATE OR REPLACE FUNCTION look_at_predecessor(
  its_client bytea, its_predecessor uuid, OUT acceptance smallint, OUT open_place bigint)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT place INTO open_place FROM job WHERE id = its_predecessor AND client = its_client;
  IF open_place IS NULL THEN
    acceptance := 3;
    RETURN;
  END IF;
  acceptance := 0;
  PERFORM FROM open WHERE place = open_place FOR KEY SHARE;
  IF NOT FOUND THEN
    open_place := NULL;
    acceptance := (SELECT CASE WHEN state = 2 THEN 0 ELSE 4 END FROM job WHERE id = its_predecessor);
  END IF;
END $$;

-- Accepts a job, unless its key stands for one already, or its predecessor cannot be done any more. `acceptance` is
-- 0 accepted, 1 repeated, 2 conflicting, 3 no predecessor, 4 the predecessor has failed. With `again` an earlier call may
-- have accepted the job, of which the answer was lost.
CREATE OR REPLACE FUNCTION submit(
  its_id uuid, its_client bytea, its_kind bytea, its_parameters bytea, its_signal bytea, its_priority smallint,
  signal_priority smallint, delay bigint, ttl bigint, its_timeout bigint, its_predecessor uuid, its_max_attempts int,
  its_request_id bytea, its_key bytea, its_digest bytea, its_payload bytea, again boolean, clock timestamptz,
  OUT acceptance smallint, OUT accepted uuid, OUT is_follower boolean)
LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  its_follows bigint;
BEGIN
  acceptance := 0;
  accepted := its_id;
  is_follower := false;
  IF again AND EXISTS (SELECT FROM job WHERE id = its_id) THEN
    is_follower := EXISTS (SELECT FROM open o JOIN job j USING (day, place) WHERE j.id = its_id AND follows IS NOT NULL);
    RETURN;
  END IF;
  IF its_key IS NOT NULL THEN
    SELECT t.acceptance, t.accepted INTO acceptance, accepted
    FROM take_key(its_client, its_key, its_digest, its_id, now) t;
    IF acceptance <> 0 THEN
      RETURN;
    END IF;
  END IF;
  IF its_predecessor IS NOT NULL THEN
    SELECT l.acceptance, l.open_place INTO acceptance, its_follows FROM look_at_predecessor(its_client, its_predecessor) l;
    IF acceptance <> 0 THEN
      DELETE FROM idempotency WHERE client = its_client AND key = its_key AND id = its_id;
      accepted := NULL;
      RETURN;
    END IF;
    is_follower := its_follows IS NOT NULL;
  END IF;
  PERFORM insert_jobs(
    ARRAY[its_id], ARRAY[its_client], ARRAY[its_kind], ARRAY[its_parameters], ARRAY[its_signal], ARRAY[its_priority],
    ARRAY[signal_priority], ARRAY[delay], ARRAY[ttl], ARRAY[its_timeout], ARRAY[its_predecessor], ARRAY[its_follows],
    ARRAY[its_max_attempts], ARRAY[its_request_id], ARRAY[its_key], ARRAY[its_digest], ARRAY[its_payload], now);
END $$;

-- The same for many jobs, in their order.
CREATE OR REPLACE FUNCTION submit_all(
  ids uuid[], clients bytea[], kinds bytea[], all_parameters bytea[], signals bytea[], priorities smallint[],
  signal_priorities smallint[], delays bigint[], ttls bigint[], timeouts bigint[], predecessors uuid[],
  all_max_attempts int[], request_ids bytea[], keys bytea[], digests bytea[], payloads bytea[], again boolean,
  clock timestamptz, OUT acceptance smallint, OUT accepted uuid, OUT is_follower boolean)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  one record;
BEGIN
  IF NOT again AND array_remove(keys, NULL) = '{}' AND array_remove(predecessors, NULL) = '{}' THEN
    PERFORM insert_jobs(
      ids, clients, kinds, all_parameters, signals, priorities, signal_priorities, delays, ttls, timeouts, predecessors,
      array_fill(NULL::bigint, ARRAY[cardinality(ids)]), all_max_attempts, request_ids, keys, digests, payloads,
      coalesce(clock, clock_timestamp()));
    RETURN QUERY SELECT 0::smallint, id, false FROM unnest(ids) id;
    RETURN;
  END IF;
  FOR one IN
    SELECT * FROM unnest(ids, clients, kinds, all_parameters, signals, priorities, signal_priorities, delays, ttls,
                         timeouts, predecessors, all_max_attempts, request_ids, keys, digests, payloads)
      n(id, client, kind, parameters, signal, priority, signal_priority, delay, ttl, timeout, predecessor, max_attempts,
        request_id, key, digest, payload)
  LOOP
    RETURN QUERY SELECT * FROM submit(
      one.id, one.client, one.kind, one.parameters, one.signal, one.priority, one.signal_priority, one.delay, one.ttl,
      one.timeout, one.predecessor, one.max_attempts, one.request_id, one.key, one.digest, one.payload, again, clock);
  END LOOP;
END $$;
