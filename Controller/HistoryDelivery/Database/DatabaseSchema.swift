/// The tables, partitions, policies and views of the history in PostgreSQL.
public enum DatabaseSchema {
    /// The version of ``text``.
    static let version = 1

    /// The statements that create the schema, in one transaction of its owner.
    public static let text = #"""
        CREATE SCHEMA smartplug;
        COMMENT ON SCHEMA smartplug IS 'Measurements of the plugs of houses. Documentation/how-to/history-export.md lists the views to read.';
        SET LOCAL search_path = smartplug, pg_temp;

        -- One row. A daemon rejects any version except its own.
        CREATE TABLE schema_version (version integer NOT NULL);
        INSERT INTO schema_version VALUES (1);

        -- One row per daemon. identity: the id in the daemon's directory. epoch, cursor: the last received change of the daemon's history.
        -- time_zone: the zone in which its days begin. sampled: true if each sample also has a row in the table samples.
        -- last_seen: the daemon's last contact. caught_up: the last time when the daemon had sent its whole history.
        CREATE TABLE houses (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            name text NOT NULL UNIQUE,
            identity uuid NOT NULL,
            labels jsonb NOT NULL DEFAULT '{}',
            time_zone text NOT NULL DEFAULT 'UTC',
            sampled boolean NOT NULL DEFAULT true,
            epoch uuid,
            cursor bigint NOT NULL DEFAULT 0,
            caught_up timestamptz,
            last_seen timestamptz);
        CREATE INDEX ON houses USING gin (labels);

        CREATE TABLE plugs (
            id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            house integer NOT NULL REFERENCES houses,
            plug text NOT NULL,
            name text NOT NULL DEFAULT '',
            firmware text,
            UNIQUE (house, plug));

        -- level: per cent; active_energy: the plug's counter, Wh; tripped: the protection that locked the relay.
        CREATE TABLE states (
            plug integer PRIMARY KEY REFERENCES plugs,
            connected boolean NOT NULL,
            last_seen timestamptz,
            relay boolean,
            level real,
            active_power real,
            active_energy double precision,
            voltage real,
            current real,
            tripped text) WITH (fillfactor = 50);

        -- The sum of the quarter-hours (table quarters) of each day in the house's time zone. energy: Wh; estimated: the estimated part of
        -- energy, Wh; covered: milliseconds with samples.
        CREATE TABLE energy (
            plug integer NOT NULL, day date NOT NULL, energy double precision NOT NULL, estimated double precision NOT NULL,
            covered integer NOT NULL,
            PRIMARY KEY (plug, day));
        CREATE INDEX ON energy (day);

        -- Read access: a role sees the houses of its rows; a row without a house gives access to all houses.
        CREATE TABLE access (role name NOT NULL, house integer REFERENCES houses, UNIQUE NULLS NOT DISTINCT (role, house));

        -- The time for which a table keeps rows. A table that is not listed here keeps rows forever.
        CREATE TABLE retention (relation name PRIMARY KEY, keep interval NOT NULL);

        -- Tables with one part per month: hypertables with TimescaleDB, otherwise partitions. Rows with an implausible time are stored in the
        -- default partition.
        CREATE FUNCTION timescale() RETURNS name LANGUAGE sql STABLE
            RETURN (SELECT nspname FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace WHERE extname = 'timescaledb');

        -- The chunks of a hypertable get its grants, but not its policies. Readers therefore have no access to the schema of the chunks.
        DO $body$
        BEGIN
            IF smartplug.timescale() IS NOT NULL THEN CREATE SCHEMA smartplug_chunks; END IF;
        END $body$;

