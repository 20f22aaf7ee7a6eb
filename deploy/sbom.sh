#!/usr/bin/env bash
# Bill of materials of the programs, CycloneDX 1.5 in JSON: one file a program, every package with
# its version, licence and checksum as Cargo.lock has them.
#
#   deploy/sbom.sh [FOLDER]     default: target/sbom
#
# Needs cargo-cyclonedx: cargo install cargo-cyclonedx --locked
set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-target/sbom}
if ! cargo cyclonedx --version >/dev/null 2>&1; then
  echo "cargo-cyclonedx is missing: cargo install cargo-cyclonedx --locked" >&2
  exit 69
fi
mkdir -p "$out"
made=()
trap 'rm -f "${made[@]}"' EXIT
for manifest in edge agent agent/pdf deploy/standalone; do
  name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest/Cargo.toml" | head -n 1)
  made+=("$manifest/$name.cdx.json")
  cargo cyclonedx --manifest-path "$manifest/Cargo.toml" --format json --spec-version 1.5 \
    --override-filename "$name.cdx" --quiet
  # the tool writes a file beside every manifest of the workspace that it looks at
  cp "$manifest/$name.cdx.json" "$out/"
done
find . -name '*.cdx.json' -not -path "./target/*" -not -path "./$out/*" -delete
ls -l "$out"
