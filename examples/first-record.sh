#!/usr/bin/env bash
# From the login to the first record, with curl. Needs a service with a new database:
#
#   URL=http://127.0.0.1:3000 PASSWORD='the password of the first start' examples/first-record.sh
set -euo pipefail

URL=${URL:-http://127.0.0.1:3000}
: "${PASSWORD:?Set PASSWORD to the password of the administrator}"

cookies=$(mktemp)
trap 'rm -f "$cookies"' EXIT

# An error of the service ends the script, and its body is printed.
call () { curl --silent --show-error --fail-with-body --header 'content-type: application/json' "$@"; echo; }
as_admin () { call --cookie "$cookies" "$@"; }
as_program () { call --header "authorization: Bearer $token" "$@"; }

echo '# Log in: curl saves the session cookie'
call --cookie-jar "$cookies" "$URL/auth/login" --data '{"name": "admin", "password": "'"$PASSWORD"'"}'

echo '# Create a table'
as_admin "$URL/admin/tables" --data '{
  "name": "cats", "label": "Cats",
  "fields": [{"name": "name", "jsonType": "string"}, {"name": "lives", "jsonType": "integer", "defaultValue": 9}]
}'

echo '# Issue a token'
issued=$(as_admin "$URL/admin/tokens" --data '{
  "name": "my program", "permissions": {"tables": ["cats"], "actions": ["read", "create", "update", "delete"]}
}')
token=$(grep --only-matching 'rh_[0-9a-f]\{64\}' <<< "$issued")
echo "${token:0:7}…"

echo '# Write'
as_program "$URL/data/cats/records" --data '{"name": "Tom"}'
as_program "$URL/data/cats/records" --data '{"name": "Tiger", "lives": 7}'

echo '# Read'
as_program "$URL/data/cats/records/1"
as_program "$URL/data/cats?order=-lives&q=t"

echo '# Increment, and return the record'
as_program "$URL/data/cats/incr?return=record" --data '{"pk": 1, "field": "lives", "count": -1}'

echo '# Export as CSV'
as_admin "$URL/admin/tables/1/export?order=name"
