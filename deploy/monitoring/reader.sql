-- A role for Grafana that reads what grafana-postgres.json shows, and nothing else: no users, no tokens, no
-- texts of messages in the outbox. Run once in the agent's database by its owner, with a password of your own:
--   psql "$DATABASE" -f reader.sql -c "ALTER ROLE pdm_reader PASSWORD '…'"
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pdm_reader') THEN
        CREATE ROLE pdm_reader LOGIN;
    END IF;
END $$;
-- A dashboard that asks for too much is ended, and never holds up the agent.
ALTER ROLE pdm_reader SET statement_timeout = '15s';
ALTER ROLE pdm_reader SET default_transaction_read_only = on;
GRANT USAGE ON SCHEMA public TO pdm_reader;
GRANT SELECT ON bearings, episodes, events, events_unjudged, follow_ups, gateways, notifications,
                pdm_agent_memory, captures TO pdm_reader;