        CREATE FUNCTION make_table(relation text, columns text, at text) RETURNS void LANGUAGE plpgsql AS $body$
        BEGIN
            IF smartplug.timescale() IS NOT NULL THEN
                EXECUTE format('CREATE TABLE smartplug.%I (%s)', relation, columns);
                EXECUTE format(
                    'SELECT %I.create_hypertable(%L::regclass, %L::name, associated_schema_name => ''smartplug_chunks'',
                        chunk_time_interval => interval ''1 month'')',
                    smartplug.timescale(), format('smartplug.%I', relation), at);
            ELSE
                EXECUTE format('CREATE TABLE smartplug.%I (%s) PARTITION BY RANGE (%I)', relation, columns, at);
                EXECUTE format('CREATE TABLE smartplug.%I PARTITION OF smartplug.%I DEFAULT', relation || '_other', relation);
            END IF;
        END $body$;

        -- Chunks of samples as the plugs sent them. first: milliseconds of the plug's clock at the first sample; since, until: the first and
        -- the last sample on the wall clock; crc: CRC-32 of bytes; rows, digest: the number and the digest of its samples in the table
        -- samples.
        SELECT make_table('chunks', 'plug integer NOT NULL, boot bytea NOT NULL, first bigint NOT NULL, since timestamptz NOT NULL,
            until timestamptz NOT NULL, count integer NOT NULL, crc bigint NOT NULL, rows integer NOT NULL, digest bigint NOT NULL,
            bytes bytea NOT NULL, PRIMARY KEY (plug, boot, first, since)', 'since');
        SELECT make_table('samples', 'at timestamptz NOT NULL, plug integer NOT NULL, active_power real NOT NULL, voltage real, current real,
            PRIMARY KEY (plug, at)', 'at');
        -- covered: milliseconds with samples; mean, least, greatest: W, null without a sample; energy, estimated: Wh.
        SELECT make_table(step, 'start timestamptz NOT NULL, plug integer NOT NULL, covered integer NOT NULL, mean real, least real,
            greatest real, energy double precision NOT NULL, estimated double precision NOT NULL, PRIMARY KEY (plug, start)', 'start')
            FROM unnest(ARRAY['minutes', 'quarters', 'hours', 'days']) AS step;
        -- kind, detail: as in the event messages to an MQTT broker.
        SELECT make_table('events', 'at timestamptz NOT NULL, plug integer NOT NULL, sequence bigint NOT NULL, kind text NOT NULL,
            detail jsonb NOT NULL, time_known boolean NOT NULL, PRIMARY KEY (plug, sequence, at, kind)', 'at');
        CREATE INDEX ON events (at);

        CREATE FUNCTION parted() RETURNS SETOF name LANGUAGE sql IMMUTABLE
            RETURN unnest(ARRAY['chunks', 'samples', 'minutes', 'quarters', 'hours', 'days', 'events']::name[]);

        -- Creates the partitions of the given months, each given by its first day. Implausible months (before 2000, or more than 13 months
        -- ahead) are skipped.
        CREATE FUNCTION make_partitions(months date[]) RETURNS void
            LANGUAGE plpgsql SECURITY DEFINER SET search_path = smartplug, pg_temp AS $body$
        DECLARE
            month date;
            relation name;
        BEGIN
            IF timescale() IS NOT NULL THEN RETURN; END IF;
            PERFORM pg_advisory_xact_lock(hashtext('smartplug partitions'));
            -- While the function waits for a long query that reads the default partition, later queries that read it wait too. The
            -- function therefore fails after 5 s.
            SET LOCAL lock_timeout = '5s';
            FOREACH month IN ARRAY months LOOP
                CONTINUE WHEN month < '2000-01-01' OR month > now() + interval '13 months' OR month <> date_trunc('month', month);
                FOR relation IN SELECT * FROM parted() LOOP
                    CONTINUE WHEN to_regclass(format('%I', relation || to_char(month, '_YYYY_MM'))) IS NOT NULL;
                    BEGIN
                        -- In two steps, so that queries of other months are not blocked.
                        EXECUTE format(
                            'CREATE TABLE %I (LIKE %I INCLUDING DEFAULTS)', relation || to_char(month, '_YYYY_MM'), relation);
                        EXECUTE format(
                            'ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', relation,
                            relation || to_char(month, '_YYYY_MM'), month || ' 00:00+00',
                            (month + interval '1 month')::date || ' 00:00+00');
                    EXCEPTION WHEN check_violation THEN
                        -- The default partition already has rows of this month, because they arrived when the month was too far ahead. The
                        -- month gets no partition of its own: its later rows are stored in the default partition too.
                        NULL;
                    END;
                END LOOP;
            END LOOP;
        END $body$;

        -- The start of the first month whose rows a table keeps; null if the table keeps all rows.
        CREATE FUNCTION horizon(wanted name) RETURNS timestamptz LANGUAGE sql STABLE
            RETURN (SELECT date_trunc('month', now() - keep, 'UTC') FROM smartplug.retention WHERE relation = wanted);

        -- Drops the parts that are older than their retention.
        CREATE FUNCTION forget() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = smartplug, pg_temp AS $body$
        DECLARE
            part record;
        BEGIN
            IF timescale() IS NOT NULL THEN
                FOR part IN SELECT relation AS name FROM retention WHERE relation IN (SELECT * FROM parted()) LOOP
                    EXECUTE format(
                        'SELECT %I.drop_chunks(%L::regclass, %L::timestamptz)', timescale(), format('smartplug.%I', part.name),
                        horizon(part.name));
                END LOOP;
                RETURN;
            END IF;
            -- If a query reads a month for longer than 2 s, the function fails and drops nothing. The next call tries again.
            SET LOCAL lock_timeout = '2s';
            FOR part IN
                SELECT child.relname AS name FROM retention
                    JOIN pg_inherits ON inhparent = format('smartplug.%I', retention.relation)::regclass
                    JOIN pg_class child ON child.oid = inhrelid
                WHERE retention.relation IN (SELECT * FROM parted()) AND child.relname ~ '_\d{4}_\d{2}$'
                    AND to_date(right(child.relname, 7), 'YYYY_MM') < horizon(retention.relation) AT TIME ZONE 'UTC'
            LOOP
                EXECUTE format('DROP TABLE %I', part.name);
            END LOOP;
        END $body$;

        -- Lets a role read the views of a house, or of all houses if `wanted` is null.
        CREATE FUNCTION admit(reader name, wanted text) RETURNS void LANGUAGE plpgsql SET search_path = smartplug, pg_temp AS $body$
        DECLARE
            readable name;
        BEGIN
            IF wanted IS NOT NULL AND NOT EXISTS (SELECT FROM houses WHERE houses.name = wanted) THEN
                RAISE EXCEPTION 'no house is named %', wanted;
            END IF;
            EXECUTE format('GRANT USAGE ON SCHEMA smartplug TO %I', reader);
            -- Partitions are left out, because they have no policies.
            FOR readable IN SELECT relname FROM pg_class
                WHERE relnamespace = 'smartplug'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
            LOOP
                EXECUTE format('GRANT SELECT ON %I TO %I', readable, reader);
            END LOOP;
            INSERT INTO access VALUES (reader, (SELECT id FROM houses WHERE houses.name = wanted)) ON CONFLICT DO NOTHING;
        END $body$;

        REVOKE ALL ON ALL FUNCTIONS IN SCHEMA smartplug FROM PUBLIC;

        -- Row-level security: each reader sees the houses in `access`, and their rows. The owner role and its
        -- member roles read and write all rows. The daemons use member roles.
        ALTER TABLE access ENABLE ROW LEVEL SECURITY;
        CREATE POLICY own ON access FOR SELECT USING (role = current_user);
        ALTER TABLE houses ENABLE ROW LEVEL SECURITY;
        CREATE POLICY readers ON houses FOR SELECT
            USING (EXISTS (SELECT FROM smartplug.access WHERE access.role = current_user AND (access.house IS NULL OR access.house = houses.id)));
        ALTER TABLE plugs ENABLE ROW LEVEL SECURITY;
        CREATE POLICY readers ON plugs FOR SELECT USING (house IN (SELECT id FROM smartplug.houses));
        DO $body$
        DECLARE
            relation name;
        BEGIN
            FOR relation IN SELECT * FROM smartplug.parted() UNION ALL VALUES ('states'), ('energy') LOOP
                EXECUTE format('ALTER TABLE smartplug.%I ENABLE ROW LEVEL SECURITY', relation);
                EXECUTE format('CREATE POLICY readers ON smartplug.%I FOR SELECT USING (plug IN (SELECT id FROM smartplug.plugs))', relation);
            END LOOP;
        END $body$;

        -- A plug is connected if its daemon reported this, and the daemon's last contact was in the last two minutes.
        CREATE VIEW live WITH (security_invoker = true) AS
            SELECT houses.name AS house, houses.labels, plugs.plug, plugs.name, plugs.firmware,
                coalesce(states.connected AND houses.last_seen > now() - interval '2 minutes', false) AS connected,
                states.last_seen, states.relay, states.level, states.active_power, states.active_energy, states.voltage, states.current,
                states.tripped, houses.last_seen AS house_last_seen
            FROM plugs JOIN houses ON houses.id = plugs.house LEFT JOIN states ON states.plug = plugs.id;
        CREATE VIEW away WITH (security_invoker = true) AS SELECT * FROM live WHERE NOT connected;
        CREATE VIEW tripped WITH (security_invoker = true) AS SELECT * FROM live WHERE tripped IS NOT NULL;

        CREATE VIEW power WITH (security_invoker = true) AS
            SELECT samples.at, houses.name AS house, plugs.plug, plugs.name, samples.active_power, samples.voltage, samples.current
            FROM samples JOIN plugs ON plugs.id = samples.plug JOIN houses ON houses.id = plugs.house;
        DO $body$
        DECLARE
            step text;
        BEGIN
            FOREACH step IN ARRAY ARRAY['minutes', 'quarters', 'hours', 'days'] LOOP
                EXECUTE format(
                    'CREATE VIEW smartplug.%I WITH (security_invoker = true) AS
                        SELECT part.start, houses.name AS house, plugs.plug, plugs.name, part.covered, part.mean, part.least, part.greatest,
                            part.energy, part.estimated
                        FROM smartplug.%I part JOIN smartplug.plugs ON plugs.id = part.plug JOIN smartplug.houses ON houses.id = plugs.house',
                    'power_' || step, step);
            END LOOP;
        END $body$;

        CREATE VIEW energy_days WITH (security_invoker = true) AS
            SELECT energy.day, houses.name AS house, plugs.plug, plugs.name, energy.energy, energy.estimated
            FROM energy JOIN plugs ON plugs.id = energy.plug JOIN houses ON houses.id = plugs.house;
        CREATE VIEW energy_months WITH (security_invoker = true) AS
            SELECT date_trunc('month', day)::date AS month, house, plug, name, sum(energy) AS energy, sum(estimated) AS estimated
            FROM energy_days GROUP BY 1, 2, 3, 4;
        CREATE VIEW energy_house_months WITH (security_invoker = true) AS
            SELECT date_trunc('month', day)::date AS month, house, count(DISTINCT plug) AS plugs, sum(energy) AS energy,
                sum(estimated) AS estimated
            FROM energy_days GROUP BY 1, 2;
        CREATE VIEW happened WITH (security_invoker = true) AS
            SELECT events.at, houses.name AS house, plugs.plug, plugs.name, events.sequence, events.kind, events.detail, events.time_known
            FROM events JOIN plugs ON plugs.id = events.plug JOIN houses ON houses.id = plugs.house;
        """#
}
