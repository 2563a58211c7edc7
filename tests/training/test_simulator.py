"""The tools' replies, and the judge that watches an assistant use them."""

import unittest

import training_path  # noqa: F401
from conversation import BadCall, Call, parse_call
from instances import Goal, Instance, Turn
from play import Play
from simulator import Edit, Environment

FILES = {
    "src/alpha.py": "# alpha\n\nlimit = 5\n",
    "src/beta.py": "# beta\nimport alpha\n\ntotal = alpha.limit\n",
    "tests/test_beta.py": "import beta\n\nassert beta.total == 7\n",
    "README.md": "limit and limit\n",
}


class SimulatorTest(unittest.TestCase):
    def setUp(self):
        self.tools = Environment(dict(FILES))

    def test_lists_folders(self):
        self.assertEqual(self.tools.list_dir("."), "README.md\nsrc/\ntests/")
        self.assertEqual(self.tools.list_dir("src/"), "alpha.py\nbeta.py")
        self.assertEqual(self.tools.list_dir("lib"), "error: no such directory: lib")

    def test_replaces_one_occurrence_only(self):
        self.assertEqual(self.tools.replace("src/a.py", "x", "y"), "error: no such file: src/a.py")
        self.assertEqual(
            self.tools.replace("README.md", "limit", "x"), "error: text occurs 2 times in README.md"
        )
        self.assertEqual(
            self.tools.replace("README.md", "", "x"), "error: text not found in README.md"
        )
        self.tools.read_only.add("README.md")
        self.assertEqual(
            self.tools.replace("README.md", "and", "or"), "error: README.md is read-only"
        )

    def test_follows_values_through_modules(self):
        failing = "FAIL tests/test_beta.py (beta.total): got 5 from `src/beta.py`, expected 7\n0 passed, 1 failed"
        self.assertEqual(self.tools.run_tests(), failing)
        self.tools.replace("src/alpha.py", "limit = 5", "limit = 7")
        self.assertEqual(self.tools.run_tests(), "1 passed, 0 failed")

    def test_names_what_is_missing(self):
        self.tools.replace("src/alpha.py", "limit = 5", "bound = 5")
        missing = "ERROR src/beta.py: alpha.limit is not defined\n0 passed, 1 failed"
        self.assertEqual(self.tools.run_tests(), missing)
        del self.tools.files["src/alpha.py"]
        missing = "ERROR src/beta.py: no module alpha\n0 passed, 1 failed"
        self.assertEqual(self.tools.run_tests(), missing)

    def test_a_cycle_has_no_value(self):
        self.tools.files["src/alpha.py"] = "import beta\n\nlimit = beta.total\n"
        self.assertIsNone(self.tools.value("alpha", "limit"))

    def test_others_edit_after_a_read(self):
        self.tools.edits_after_read = {
            "src/alpha.py": Edit("src/alpha.py", "limit = 5", "limit = 6")
        }
        self.assertIn("limit = 5", self.tools.read_file("src/alpha.py"))
        self.assertIn("limit = 6", self.tools.read_file("src/alpha.py"))

    def test_calls_are_checked(self):
        self.assertIsNone(parse_call("no call"))
        call = Call("read_file", {"path": "a"})
        self.assertEqual(parse_call("Text." + call.render()), call)
        for bad in ("{", "[]", '{"name": "rm", "arguments": {}}', '{"name": "read_file", "arguments": {"path": 1}}'):
            with self.assertRaises(BadCall):
                parse_call("<|tool_call|>" + bad)


class JudgeTest(unittest.TestCase):
    READ = Call("read_file", {"path": "src/alpha.py"}).render()
    WRITE = Call("replace", {"path": "src/alpha.py", "old": "limit = 5", "new": "limit = 7"}).render()
    TEST = Call("run_tests", {}).render()

    def play(self, *replies: str) -> list[str]:
        fixed = {"src/alpha.py": FILES["src/alpha.py"].replace("5", "7")}
        turn = Turn("Fix it.", goal=Goal(files=fixed))
        play = Play(Instance("fix", "system", [turn], dict(FILES)))
        for reply in replies:
            play.reply(reply)
        return [v.removeprefix("turn 0: ") for v in play.violations]

    def test_accepts_a_right_course(self):
        self.assertEqual(self.play(self.READ, self.WRITE, self.TEST, "All 1 tests pass."), [])

    def test_wants_a_read_before_a_write(self):
        first, *rest = self.play(self.WRITE, self.TEST, "All 1 tests pass.")
        self.assertEqual((first, rest), ("writes to src/alpha.py before reading it", []))

    def test_sees_repeated_calls(self):
        self.assertIn("repeats a call", self.play(self.READ, self.READ)[0])
        self.assertEqual(self.play(self.TEST, self.READ, self.WRITE, self.TEST), [])

    def test_sees_false_claims(self):
        self.assertIn("claims that tests pass", self.play("All 1 tests pass.")[0])
        self.assertIn("claims that tests pass", self.play(self.TEST, "All tests pass.")[0])
        late = self.play(self.READ, self.TEST, self.WRITE, "The tests pass.")
        self.assertIn("claims that tests pass", late[0])

    def test_sees_ignored_errors(self):
        wrong = Call("read_file", {"path": "src/none.py"}).render()
        self.assertIn("ignores an error: error: no such file: src/none.py", self.play(wrong, "Done."))
        self.assertNotIn("ignores", " ".join(self.play(wrong, "I could not do this.")))

    def test_sees_wrong_files(self):
        self.assertEqual(self.play("Done."), ["leaves wrong text in src/alpha.py"])

    def test_ends_at_a_bad_call(self):
        self.assertIn("not JSON", self.play("<|tool_call|>{")[0])


if __name__ == "__main__":
    unittest.main()
