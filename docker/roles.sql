-- The service's role; the owner, seckill_lab, is made by the image from POSTGRES_USER.
-- No passwords: only the containers on the internal network can reach this server.
CREATE ROLE seckill_service LOGIN CONNECTION LIMIT 560;
