-- How jobs are claimed.

-- Claims a job that waits for nothing but its turn or a time; nothing when there is none. The attempt, the first bytes
-- of the payload, and where the job is.
CREATE OR REPLACE FUNCTION start(its_id uuid, most_bytes int, again boolean)
RETURNS TABLE(its_attempt int, first_bytes bytea, its_day date, its_place bigint, its_lane int) LANGUAGE plpgsql AS $$
DECLARE
  held open := lock_open(its_id);
BEGIN
  IF held.place IS NULL OR held.follows IS NOT NULL THEN
    RETURN;
  END IF;
  its_attempt := held.attempt + 1;
  IF again AND held.node = this_node() THEN
    its_attempt := held.attempt;
  ELSIF held.node IS NOT NULL THEN
    RETURN;
  ELSE
    UPDATE open SET node = this_node(), attempt = its_attempt, due = NULL, expires_at = NULL, returned = false
    WHERE place = held.place;
  END IF;
  first_bytes := (SELECT substring(payload FOR most_bytes) FROM job WHERE day = held.day AND place = held.place);
  its_day := held.day;
  its_place := held.place;
  its_lane := held.lane;
  RETURN NEXT;
END $$;

-- How far cursors may go. Places are drawn in transactions that have their number by then, and which end in any order.
-- One claim notes the last place that was drawn, `mark`. A later one, in another transaction, takes a number, `until`:
-- whoever has drawn a place up to `mark` has a lower one. Once all transactions below it have ended, no such place can
-- come any more: `safe` is that place, and another mark is noted. A snapshot that is only held has no number, so it
-- holds up no cursor.
CREATE OR REPLACE FUNCTION next_mark(
  mark bigint, until bigint, OUT safe bigint, OUT new_mark bigint, OUT new_until bigint)
LANGUAGE plpgsql AS $$
BEGIN
  new_mark := mark;
  new_until := until;
  IF mark > 0 AND until = 0 THEN
    new_until := pg_current_xact_id()::text::bigint;
  ELSIF mark = 0 OR pg_snapshot_xmin(pg_current_snapshot())::text::bigint >= until THEN
    safe := nullif(mark, 0);
    new_mark := coalesce(pg_sequence_last_value('places'), 0);
    new_until := 0;
  END IF;
END $$;

