#!/usr/bin/env python3
"""A worker of heistd: heistd --command "count=$PWD/examples/jobs/worker.py"

curl --data-binary @README.md 'localhost:8080/jobs/count?word=heist&wait=1'
"""
import os
import sys

word = os.environ.get("HEISTD_PARAM_word")
if not word:
    sys.exit("the parameter word is missing")
print(sys.stdin.read().lower().split().count(word.lower()))
