#!/usr/bin/env bash
# A certificate authority of your own and the certificates it signs, with openssl.
#
#   certificates.sh FOLDER broker HOST…      the broker's, for these host names and addresses
#   certificates.sh FOLDER client NAME       a client's: a gateway_id, pdm-agent, pdm-agent-out, staff
#   certificates.sh FOLDER revoke NAME       puts NAME.crt on the revocation list ca.crl
#
# FOLDER/ca.key signs; keep it off the broker. PDM_CERTIFICATE_DAYS (default 825) is the
# validity of a certificate in days; the authority and its list are valid for ten years. After
# `revoke` copy ca.crl to the broker and send it SIGHUP. The same command again renews a certificate,
# with a new key: copy both files (docs/operations.md, "Certificates end").
set -euo pipefail
usage() { sed -n '2,12s/^# \{0,1\}//p' "$0" >&2; exit 64; }
[ $# -ge 3 ] || usage
folder=$1 kind=$2
shift 2
days=${PDM_CERTIFICATE_DAYS:-825}
umask 077
mkdir -p "$folder"
cd "$folder"

if [ ! -f ca.key ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 \
    -subj "/CN=PdM certificate authority" -keyout ca.key -out ca.crt \
    -addext "basicConstraints=critical,CA:TRUE,pathlen:0" -addext "keyUsage=critical,keyCertSign,cRLSign" 2>/dev/null
  echo "made ca.crt"
fi

authority() { # arguments of `openssl ca`
  openssl ca -config <(printf '%s\n' '[ca]' 'default_ca=d' '[d]' 'database=revoked' \
    'default_md=sha256' 'default_crl_days=3650' 'crlnumber=crlnumber') -cert ca.crt -keyfile ca.key "$@" 2>/dev/null
}
[ -f revoked ] || : >revoked
[ -f crlnumber ] || echo 01 >crlnumber # with a number the list is of version 2 (RFC 5280)
[ -f ca.crl ] || authority -gencrl -out ca.crl

sign() { # name, extensions
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$1" \
    -keyout "$1.key" -out "$1.csr" 2>/dev/null
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days "$days" \
    -extfile <(printf '%s\n' "$2") -out "$1.crt" 2>/dev/null
  rm "$1.csr"
  echo "made $1.crt and $1.key, valid for $days days"
}

case $kind in
  broker)
    names=()
    for host in "$@"; do
      case $host in
        *[!0-9.]*) [[ $host == *:* ]] && names+=("IP:$host") || names+=("DNS:$host") ;;
        *) names+=("IP:$host") ;;
      esac
    done
    sign broker "subjectAltName=$(IFS=,; echo "${names[*]}")
extendedKeyUsage=serverAuth
basicConstraints=critical,CA:FALSE"
    ;;
  client)
    sign "$1" "extendedKeyUsage=clientAuth
basicConstraints=critical,CA:FALSE"
    ;;
  revoke)
    [ -f "$1.crt" ] || { echo "no $folder/$1.crt: $1 has no certificate of this authority" >&2; exit 66; }
    authority -revoke "$1.crt" || { echo "$1.crt was not revoked: it is on ca.crl already, or is not of ca.crt" >&2; exit 65; }
    authority -gencrl -out ca.crl
    echo "$1 is on ca.crl"
    ;;
  *) usage ;;
esac
