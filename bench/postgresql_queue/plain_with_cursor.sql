INSERT INTO plain(lane, payload) SELECT random() * 2, repeat('x', 500)::bytea FROM pg_current_xact_id(), generate_series(1, 10);
SELECT claimed, cursors[1] AS c0, cursors[2] AS c1, cursors[3] AS c2, mark, until FROM claim_from_plain(10, ARRAY[:c0, :c1, :c2]::bigint[], :mark, :until) \gset
UPDATE plain SET state = 2, ended_at = now() WHERE place = ANY(:claimed) AND state = 1;
