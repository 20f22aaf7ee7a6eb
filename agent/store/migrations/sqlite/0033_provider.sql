-- Users who log in by the plant's own provider (OpenID Connect): the provider and its own name of the user.
ALTER TABLE users ADD COLUMN issuer TEXT;
ALTER TABLE users ADD COLUMN subject TEXT;
CREATE UNIQUE INDEX users_by_provider ON users (issuer, subject) WHERE issuer IS NOT NULL;
