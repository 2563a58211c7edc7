"""Muon: momentum whose step is made orthogonal, for the weight matrices inside the layers.

K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks", 2024. Against AdamW it
learns what is rare in the data, here the few decisions among many copied tokens, in fewer steps.
"""

import torch
from torch import Tensor

# Coefficients of the quintic iteration that drives all singular values towards 1.
A, B, C = 3.4445, -4.7750, 2.0315
ITERATIONS = 5


def orthogonalise(matrices: Tensor) -> Tensor:
    """[n, rows, columns] float32 to the nearest semi-orthogonal matrices, roughly, in bf16."""
    wide = matrices.shape[1] <= matrices.shape[2]
    x = matrices.to(torch.bfloat16)
    x = x if wide else x.mT
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(ITERATIONS):
        square = x @ x.mT
        x = A * x + (B * square + C * square @ square) @ x
    return x if wide else x.mT


class Muon(torch.optim.Optimizer):
    """Matrices of one shape are stepped together, in one product instead of many small ones."""

    def __init__(self, matrices: list[Tensor], lr: float, momentum: float = 0.95, weight_decay: float = 0.0):
        by_shape: dict[torch.Size, list[Tensor]] = {}
        for matrix in matrices:
            by_shape.setdefault(matrix.shape, []).append(matrix)
        defaults = {"lr": lr, "momentum": momentum, "weight_decay": weight_decay}
        super().__init__([{"params": alike} for alike in by_shape.values()], defaults)

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            parameters, momentum, lr = group["params"], group["momentum"], group["lr"]
            gradients = torch.stack([p.grad for p in parameters])
            state = self.state[parameters[0]]
            average = state.setdefault("average", torch.zeros_like(gradients))
            average.lerp_(gradients, 1 - momentum)
            direction = orthogonalise(gradients.lerp(average, momentum))  # Nesterov's look ahead
            rows, columns = parameters[0].shape
            scale = max(1, rows / columns) ** 0.5
            torch._foreach_mul_(parameters, 1 - lr * group["weight_decay"])
            torch._foreach_add_(parameters, list(direction.float().unbind()), alpha=-lr * scale)
