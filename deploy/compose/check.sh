#!/usr/bin/env bash
# Builds the images, runs the composition and checks it: every container becomes healthy, events of
# the simulated pump arrive in PostgreSQL through TLS and the broker's access rules, and a stop and
# a start lose no event and repeat none.
#
#   check.sh [--no-build]           with Docker; --no-build: with the existing images
#   ENGINE=podman check.sh […]      with podman and podman-compose, as root
#
# The project is called pdm-check; its containers and volumes are removed at the end, the folder
# private/ that prepare.sh makes stays. The ports 8883 and 9465 must be free.
set -euo pipefail
cd "$(dirname "$0")"
engine=${ENGINE:-docker}
project=pdm-check
case $engine in
  docker) compose=(docker compose -p $project) ;;
  podman) compose=(podman-compose -p $project) ;;
  *) sed -n '2,11s/^# \{0,1\}//p' "$0" >&2; exit 64 ;;
esac
needs() { echo "check.sh needs $1" >&2; exit 69; }
command -v "$engine" >/dev/null || needs "$engine"
"${compose[@]}" version >/dev/null 2>&1 || needs "${compose[0]} with compose: docker-compose-plugin, or podman-compose"
labelled=(--filter "label=com.docker.compose.project=$project")

container() { "$engine" ps -q "${labelled[@]}" --filter "label=com.docker.compose.service=$1"; }
in_database() { "$engine" exec "$(container postgres)" psql -U pdm -d pdm -Atc "$1"; }
end() {
  [ $? -eq 0 ] || "${compose[@]}" logs 2>&1 | tail -n 60
  [ -z "${timer:-}" ] || kill "$timer"
  "${compose[@]}" down -v >/dev/null 2>&1 || true
}
trap end EXIT

# podman checks a container's health only by systemd; without systemd the check runs here
if [ "$engine" = podman ]; then
  while sleep 2; do
    for id in $(podman ps -q "${labelled[@]}"); do podman healthcheck run "$id" || true; done
  done >/dev/null 2>&1 &
  timer=$!
fi

until_true() { # seconds, what, command…
  local left=$1 what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $((left--)) -gt 0 ] || { echo "FAILED: $what"; exit 1; }
    sleep 1
  done
  echo "ok: $what"
}
is_healthy() {
  case $("$engine" inspect --format '{{json .State}}' "$(container "$1")") in
    *'"healthy"'*) ;;
    *) return 1 ;;
  esac
}
has_events() { [ "$(in_database 'SELECT count(*) FROM events')" -ge "$1" ]; }
start() {
  "${compose[@]}" up -d "$@"
  for service in $("${compose[@]}" config --services); do
    [ "$service" = qdrant ] || until_true 180 "$service is healthy" is_healthy "$service"
  done
}

./prepare.sh
if [ "${1:-}" = --no-build ]; then start; else start --build; fi
until_true 120 "20 events are stored" has_events 20
"${compose[@]}" down
start
before=$(in_database 'SELECT count(*) FROM events')
[ "$before" -ge 20 ] || { echo "FAILED: $before events are left"; exit 1; }
until_true 120 "20 more are stored" has_events $((before + 20))
holes=$(in_database 'SELECT max(sequence) - count(DISTINCT sequence) FROM events')
twice=$(in_database 'SELECT count(*) - count(DISTINCT event_id) FROM events')
judged=$(in_database 'SELECT count(*) FROM pdm_agent_memory')
[ "$holes/$twice" = 0/0 ] || { echo "FAILED: $holes lost, $twice twice"; exit 1; }
echo "ok: $(in_database 'SELECT count(*) FROM events') events, none lost, none twice, $judged judged"