-- Gives jobs their turn of which the time has come, a part of them.
CREATE OR REPLACE FUNCTION bring_due(most int, now timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  number xid8;
BEGIN
  IF EXISTS (SELECT FROM open WHERE due <= now) THEN
    number := pg_current_xact_id();
    UPDATE open SET turn = nextval('places'), due = NULL
    WHERE place IN (SELECT place FROM open WHERE due <= now ORDER BY due LIMIT most FOR UPDATE SKIP LOCKED);
  END IF;
END $$;

-- Moves the cursors of all lanes as far as they may go. Its plan, and that of the next function, must not go through all
-- cursors for each lane: for the planner an array is short.
CREATE OR REPLACE FUNCTION move_cursors(safe bigint, INOUT cursor_lanes int[], INOUT cursors bigint[])
LANGUAGE plpgsql SET enable_nestloop = off AS $$
BEGIN
  SELECT array_agg(c.lane), array_agg(c.cursor) INTO cursor_lanes, cursors FROM (
    SELECT l.lane, greatest(coalesce(c.cursor, 0), least(safe + 1, (
        SELECT turn FROM open o WHERE o.lane = l.lane AND turn IS NOT NULL AND NOT returned
          AND turn >= coalesce(c.cursor, 0) AND node IS NULL ORDER BY turn LIMIT 1))) AS cursor
    FROM lane l LEFT JOIN unnest(cursor_lanes, cursors) c(lane, cursor) USING (lane)) c;
END $$;

-- The lanes that jobs of these clients and kinds may be claimed from, their priorities, where to look from, and which
-- turns to leave out among the jobs that have come back: those from `firsts` to `lasts`.
CREATE OR REPLACE FUNCTION look_for_lanes(
  clients bytea[], kinds bytea[], cursor_lanes int[], cursors bigint[], passed_lanes int[], first_passed bigint[],
  last_passed bigint[],
  OUT lanes int[], OUT levels smallint[], OUT begins bigint[], OUT firsts bigint[], OUT lasts bigint[])
LANGUAGE plpgsql STABLE SET enable_nestloop = off AS $$
BEGIN
  SELECT array_agg(lane), array_agg(coalesce(l.priority, s.priority)), array_agg(coalesce(c.cursor, 0)),
    array_agg(coalesce(p.first, 0)), array_agg(coalesce(p.last, 0))
  INTO lanes, levels, begins, firsts, lasts
  FROM lane l
  JOIN unnest(clients) known(client) ON known.client = l.client
  LEFT JOIN signal s USING (signal)
  LEFT JOIN unnest(cursor_lanes, cursors) c(lane, cursor) USING (lane)
  LEFT JOIN unnest(passed_lanes, first_passed, last_passed) p(lane, first, last) USING (lane)
  WHERE l.kind = ANY(kinds)
    AND NOT EXISTS (SELECT FROM pause p WHERE p.client = l.client
                    AND ((p.what = 0 AND p.name = l.kind) OR (p.what = 1 AND p.name = s.name)));
END $$;

-- Of a server that has jobs of these lanes, `taken`: the lanes whose jobs it may have no more of, as so many of a client
-- are to run at a time, or so many programs; and how many more it may have without reaching another such limit, or null.
CREATE OR REPLACE FUNCTION look_at_limits(
  taken int[], limited_clients bytea[], limits int[], programs bytea[], most_programs int,
  OUT full_lanes int[], OUT least_left int)
LANGUAGE plpgsql STABLE SET enable_nestloop = off AS $$
DECLARE
  full_clients bytea[];
  programs_left int;
BEGIN
  full_lanes := '{}';
  IF cardinality(limited_clients) + cardinality(programs) = 0 THEN
    RETURN;
  END IF;
  SELECT array_agg(name) FILTER (WHERE most_left <= 0), min(most_left) FILTER (WHERE most_left > 0)
  INTO full_clients, least_left
  FROM (SELECT c.name, c.most - count(t.client)::int AS most_left FROM unnest(limited_clients, limits) c(name, most)
        LEFT JOIN (SELECT l.client FROM unnest(taken) h(lane) JOIN lane l USING (lane)) t ON t.client = c.name
        GROUP BY c.name, c.most) client;
  programs_left := most_programs - (
    SELECT count(*) FROM unnest(taken) h(lane) JOIN lane l USING (lane) WHERE l.kind = ANY(programs));
  IF programs_left > 0 THEN
    least_left := least(least_left, programs_left);
  END IF;
  full_lanes := ARRAY(
    SELECT lane FROM lane WHERE client = ANY(full_clients) OR (programs_left <= 0 AND kind = ANY(programs)));
END $$;

-- Claims up to `size` jobs of a lane, the oldest ones of a part of it: of those that have come back, or of the others,
-- with turns behind one and before another one.
CREATE OR REPLACE FUNCTION take(
  its_lane int, from_returned boolean, after bigint, before bigint, size bigint, now timestamptz)
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  places bigint[];
BEGIN
  WITH free AS MATERIALIZED (
    SELECT * FROM (
      SELECT ctid FROM open o WHERE NOT from_returned AND lane = its_lane AND turn IS NOT NULL AND NOT o.returned
        AND turn > after AND turn < before AND node IS NULL AND (expires_at IS NULL OR expires_at > now)
      ORDER BY turn LIMIT size FOR UPDATE SKIP LOCKED) waiting
    UNION ALL SELECT * FROM (
      SELECT ctid FROM open o WHERE from_returned AND lane = its_lane AND o.returned
        AND turn > after AND turn < before AND node IS NULL AND (expires_at IS NULL OR expires_at > now)
      ORDER BY turn LIMIT size FOR UPDATE SKIP LOCKED) back),
  taken AS (
    UPDATE open SET node = this_node(), attempt = attempt + 1, returned = false
    FROM free WHERE open.ctid = free.ctid RETURNING place)
  SELECT array_agg(place) INTO places FROM taken;
  RETURN coalesce(places, '{}');
END $$;

-- Claims up to `room` jobs of one priority, the oldest turns first. A lane has three parts: what has not come back, and
-- what has, before the turns to leave out and behind them. Where a part gives fewer than were seen in it, other claims are
-- taking the rest, and it has no more: then the others are looked at again, so that nothing of a lower priority comes
-- before theirs. `drained` has such parts: four times the lane, and the part.
CREATE OR REPLACE FUNCTION claim_level(
  its_level int, room int, lanes int[], levels smallint[], begins bigint[], firsts bigint[], lasts bigint[],
  full_lanes int[], now timestamptz)
RETURNS bigint[] LANGUAGE plpgsql AS $$
DECLARE
  endless CONSTANT bigint := 9223372036854775807;
  head record;
  taken bigint[];
  places bigint[] := '{}';
  drained bigint[] := '{}';
  drained_before int := -1;
BEGIN
  WHILE cardinality(places) < room AND cardinality(drained) > drained_before LOOP
    drained_before := cardinality(drained);
    FOR head IN
      SELECT heads.lane, heads.part, heads.after, heads.before, count(*) AS size FROM (
        SELECT l.lane, h.*
        FROM unnest(lanes, levels, begins, firsts, lasts) l(lane, level, cursor, first, last)
        CROSS JOIN LATERAL (
          (SELECT turn, 0 AS part, l.cursor - 1 AS after, endless AS before FROM open o
           WHERE o.lane = l.lane AND turn IS NOT NULL AND NOT o.returned AND turn >= l.cursor
             AND node IS NULL AND (expires_at IS NULL OR expires_at > now) AND l.lane * 4::bigint <> ALL(drained)
           ORDER BY turn LIMIT room - cardinality(places))
          UNION ALL
          (SELECT turn, 1, 0, l.first FROM open o
           WHERE l.first > 0 AND o.lane = l.lane AND o.returned AND turn < l.first
             AND node IS NULL AND (expires_at IS NULL OR expires_at > now) AND l.lane * 4::bigint + 1 <> ALL(drained)
           ORDER BY turn LIMIT room - cardinality(places))
          UNION ALL
          (SELECT turn, 2, l.last, endless FROM open o
           WHERE o.lane = l.lane AND o.returned AND turn > l.last
             AND node IS NULL AND (expires_at IS NULL OR expires_at > now) AND l.lane * 4::bigint + 2 <> ALL(drained)
           ORDER BY turn LIMIT room - cardinality(places))
        ) h
        WHERE l.level = its_level AND l.lane <> ALL(full_lanes)
        ORDER BY h.turn LIMIT room - cardinality(places)) heads
      GROUP BY heads.lane, heads.part, heads.after, heads.before
    LOOP
      taken := take(head.lane, head.part > 0, head.after, head.before, head.size, now);
      places := places || taken;
      IF cardinality(taken) < head.size THEN
        drained := drained || (head.lane * 4::bigint + head.part);
      END IF;
    END LOOP;
  END LOOP;
  RETURN places;
END $$;

-- Claims jobs for a server that has `agents`: of each priority no more than the agents that have nothing of that or of
-- a more urgent one. `held` are the lanes of the jobs that it has already, each as often as it has one. `clients` and
-- `kinds` are those that it knows. Of each of `limited_clients` it may have so many jobs, and of all the kinds that are
-- `programs` together. It takes no jobs that have come back to one of `passed_lanes` and have one of its turns, from
-- `first_passed` to `last_passed`.
--
-- A claim looks at each lane from its cursor on: `cursors` are turns, in the order of `cursor_lanes`. Rows that are
-- dead, though a snapshot still sees them, lie before the cursor, so that their number does not matter. A cursor goes
-- to the oldest job that nobody has claimed, as far as no older one can come; see `next_mark`.
--
-- A claim looks for servers that have not renewed their lease.
--
-- The first row has what the next claim needs: `mark`, `until` and cursors. Its `it` is null. Each other row is a job.
CREATE OR REPLACE FUNCTION claim(
  agents int, held int[], clients bytea[], kinds bytea[], limited_clients bytea[], limits int[], programs bytea[],
  most_programs int, passed_lanes int[], first_passed bigint[], last_passed bigint[], most_bytes int,
  pauses bigint[],
  INOUT cursor_lanes int[], INOUT cursors bigint[], INOUT mark bigint, INOUT until bigint, clock timestamptz,
  OUT its_lane int, OUT its_turn bigint, OUT first_bytes bytea, OUT it stored, OUT clock_now timestamptz)
RETURNS SETOF record LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  safe bigint;
  room bigint;
  step int;
  places bigint[] := '{}';
  taken bigint[];
  found record;
  bounds record;
  claimed record;
BEGIN
  clock_now := now;
  PERFORM reclaim_gone(pauses, now);
  PERFORM bring_due(1000, now);
  SELECT m.safe, m.new_mark, m.new_until INTO safe, mark, until FROM next_mark(mark, until) m;
  IF safe IS NOT NULL THEN
    SELECT coalesce(m.cursor_lanes, '{}'), coalesce(m.cursors, '{}') INTO cursor_lanes, cursors FROM move_cursors(safe, cursor_lanes, cursors) m;
  END IF;
  found := look_for_lanes(clients, kinds, cursor_lanes, cursors, passed_lanes, first_passed, last_passed);
  FOR level IN REVERSE 2..0 LOOP
    room := agents - cardinality(places)
      - (SELECT count(*) FROM unnest(held) h(lane) WHERE priority_of(h.lane) >= level);
    WHILE room > 0 LOOP
      bounds := look_at_limits(
        held || ARRAY(SELECT lane FROM open WHERE place = ANY(places)), limited_clients, limits, programs, most_programs);
      step := least(room, bounds.least_left);
      taken := claim_level(
        level, step, found.lanes, found.levels, found.begins, found.firsts, found.lasts, bounds.full_lanes, now);
      places := places || taken;
      EXIT WHEN cardinality(taken) < step;
      room := room - step;
    END LOOP;
  END LOOP;
  RETURN NEXT;
  FOR claimed IN
    SELECT o.lane, o.turn, s,
      (SELECT substring(payload FOR most_bytes) FROM job j WHERE j.day = o.day AND j.place = o.place) AS first_bytes
    FROM open o JOIN lane USING (lane) LEFT JOIN signal USING (signal) JOIN stored s ON s.day = o.day AND s.place = o.place
    WHERE o.place = ANY(places) ORDER BY coalesce(lane.priority, signal.priority) DESC, o.turn
  LOOP
    its_lane := claimed.lane;
    its_turn := claimed.turn;
    it := claimed.s;
    first_bytes := claimed.first_bytes;
    RETURN NEXT;
  END LOOP;
END $$;
