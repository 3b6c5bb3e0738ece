-- Servers, their leases, and what becomes of the jobs of one that has gone.

-- Who this connection is; see `begin_session`.
CREATE OR REPLACE FUNCTION this_node() RETURNS int LANGUAGE sql STABLE AS $$
  SELECT current_setting('heistd.node')::int
$$;
CREATE OR REPLACE FUNCTION this_session() RETURNS int LANGUAGE sql STABLE AS $$
  SELECT current_setting('heistd.session')::int
$$;

-- Holds the session of this connection until the transaction ends, against whoever begins another one or reclaims its
-- jobs: the first statement of each transaction that changes something. A renewal of the lease does not wait for it.
CREATE OR REPLACE FUNCTION hold_session() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM node WHERE node = this_node() AND session = this_session() AND lease_until > clock_timestamp()
  FOR KEY SHARE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the session of this server is over: its lease has ended, or it has another one';
  END IF;
END $$;

-- Ends the connections that are sessions of a server, but this one, with what they have under way. One whose server has
-- been stopped within a transaction would hold its rows as long as that lasts. No setting does this: as far as the
-- database can tell, such a transaction is neither idle nor at a statement.   Errors: for another role's connections.
CREATE OR REPLACE FUNCTION end_connections(its_node int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_terminate_backend(pid, 1000) FROM pg_locks
  WHERE locktype = 'advisory' AND classid = hashtext('heistd.node')::oid AND objid = its_node::oid AND objsubid = 2
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid <> pg_backend_pid();
END $$;

-- Makes this connection a server's session, and ends the earlier one of the same process with what it has under way.
-- What that has claimed is left with it: the server looks at `held`, and gives back what it does not know, as the answer
-- of a claim was lost. Another process gets the name only when the lease of the earlier one is over. The lease is in
-- milliseconds. Servers of version 1 do not say which they have.
CREATE OR REPLACE FUNCTION begin_session(
  its_name text, its_process uuid, lease bigint, its_version int DEFAULT 1, OUT its_node int, OUT its_session int)
LANGUAGE plpgsql AS $$
DECLARE
  earlier node;
  migrated int := (SELECT number FROM version);
BEGIN
  IF its_version <> migrated THEN
    RAISE EXCEPTION 'the schema of this database is of version % now, and this server is of %: end it, and start a heistd '
      'of that version', migrated, its_version;
  END IF;
  PERFORM end_connections(node) FROM node WHERE name = its_name AND process = its_process;
  SELECT * INTO earlier FROM node WHERE name = its_name FOR UPDATE;
  IF earlier.lease_until <= clock_timestamp() THEN
    UPDATE node SET name = NULL WHERE node = earlier.node;
  ELSIF earlier.process <> its_process THEN
    RAISE EXCEPTION 'the lease of another server with the name "%" lasts until %; give each server a name of its own, or '
      'wait until then', its_name, earlier.lease_until;
  END IF;
  INSERT INTO node(name, process, session, lease_until)
  VALUES (its_name, its_process, 1, clock_timestamp() + lease * interval '1 ms')
  ON CONFLICT (name) DO UPDATE SET session = node.session + 1,
    lease_until = clock_timestamp() + lease * interval '1 ms'
  WHERE node.process = its_process
  RETURNING node, session INTO STRICT its_node, its_session;
  PERFORM set_config('heistd.node', its_node::text, false), set_config('heistd.session', its_session::text, false);
  PERFORM pg_advisory_lock_shared(hashtext('heistd.node'), its_node);  -- see `end_connections`
END $$;

-- Renews a lease; false when it is over, so that nobody who was taken for gone comes back.
CREATE OR REPLACE FUNCTION renew(its_node int, lease bigint) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE node SET lease_until = clock_timestamp() + lease * interval '1 ms'
  WHERE node = its_node AND lease_until > clock_timestamp();
  RETURN FOUND;
END $$;

-- The places of the jobs that a server has claimed. It reads all of the table in the order in which that lies on the
-- disk: an index would be written at each claim, and this is for new sessions and for servers that have gone.
CREATE OR REPLACE FUNCTION claimed_by(its_node int) RETURNS bigint[] LANGUAGE plpgsql STABLE SET enable_seqscan = on AS $$
BEGIN
  RETURN ARRAY(SELECT place FROM open WHERE node = its_node);
END $$;

-- The jobs that this server has claimed.
CREATE OR REPLACE FUNCTION held() RETURNS TABLE(id uuid, attempt int) LANGUAGE plpgsql STABLE AS $$
DECLARE
  places bigint[] := claimed_by(this_node());
BEGIN
  RETURN QUERY SELECT j.id, o.attempt FROM open o JOIN job j USING (day, place) WHERE o.place = ANY(places);
END $$;

-- Ends the attempts that a server has under way. `pauses` are those before the next attempt, in milliseconds, after
-- one, two and more attempts.
CREATE OR REPLACE FUNCTION reclaim_jobs(its_node int, pauses bigint[], clock timestamptz, OUT queued bigint, OUT dead bigint)
LANGUAGE plpgsql AS $$
DECLARE
  now timestamptz := coalesce(clock, clock_timestamp());
  held open;
  is_dead boolean;
  tried int;
  places bigint[] := claimed_by(its_node);
BEGIN
  queued := 0;
  dead := 0;
  FOR held IN SELECT * FROM open WHERE place = ANY(places) AND node = its_node ORDER BY place FOR UPDATE LOOP
    tried := least(held.attempt - held.forgiven, cardinality(pauses));
    SELECT f.is_dead INTO is_dead FROM fail_attempt(
      held, (SELECT id FROM job WHERE day = held.day AND place = held.place), 'attempt_lost',
      'the server ended while the job ran', now + pauses[tried] * interval '1 ms', now) f;
    IF is_dead THEN dead := dead + 1; ELSE queued := queued + 1; END IF;
  END LOOP;
END $$;

-- The same for servers that have not renewed their lease, of which nothing is left.
CREATE OR REPLACE FUNCTION reclaim_gone(pauses bigint[], clock timestamptz) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  gone int;
BEGIN
  FOR gone IN SELECT node FROM node WHERE lease_until < clock_timestamp() AND node <> this_node() LOOP
    PERFORM FROM node WHERE node = gone FOR UPDATE SKIP LOCKED;
    IF NOT FOUND THEN
      PERFORM end_connections(gone);
      PERFORM FROM node WHERE node = gone FOR UPDATE SKIP LOCKED;
    END IF;
    IF FOUND THEN
      -- Who claims holds this row until that has ended. So the jobs are looked for after that, by a statement of their
      -- own.
      PERFORM reclaim_jobs(gone, pauses, clock);
      DELETE FROM node WHERE node = gone;
    END IF;
  END LOOP;
END $$;
