"""Train the small translator that the assignment `decoding` is handed out with.

An encoder-decoder without attention, which reads German of the embedded corpus into one vector and
writes English from it. The file holds the decoder's weights, and of the first test sentences the
vectors the encoder made of them with their texts: a search needs nothing else. Written to
solutions/decoding/translator.safetensors.
"""

import json
import random
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence

from course_lib.corpora import load_corpus
from course_lib.corpora.vocabulary import BOS, EOS, PAD, Vocabulary
from experiments.recording import Part, Records

SENTENCES = 10_000
GIVEN = 24
EMBEDDING, HIDDEN = 48, 96
EPOCHS, BATCH, RATE = 18, 64, 4e-3
FILE = Path(__file__).parents[2] / "solutions" / "decoding" / "translator.safetensors"


class Translator(nn.Module):
    """s_0 = tanh(W_s h), h the last state of a GRU over the source; then a GRU over the target."""

    def __init__(self, source_words: int, target_words: int) -> None:
        super().__init__()
        self.source_E = nn.Embedding(source_words, EMBEDDING, padding_idx=PAD)
        self.encoder = nn.GRU(EMBEDDING, HIDDEN, batch_first=True)
        self.W_s = nn.Linear(HIDDEN, HIDDEN)
        self.E = nn.Embedding(target_words, EMBEDDING, padding_idx=PAD)
        self.decoder = nn.GRU(EMBEDDING, HIDDEN, batch_first=True)
        self.W_o = nn.Linear(HIDDEN, target_words)

    def start(self, sources: list[Tensor]) -> Tensor:
        """(B, n), s_0 of each sentence."""
        lengths = torch.tensor([len(source) for source in sources])
        padded = self.source_E(pad_sequence(sources, batch_first=True))
        packed = pack_padded_sequence(padded, lengths, batch_first=True, enforce_sorted=False)
        return torch.tanh(self.W_s(self.encoder(packed)[1][0]))

    def loss(self, sources: list[Tensor], targets: list[Tensor]) -> Tensor:
        """The mean cross-entropy a word, end marks included."""
        given = pad_sequence([target[:-1] for target in targets], batch_first=True)
        wanted = pad_sequence([target[1:] for target in targets], batch_first=True)
        states, _ = self.decoder(self.E(given), self.start(sources)[None])
        real = wanted != PAD
        return functional.cross_entropy(self.W_o(states[real]), wanted[real])


def learn(model: Translator, sources: list[Tensor], targets: list[Tensor]) -> None:
    """Train with minibatches of targets that are about equally long."""
    draw = random.Random(0)
    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    updates = EPOCHS * -(-len(sources) // BATCH)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, updates)
    for epoch in range(EPOCHS):
        order = sorted(range(len(sources)), key=lambda i: (len(targets[i]), draw.random()))
        batches = [order[i : i + BATCH] for i in range(0, len(order), BATCH)]
        draw.shuffle(batches)
        total = 0.0
        for batch in batches:
            loss = model.loss([sources[i] for i in batch], [targets[i] for i in batch])
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimiser.step()
            schedule.step()
            total += float(loss.detach())
        print(f"epoch {epoch + 1}: {total / len(batches):.3f} nats a word", flush=True)


def translator() -> Records:
    """Train, and give out what the assignment needs."""
    torch.manual_seed(0)
    corpus = load_corpus("toy", "de-en", train=SENTENCES, val=200, test=200)
    train, test = corpus.splits["train"], corpus.splits["test"]
    german = Vocabulary.from_sentences(train.source)
    english = Vocabulary.from_sentences(train.target)
    sources = [torch.tensor(german.encode(words)) for words in train.source]
    targets = [torch.tensor([BOS, *english.encode(words), EOS]) for words in train.target]
    model = Translator(len(german), len(english))
    learn(model, sources, targets)
    model.eval()
    with torch.no_grad():
        states = model.start([torch.tensor(german.encode(words)) for words in test.source[:GIVEN]])
    tensors = {
        "s_0": states,
        "E": model.E.weight.detach(),
        "W_o.weight": model.W_o.weight.detach(),
        "W_o.bias": model.W_o.bias.detach(),
        **{
            f"cell.{name.removesuffix('_l0')}": value
            for name, value in model.decoder.state_dict().items()
        },
    }
    texts = {
        "words": json.dumps(english.tokens, ensure_ascii=False),
        "sources": json.dumps([" ".join(words) for words in test.source[:GIVEN]]),
        "references": json.dumps([" ".join(words) for words in test.target[:GIVEN]]),
    }
    payload = save({name: value.contiguous() for name, value in tensors.items()}, metadata=texts)
    yield str(FILE), payload


PARTS = {"translator": Part(translator, "about two minutes")}
