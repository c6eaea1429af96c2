#!/bin/sh
# The project of the case. Its agent may not read what is the client's, so that omo needs an environment of its own.
set -eu
OMO_ENV_HOME="$HOME/.cache/omo" "$(dirname "$0")/../../bin/omo" setup environment
cat >calc.py <<'END'
def add(a, b):
    return a + b


def twice(a):
    return 2 * a
END
cat >test_calc.py <<'END'
import unittest

import calc


class Calc(unittest.TestCase):
    def test_add(self):
        self.assertEqual(calc.add(2, 3), 5)

    def test_twice(self):
        self.assertEqual(calc.twice(2), 4)
END
echo 'A project.' >README.md
git init -q -b main
git add .
git -c user.name=Eval -c user.email=eval@example.invalid commit -q -m first
