#!/bin/sh
# Kills one peel and pings the fleet: the job ends in time and says who did not answer and why (exit code 4).
set -eu

pid=$(sed -n '/"id": "peel-2"/{n;s/[^0-9]//gp;}' "$ZESTER_UP_STATE")
echo "killing peel-2, process $pid"
kill -9 "$pid"

code=0
zester '*' test.ping --timeout 2s || code=$?
echo "zester ended with $code"
test "$code" = 4
