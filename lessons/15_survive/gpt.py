"""A small GPT that reads and writes single characters, and the text that it learns from."""

import hashlib
import pydoc_data.topics

import torch
from torch import nn


class Text:
    """Python's language reference as numbers, one for each character."""

    def __init__(self, test_share=0.1):
        topics = pydoc_data.topics.topics
        paragraphs = "\n\n".join(topics[name] for name in sorted(topics)).split("\n\n")
        # One paragraph per line: a small network should learn English, not indentation.
        whole = "\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
        self.characters = sorted(set(whole))
        self.number_of = {character: n for n, character in enumerate(self.characters)}
        ids = torch.tensor([self.number_of[character] for character in whole])
        split = int(len(ids) * (1 - test_share))
        self.train, self.test = ids[:split], ids[split:]
        # The text differs between versions of Python, so the run record names its hash.
        self.facts = {
            "name": "pydoc_topics",
            "sha256": hashlib.sha256(whole.encode()).hexdigest(),
            "synthetic": False,
        }

    def encode(self, words):
        return torch.tensor([self.number_of[character] for character in words])

    def decode(self, ids):
        return "".join(self.characters[n] for n in ids.tolist())


def windows(ids, starts, length):
    """Return the characters from each start on, and the character that follows each of them."""
    index = starts[:, None] + torch.arange(length + 1)
    pieces = ids[index]
    return pieces[:, :-1], pieces[:, 1:]


class Attention(nn.Module):
    """A layer in which each character collects what it needs from the characters before it."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.queries_keys_values(x).view(batch, length, 3, self.heads, -1)
        # Each has the shape batch, heads, length, width of a head.
        q, k, v = parts.permute(2, 0, 3, 1, 4)
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm_1, self.attention = nn.LayerNorm(width), Attention(width, heads)
        self.norm_2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(
            nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)
        )

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.mlp(self.norm_2(x))


class GPT(nn.Module):
    """A network that gives scores for the next character after each character of a window."""

    def __init__(self, characters, length=64, layers=2, width=192, heads=4):
        super().__init__()
        self.length = length
        self.characters = nn.Embedding(characters, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width)
        self.scores = nn.Linear(width, characters, bias=False)
        self.apply(initialize)
        self.scores.weight = self.characters.weight  # input and output share one table
        for block in self.blocks:  # so that the sum over all blocks starts no larger than one
            for last in (block.attention.out, block.mlp[-1]):
                last.weight.data /= (2 * layers) ** 0.5

    def forward(self, ids):
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.characters(ids) + self.positions(places)
        return self.scores(self.norm(self.blocks(x)))


def initialize(layer):
    """Set random weights that keep the size of the values that pass through them."""
    if isinstance(layer, nn.Embedding):
        nn.init.normal_(layer.weight, std=0.1)
    if isinstance(layer, nn.Linear):
        nn.init.normal_(layer.weight, std=layer.in_features**-0.5)
        if layer.bias is not None:
            nn.init.zeros_(layer.bias)


def loss_of(scores, following):
    """Return how much the next characters surprise the network: 0 if it predicted each of them."""
    return nn.functional.cross_entropy(scores.flatten(0, 1), following.flatten())


@torch.no_grad()
def evaluate(model, text, device):
    """Return the loss and the share of right predictions, in text that it has never read."""
    length = model.length
    starts = torch.arange(0, len(text.test) - length, length)[:256]
    ids, following = (part.to(device) for part in windows(text.test, starts, length))
    scores = model(ids)
    accuracy = (scores.argmax(-1) == following).float().mean().item()
    return loss_of(scores, following).item(), accuracy


@torch.no_grad()
def write(model, text, prompt="The ", length=300, temperature=0.8, seed=1):
    """Return text that continues the prompt, one character at a time."""
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    ids = text.encode(prompt)
    for _ in range(length):
        scores = model(ids[None, -model.length :].to(device))[0, -1].cpu()
        chances = nn.functional.softmax(scores / temperature, dim=0)
        ids = torch.cat([ids, torch.multinomial(chances, 1, generator=generator)])
    return text.decode(ids)
