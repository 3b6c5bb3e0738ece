INSERT INTO plain(lane, payload) SELECT random() * 2, repeat('x', 500)::bytea FROM generate_series(1, 10);
WITH taken AS (UPDATE plain SET state = 1, attempt = attempt + 1 WHERE place IN (SELECT place FROM plain WHERE state = 0 ORDER BY lane, place LIMIT 10 FOR UPDATE SKIP LOCKED) RETURNING place) SELECT coalesce(array_agg(place), '{}') AS claimed FROM taken \gset
UPDATE plain SET state = 2, ended_at = now() WHERE place = ANY(:claimed) AND state = 1;
