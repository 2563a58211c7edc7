"""What the last indexer of a model chooses, and where bf16's roundings decide about it.

Of equal scores the lower position is taken, as the engine does it; torch leaves that open.
"""

from contextlib import contextmanager
from unittest import mock

import torch

EVERY = 5  # of how many rows one is kept


def topk_of_lowest(scores: torch.Tensor, k: int, dim: int = -1, **_) -> torch.return_types.topk:
    """Tensor.topk, with the first of those that are equal."""
    return torch.return_types.topk([part.narrow(dim, 0, k) for part in scores.sort(dim=dim, descending=True, stable=True)])


class Choices:
    """The last indexer's scores [T, T], -inf behind the row, and how many it takes; None without one."""

    def __init__(self, model: torch.nn.Module):
        self.scores, self.most = None, 0
        self.inside = False
        for module in model.modules():
            if type(module).__name__.endswith("Indexer"):
                self.most = module.index_topk
                module.register_forward_pre_hook(lambda *_: setattr(self, "inside", True))
                module.register_forward_hook(lambda *_: setattr(self, "inside", False))

    @contextmanager
    def watched(self):
        def topk(scores, *args, **kwargs):
            if self.inside:
                self.scores = scores[0].clone()
            return topk_of_lowest(scores, *args, **kwargs)

        with mock.patch.object(torch.Tensor, "topk", topk):
            yield


def chosen(scores: torch.Tensor, most: int) -> torch.Tensor:
    """Which positions each row takes, [T, T]; all where it has no more than `most`."""
    taken = torch.zeros(scores.shape, dtype=torch.bool)
    taken.scatter_(-1, topk_of_lowest(scores, min(most, scores.shape[-1])).indices, True)
    return taken & torch.ones_like(taken).tril()


def marked(exact: Choices, repeated: list[torch.Tensor]) -> dict:
    """For some rows a letter for each position up to theirs: 1 is chosen, 0 not, ? depends on roundings.

    A position depends on them if with some roundings it is decided otherwise, or its score is less than
    six times the root mean square of what they do to it from the least that is chosen.
    """
    taken = chosen(exact.scores, exact.most)
    same = torch.stack([chosen(scores, exact.most) == taken for scores in repeated]).all(0)
    rms = torch.stack([scores - exact.scores for scores in repeated]).square().mean(0).sqrt()
    rows = {}
    for row in range(exact.most, len(taken), EVERY):
        scores, seen = exact.scores[row, : row + 1], slice(0, row + 1)
        least = scores[taken[row, seen]].min()
        sure = same[row, seen] & ((scores - least).abs() > 6 * rms[row, seen])
        rows[row] = "".join("?" if not s else "01"[int(t)] for s, t in zip(sure, taken[row, seen]))
    return {"most": exact.most, "rows": rows}
