#!/usr/bin/env bash
# Makes the files that must not be in a repository: certificates and secrets, under
# deploy/compose/private. Existing files are kept. Run again after adding a gateway.
#
#   prepare.sh [HOST…]       names and addresses under which gateways reach the broker
set -euo pipefail
cd "$(dirname "$0")"
certificates=../mosquitto/certificates.sh
authority=private/authority
umask 077
mkdir -p private/secrets private/mosquitto private/agent private/gw-01

[ -f "$authority/broker.crt" ] || "$certificates" "$authority" broker mosquitto localhost "$@"
for client in pdm-agent pdm-agent-out gw-01; do
  [ -f "$authority/$client.crt" ] || "$certificates" "$authority" client "$client"
done
place() { # folder, certificate's name, name there
  cp "$authority/ca.crt" "private/$1/ca.crt"
  cp "$authority/$2.crt" "private/$1/$3.crt"
  cp "$authority/$2.key" "private/$1/$3.key"
}
place mosquitto broker broker
cp "$authority/ca.crl" private/mosquitto/ca.crl
place agent pdm-agent pdm-agent
place agent pdm-agent-out pdm-agent-out
place gw-01 gw-01 gw-01

for secret in postgres http admin; do
  [ -s "private/secrets/$secret" ] || openssl rand -hex 24 | tr -d '\n' >"private/secrets/$secret"
done
# each container's user reads its own folder only
chmod 711 private private/secrets
chmod 755 private/mosquitto private/agent private/gw-01
if [ "$(id -u)" -eq 0 ]; then
  chown -R 1883:1883 private/mosquitto # the user of the broker's image
  chown -R 10001:10001 private/agent private/gw-01 private/secrets
  chown 0:0 private/secrets
  chmod 400 private/secrets/* # the database's container reads its password as root
else
  chmod 444 private/secrets/* private/mosquitto/* private/agent/* private/gw-01/*
  echo "not root: keys and secrets are readable by every user of this machine; run as root"
fi
echo "ready: docker compose -f deploy/compose/compose.yaml up -d --build"
