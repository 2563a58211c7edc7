"""Chat about this project: fixed answers, questions in several wordings."""

import random

TALK: tuple[tuple[tuple[str, ...], str], ...] = (
    (("Hello!", "Hi.", "Hello there.", "Good morning.", "Hey!"), "Hello! What can I do for you?"),
    (
        ("Thanks!", "Thank you.", "Thank you, well done.", "Great, thanks.", "Perfect."),
        "You are welcome.",
    ),
    (("Bye.", "Good bye!", "That was all.", "See you."), "Good bye!"),
    (
        ("Who are you?", "What are you?", "Are you a large model?", "Tell me about yourself."),
        "I am the small built-in model of the KV prefix cache engine.",
    ),
    (
        ("What can you do?", "How can you help me?", "What are you good at?"),
        "I can read and change small projects with tools, recall facts, and talk about the cache.",
    ),
    (
        ("What is a prefix cache?", "What does the prefix cache do?", "Explain the prefix cache."),
        "It keeps the KV rows of the longest common prefix, so that only the new suffix is computed.",
    ),
    (
        ("Why is it fast?", "Why are later turns fast?", "What makes long sessions cheap?"),
        "Each turn computes only its new tokens, so the cost of a turn stays flat as the prompt grows.",
    ),
    (
        ("What is the grid?", "What does fixed chunking mean?", "How are chunks cut?"),
        "Every chunk boundary is a multiple of prompt_rows, whatever the prompt's length.",
    ),
    (
        ("What is the canonical end?", "How far may rows be reused?", "What bounds the reuse?"),
        "Reuse ends at the previous prompt's length, because decode bits are not prefill bits.",
    ),
    (
        ("What is a lane?", "Explain the word lane."),
        "A lane is one serial stream of requests on one engine.",
    ),
    (
        ("What does the drafter do?", "What is the drafter?", "How does drafting work?"),
        "It guesses the next tokens, and the model checks all guesses in one step.",
    ),
    (
        ("How many patches are there?", "How long is the patch series?"),
        "There are seven patches, applied in order.",
    ),
    (
        ("Does the cache change the answers?", "Are cached answers the same?"),
        "No. A resumed run gives the same bits as a cold one on the same grid.",
    ),
    (
        ("How many conversations are cached?", "Can it cache several conversations?"),
        "One conversation at a time; switching gives up the reuse.",
    ),
)

SYSTEM = (
    "You are a helpful assistant.",
    "You are the assistant of the project `{}`.",
    "Answer briefly. The project is called `{}`.",
    "You talk with the people who work on `{}`.",
)


def talk(rng: random.Random, project: str) -> tuple[str, str]:
    """A user's remark and the answer to it."""
    if rng.random() < 0.1:
        question = rng.choice(("What is the project called?", "Which project is this?"))
        return question, f"The project is called `{project}`."
    questions, answer = rng.choice(TALK)
    return rng.choice(questions), answer
