"""Writes and reads the model folder's weights and config, in Hugging Face layout."""

import json
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file

from model import Decoder, Shape

PREFIX = "model."


def save_model(model: Decoder, folder: Path, stop_token: int) -> None:
    """Writes config.json and model.safetensors, the weights rounded to bf16."""
    config = model.shape.config(stop_token)
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    tensors = {
        PREFIX + name: weight.detach().to("cpu", torch.bfloat16).contiguous()
        for name, weight in sorted(model.named_parameters())
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def load_model(folder: Path, device: torch.device) -> Decoder:
    """The exported model, of the default shape; its weights are the bf16 ones as float32."""
    model = Decoder(Shape()).to(device)
    tensors = load_file(folder / "model.safetensors", device=str(device))
    model.load_state_dict({k.removeprefix(PREFIX): v.float() for k, v in tensors.items()})
    return model
