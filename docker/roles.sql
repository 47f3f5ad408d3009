-- The service's role; the owner, seckill_lab, is made by the image from POSTGRES_USER.
-- No passwords: only the internal network reaches this server.  Run it as often as you like.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'seckill_service') THEN
        CREATE ROLE seckill_service LOGIN;
    END IF;
END $$;
ALTER ROLE seckill_service CONNECTION LIMIT 560;
