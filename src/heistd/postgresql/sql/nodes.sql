-- Servers, their leases, and what becomes of the jobs of one that has gone.

-- Who this connection is; see `begin_session`.
CREATE OR REPLACE FUNCTION this_node() RETURNS int LANGUAGE sql STABLE AS $$
  SELECT current_setting('heistd.node')::int
$$;
CREATE OR REPLACE FUNCTION this_session() RETURNS int LANGUAGE sql STABLE AS $$
  SELECT current_setting('heistd.session')::int
$$;

-- Makes this connection a server's session. What an earlier session of that name has claimed is left with it: the
-- server looks at `held`, and gives back what it does not know. The lease is in milliseconds.
CREATE OR REPLACE FUNCTION begin_session(its_name text, lease bigint, OUT its_node int, OUT its_session int)
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO node(name, session, lease_until)
  VALUES (its_name, 1, clock_timestamp() + lease * interval '1 ms')
  ON CONFLICT (name) DO UPDATE SET session = node.session + 1,
    lease_until = clock_timestamp() + lease * interval '1 ms'
  RETURNING node, session INTO its_node, its_session;
  PERFORM set_config('heistd.node', its_node::text, false), set_config('heistd.session', its_session::text, false);
END $$;

-- Renews the lease, unless three quarters of it are left; false when the session is over, as the server was taken for
-- gone or has another session.
CREATE OR REPLACE FUNCTION renew(lease bigint) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  left_of_it interval;
BEGIN
  SELECT lease_until - clock_timestamp() INTO left_of_it FROM node
  WHERE node = this_node() AND session = this_session() FOR UPDATE;
  IF left_of_it IS NULL OR left_of_it <= interval '0' THEN
    RETURN false;
  END IF;
  IF left_of_it < lease * interval '0.75 ms' THEN
    UPDATE node SET lease_until = clock_timestamp() + lease * interval '1 ms' WHERE node = this_node();
  END IF;
  RETURN true;
END $$;

-- The jobs that this server has claimed.
CREATE OR REPLACE FUNCTION held() RETURNS TABLE(id uuid, attempt int) LANGUAGE sql STABLE AS $$
  SELECT j.id, o.attempt FROM open o JOIN job j USING (day, place) WHERE o.node = this_node()
$$;

-- Ends the attempts that a server has under way. `pauses` are those before the next attempt, in milliseconds, after
-- one, two and more attempts.
CREATE OR REPLACE FUNCTION reclaim_jobs(its_node int, pauses bigint[], clock timestamptz, OUT queued bigint, OUT dead bigint)
LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  held open;
  is_dead boolean;
  tried int;
BEGIN
  queued := 0;
  dead := 0;
  FOR held IN SELECT * FROM open WHERE node = its_node ORDER BY place FOR UPDATE LOOP
    tried := least(held.attempt - held.forgiven, cardinality(pauses));
    SELECT f.is_dead INTO is_dead FROM fail_attempt(
      held, (SELECT id FROM job WHERE day = held.day AND place = held.place), 'attempt_lost',
      'the server ended while the job ran', now + pauses[tried] * interval '1 ms', now) f;
    IF is_dead THEN dead := dead + 1; ELSE queued := queued + 1; END IF;
  END LOOP;
END $$;

-- The same for servers that have not renewed their lease, whose sessions end; says how many there were.
CREATE OR REPLACE FUNCTION reclaim_gone(pauses bigint[]) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  gone int;
  all_gone int := 0;
BEGIN
  FOR gone IN
    SELECT node FROM node WHERE lease_until < clock_timestamp() AND lease_until > '-infinity' FOR UPDATE SKIP LOCKED
  LOOP
    -- Who claims holds this row until that has ended. So the jobs are looked for after that, by a statement of their
    -- own.
    UPDATE node SET session = session + 1, lease_until = '-infinity' WHERE node = gone;
    PERFORM reclaim_jobs(gone, pauses, NULL);
    all_gone := all_gone + 1;
  END LOOP;
  RETURN all_gone;
END $$;
