\if :begun
\else
SET search_path = heistd;
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
SET jit = off;
SELECT begin_session('client ' || gen_random_uuid(), gen_random_uuid(), 1000000000, (SELECT number FROM version));
\set begun 1
\endif
SELECT insert_jobs(array_agg(gen_random_uuid()), array_agg('alice'::bytea), array_agg('digest'::bytea), array_agg(''::bytea), array_agg(NULL::bytea), array_agg((random() * 2)::smallint), array_agg(1::smallint), array_agg(0::bigint), array_agg(NULL::bigint), array_agg(NULL::bigint), array_agg(NULL::uuid), array_agg(NULL::bigint), array_agg(1), array_agg('request'::bytea), array_agg(NULL::bytea), array_agg(NULL::bytea), array_agg(repeat('x', 500)::bytea), clock_timestamp()) FROM generate_series(1, :jobs);
WITH c AS MATERIALIZED (SELECT * FROM claim(:jobs, '{}', '{alice}', '{digest}', '{}', '{}', '{}', 0, '{}', '{}', '{}', 131072, '{0}', :lanes::int[], :cursors::bigint[], :mark, :until, NULL)), claimed AS (SELECT array_agg((it).place) AS places, array_agg((it).day) AS days, array_agg((it).attempt) AS attempts FROM c WHERE its_lane IS NOT NULL) SELECT cursor_lanes::text AS lanes, c.cursors::text AS cursors, mark, until, coalesce(places, '{}')::text AS places, coalesce(days, '{}')::text AS days, coalesce(attempts, '{}')::text AS attempts, coalesce(cardinality(places), 0) AS claimed FROM c, claimed WHERE its_lane IS NULL \gset
SELECT complete(:days::date[], :places::bigint[], :attempts::int[], array_fill('done'::bytea, ARRAY[:claimed::int]), array_fill('a result'::bytea, ARRAY[:claimed::int]), false, NULL);
