-- Priorities, signals and pauses.

-- Gives an unfinished job that has a priority of its own another one; the lane in which it is then, or null.
CREATE OR REPLACE FUNCTION set_priority(its_id uuid, its_priority smallint) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  held open := lock_open(its_id);
  it job;
BEGIN
  IF held.place IS NULL THEN
    RETURN NULL;
  END IF;
  UPDATE job SET priority = its_priority
  WHERE day = held.day AND place = held.place AND priority IS NOT NULL RETURNING * INTO it;
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  -- Cursors of the other lane may have passed its turn.
  UPDATE open SET returned = turn IS NOT NULL,
    lane = CASE WHEN it.signal IS NULL THEN lane_of_priority(it.client, it.kind, its_priority)
           ELSE lane_of_signal(it.client, it.kind, it.signal, its_priority, 1::smallint) END
  WHERE place = held.place RETURNING lane INTO held.lane;
  RETURN held.lane;
END $$;

-- Gives all jobs of a signal its priority. Claims look at that, so it is one row.
CREATE OR REPLACE FUNCTION set_signal(its_client bytea, its_name bytea, its_priority smallint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO signal(client, name, priority, was_put) VALUES (its_client, its_name, its_priority, true)
  ON CONFLICT (client, name) DO UPDATE SET priority = its_priority, was_put = true;
END $$;

-- Aborts the unfinished jobs of a signal and frees its name; says what else was aborted, as it followed one of them, and
-- which of the signal's jobs this server had claimed.
CREATE OR REPLACE FUNCTION drop_signal(
  its_client bytea, its_name bytea, again boolean, clock timestamptz,
  OUT is_stored boolean, OUT aborted uuid[], OUT claimed uuid[])
LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  its_signal int;
  places bigint[];
BEGIN
  -- Who submits to the signal holds its row until that has ended, so from here on no job of it can come.
  DELETE FROM signal WHERE client = its_client AND name = its_name RETURNING signal INTO its_signal;
  is_stored := FOUND;
  DELETE FROM pause WHERE client = its_client AND what = 1 AND name = its_name;
  IF again AND NOT is_stored THEN
    is_stored := true;
    aborted := aborted_followers(ARRAY(
      SELECT id FROM job WHERE client = its_client AND signal = its_name AND state = 4
        AND error_message = 'the signal was deleted'));
    claimed := '{}';
    RETURN;
  END IF;
  places := ARRAY(
    SELECT place FROM lane JOIN open USING (lane) WHERE lane.signal = its_signal ORDER BY place FOR UPDATE OF open);
  claimed := ARRAY(SELECT id FROM open JOIN job USING (day, place) WHERE open.place = ANY(places) AND node = this_node());
  PERFORM abort_alone(places, 'aborted', 'the signal was deleted', now);
  aborted := abort_followers(places, now);
  DELETE FROM lane WHERE signal = its_signal;
END $$;

-- Removes lanes that no unfinished job has, and signals that were not put and have no lane any more, while there are
-- more lanes than `most`; how many lanes that were. Who looks for a job's lane has a lock of the table until its
-- transaction ends. So there is nobody who has found a lane and not used it yet while this has the table alone; if it
-- cannot have it soon, it does nothing.
CREATE OR REPLACE FUNCTION remove_unused(most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  unused int[];
  signals int[];
BEGIN
  IF (SELECT count(*) FROM lane) <= most THEN
    RETURN 0;
  END IF;
  unused := ARRAY(SELECT lane FROM lane WHERE NOT is_used(lane) LIMIT 1000);
  PERFORM set_config('lock_timeout', '50ms', true);
  LOCK TABLE lane IN ACCESS EXCLUSIVE MODE;
  WITH gone AS (DELETE FROM lane WHERE lane = ANY(unused) AND NOT is_used(lane) RETURNING signal)
  SELECT count(*), array_agg(DISTINCT signal) INTO most, signals FROM gone;
  DELETE FROM signal WHERE signal IN (
    SELECT signal FROM signal s WHERE signal = ANY(signals) AND NOT was_put
      AND NOT EXISTS (SELECT FROM lane l WHERE l.signal = s.signal) FOR UPDATE SKIP LOCKED);
  RETURN most;
EXCEPTION WHEN lock_not_available THEN
  RETURN 0;
END $$;

-- `what` is 0 for a kind and 1 for a signal, which then stays until it is dropped.
CREATE OR REPLACE FUNCTION set_pause(
  its_client bytea, its_what smallint, its_name bytea, is_on boolean, signal_priority smallint) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF its_what = 1 THEN
    INSERT INTO signal(client, name, priority, was_put) VALUES (its_client, its_name, signal_priority, true)
    ON CONFLICT (client, name) DO UPDATE SET was_put = true;
  END IF;
  IF is_on THEN
    INSERT INTO pause VALUES (its_client, its_what, its_name) ON CONFLICT DO NOTHING;
  ELSE
    DELETE FROM pause WHERE client = its_client AND what = its_what AND name = its_name;
  END IF;
END $$;
