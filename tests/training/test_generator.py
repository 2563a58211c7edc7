"""The generator: reproducible, split by names and layouts, its demonstrations right."""

import json
import re
import unittest

import training_path  # noqa: F401
from generator import TASKS, TRAINING_MIX, draw_session, draw_training_session
from instances import Instance
from names import is_held_out
from play import Play

SESSIONS = 60


def sessions(held_out: bool):
    for task in TASKS:
        for index in range(SESSIONS):
            yield draw_session(task, index, held_out)


class GeneratorTest(unittest.TestCase):
    def test_same_seed_gives_the_same_session(self):
        for task in TASKS:
            first, second = (draw_session(task, 5, held_out=False) for _ in range(2))
            self.assertEqual(first, second)
        self.assertNotEqual(draw_session("fix", 5, False), draw_session("fix", 5, False, seed=2))

    def test_splits_share_no_name(self):
        """Project names, modules and folders with made-up names fall on the right side."""
        for held_out in (False, True):
            for session in sessions(held_out):
                names = {p.split("/")[-1] for p in session.instance.files if "test_" not in p}
                for name in names:
                    if name.endswith(".py"):
                        self.assertEqual(is_held_out(name.removesuffix(".py")), held_out, name)

    def test_splits_share_no_constant(self):
        """Every constant that a project starts with is of its split."""
        for held_out in (False, True):
            for session in sessions(held_out):
                for path, text in session.instance.files.items():
                    if path.endswith(".py"):
                        for name in re.findall(r"^(\w+) = ", text, re.M):
                            self.assertEqual(is_held_out(name), held_out, name)

    def test_instances_survive_json(self):
        for session in sessions(held_out=True):
            text = json.dumps(session.instance.to_json())
            self.assertEqual(Instance.from_json(json.loads(text)), session.instance)

    def test_demonstrations_pass_their_own_marks(self):
        for held_out in (False, True):
            for session in sessions(held_out):
                play = Play(session.instance)
                for message in session.messages:
                    if message.role == "assistant":
                        play.reply(message.content)
                self.assertTrue(play.over)
                self.assertEqual(play.violations, [])
                self.assertEqual(play.messages, session.messages)

    def test_mix_draws_every_task(self):
        drawn = {draw_training_session(n).instance.task for n in range(200)}
        self.assertEqual(drawn, set(TRAINING_MIX))


if __name__ == "__main__":
    unittest.main()
