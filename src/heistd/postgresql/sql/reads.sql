-- What is kept of a job, in one row. A job that has not ended has a row in `open`.
CREATE OR REPLACE VIEW stored AS
SELECT j.place, j.id, j.client, j.kind, j.parameters, j.signal, j.priority,
       o.may_start, CASE WHEN o.node IS NULL THEN o.expires_at END AS expires_at, j.timeout, j.predecessor,
       o.follows IS NOT NULL AS is_follower,
       coalesce(o.attempt, j.attempt) AS attempt, coalesce(o.forgiven, j.forgiven) AS forgiven, j.max_attempts,
       (CASE WHEN o.place IS NULL THEN j.state WHEN o.node IS NULL THEN 0 ELSE 1 END)::smallint AS state,
       j.request_id, j.idempotency_key, j.digest, j.payload_bytes, j.result_description, j.result_bytes,
       j.error_code, j.error_message, j.ended_at, j.day
FROM job j LEFT JOIN open o ON j.state = 0 AND o.place = j.place;

CREATE OR REPLACE FUNCTION load_unfinished(after bigint, most int) RETURNS SETOF stored LANGUAGE sql STABLE AS $$
  SELECT s.* FROM (SELECT day, place FROM open WHERE place > after ORDER BY place LIMIT most) o
  JOIN stored s USING (day, place) ORDER BY s.place
$$;

-- A part of a list of a client's jobs, in the order of acceptance: of those behind `after` it looks at `most_looked_at`.
-- `last` is what the next part is behind; null when this was the last one. The first row has that and no job.
CREATE OR REPLACE FUNCTION list(
  its_client bytea, its_state smallint, is_delayed boolean, its_kind bytea, its_signal bytea, after bigint, most int,
  most_looked_at int, clock timestamptz, OUT last bigint, OUT it stored)
RETURNS SETOF record LANGUAGE plpgsql STABLE AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  border bigint;
  found stored[];
BEGIN
  IF its_state = 5 THEN
    SELECT place INTO border FROM dead WHERE client = its_client AND place > after
    ORDER BY place OFFSET most_looked_at - 1 LIMIT 1;
    found := ARRAY(
      SELECT s FROM (SELECT d.day, d.place FROM dead d WHERE d.client = its_client AND d.place > after
                     ORDER BY d.place LIMIT most_looked_at) d JOIN stored s USING (day, place)
      WHERE (its_kind IS NULL OR s.kind = its_kind) AND (its_signal IS NULL OR s.signal = its_signal)
      ORDER BY s.place LIMIT most + 1);
  ELSE
    SELECT j.place INTO border FROM job j WHERE j.client = its_client AND j.place > after
    ORDER BY j.place OFFSET most_looked_at - 1 LIMIT 1;
    found := ARRAY(
      SELECT s FROM stored s
      WHERE s.client = its_client AND s.place > after AND s.place <= coalesce(border, 9223372036854775807)
        AND (its_state IS NULL OR s.state = its_state)
        AND (is_delayed IS NULL OR (s.may_start > now OR s.is_follower) = is_delayed)
        AND (its_kind IS NULL OR s.kind = its_kind) AND (its_signal IS NULL OR s.signal = its_signal)
      ORDER BY s.place LIMIT most + 1);
  END IF;
  last := border;
  IF cardinality(found) > most THEN
    found := found[1:most];
    last := (found[most]).place;
  END IF;
  RETURN NEXT;
  FOREACH it IN ARRAY found LOOP
    RETURN NEXT;
  END LOOP;
END $$;

-- Whether unfinished jobs have the lane: such as have a turn, have come back, or wait for a time or another job.
CREATE OR REPLACE FUNCTION is_used(its_lane int) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT FROM open WHERE lane = its_lane AND turn IS NOT NULL AND NOT returned)
    OR EXISTS (SELECT FROM open WHERE lane = its_lane AND returned)
    OR EXISTS (SELECT FROM open WHERE lane = its_lane AND turn IS NULL)
$$;

CREATE OR REPLACE FUNCTION signals() RETURNS TABLE(client bytea, name bytea, priority smallint, was_put boolean)
LANGUAGE sql STABLE AS $$
  SELECT s.client, s.name, s.priority, s.was_put FROM signal s
  WHERE s.was_put OR EXISTS (SELECT FROM lane l WHERE l.signal = s.signal AND is_used(l.lane))
$$;

-- Bytes from `first` on, counted from 0, which may be fewer, or none.
CREATE OR REPLACE FUNCTION payload_part(its_id uuid, first bigint, size bigint) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT substring(payload FROM first::int + 1 FOR size::int) FROM job WHERE id = its_id
$$;
CREATE OR REPLACE FUNCTION result_part(its_id uuid, first bigint, size bigint) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT substring(result FROM first::int + 1 FOR size::int) FROM job WHERE id = its_id
$$;
