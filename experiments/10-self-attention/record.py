"""Record what becomes of RNNsearch when another encoder writes its memory, and a pronoun's reader.

readers: the same small RNNsearch on the embedded corpus with the bidirectional encoder, with one
layer of self-attention in its place, and with that layer robbed of its positions; the same pairs,
recipe and decoder for all, each trained until its validation loss no longer falls. Beside its
result each run says whether the encoder was told `positions` and how many `cpu_seconds` the
training took.
pronoun: what the moving figure shows, the page's reader with seed 1: of each sentence that can be
chosen the weights of its last word, and the probabilities of the pronouns.
writer: a Transformer of one layer learns sentences whose German participle stands last; what the
moving figure shows of `DRAWN_SEED`, and of each how many of the `held_out` sentences come out
`right`, in how many each place of the source is the one `most` looked at, while the article of the
subject or of the object is due, or one of the participles, and which participles are written with
*the* in place of the source's (`erased`); `deaf`: the `sixth` words once self-attention brings
the decoder nothing, or the encoder, and in how many sentences each step is still `right`.
heads: a Transformer of two layers and eight heads learns the captions of Multi30k; its `loss` on
`val` in nats a word, `without` each head of each encoder layer, and the last layer's `weights` for
its first caption.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from functools import partial
from hashlib import sha256
from itertools import product
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.corpora.batches import Batch, EncodedPair, batches_in_order, make_batch, make_source
from course_lib.corpora.vocabulary import Vocabulary
from course_lib.figures.antecedent import PRONOUNS, sentence_of
from course_lib.models.initialisation import initialise
from course_lib.models.self_attention import SelfAttention
from course_lib.models.transformer import Transformer
from course_lib.training import RunConfig
from course_lib.training.provenance import git_commit
from experiments.recording import (
    SMALL,
    Part,
    Read,
    Records,
    Runs,
    Trained,
    check_runs,
    check_same,
    corpus_of,
    name_of,
    searching_runs,
    small_runs,
    updates,
)

SETTINGS: dict[str, Any] = {
    **SMALL,
    "corpus.clauses": [1, 1],
    "corpus.train": 3_000,
    "corpus.val": 100,
    "corpus.test": 300,
    "epochs": 30,
    "batch_size": 32,
    "learning_rate": 5e-3,
}
ENCODERS: dict[str, dict[str, Any]] = {
    "bidirectional": {"encoder": "bidirectional"},
    "self-attention": {"encoder": "self-attention"},
    "no-positions": {"encoder": "self-attention-without-positions"},
}
SEEDS = (0, 1, 2)
ANIMALS = (
    *("dog", "fox", "bird", "hare"),
    *("cat", "cow", "duck", "mouse"),
    *("horse", "sheep", "pig", "calf"),
)
THINGS = (
    *("table", "chair", "carpet", "coat"),
    *("lamp", "door", "cup", "bag"),
    *("book", "window", "bed", "car"),
)
"""In German four are masculine, four feminine, four neuter."""
ADJECTIVES = ("hungry", "tired", "asleep", "wooden", "broken", "antique")
"""Three of animals, three of things."""
OTHERS = ("the", "stayed", "beside", "because", "it", "was")
WORDS = (*OTHERS, *ANIMALS, *THINGS, *ADJECTIVES)
LAST = 9
"""The adjective's place, from 0."""
GLOSSED = (
    {"dog": "der Hund", "cat": "die Katze", "pig": "das Schwein"},
    {"table": "der Tisch", "door": "die Tür", "window": "das Fenster"},
)
"""The nouns that can be chosen in the figure."""
CHOSEN = ("hungry", "wooden")
Reader = Callable[[Tensor], tuple[Tensor, Tensor]]
NOUNS = {
    **{"dog": "der Hund", "fox": "der Fuchs", "bird": "der Vogel", "wolf": "der Wolf"},
    **{"cat": "die Katze", "cow": "die Kuh", "duck": "die Ente", "mouse": "die Maus"},
    **{"horse": "das Pferd", "sheep": "das Schaf", "pig": "das Schwein", "calf": "das Kalb"},
}
"""None has another form as object, as *der Hase*, *den Hasen* has."""
PARTICIPLES = {"seen": "gesehen", "heard": "gehört", "found": "gefunden"}
OBJECT = {"der": "den", "die": "die", "das": "das"}
"""The article of a noun that something is done to."""
Sentence = tuple[str, str, str]
"""Subject, participle and object, in English."""
WRITTEN: tuple[Sentence, ...] = (
    ("dog", "seen", "cat"),
    ("cat", "seen", "dog"),
    ("cat", "heard", "dog"),
)
"""The sentences that can be chosen in the figure; all are held out."""
DRAWN_SEED = 1
"""Of the three models the one that needs each of its attentions."""
SELF_ATTENTIONS = {"decoder": "blocks.0.self_attention", "encoder": "encoder.blocks.0.attention"}
CAPTIONS: dict[str, Any] = {"epochs": 6, "learning_rate": 1e-3, "warmup": 400}
"""The recipe of `heads`, against the preset's."""
LAYERS, HEADS, SIZE = 2, 8, 256


def runs() -> Runs:
    """Each encoder with each seed."""
    return searching_runs("reader", SETTINGS, ENCODERS, SEEDS)


def told(done: Trained) -> dict[str, Any]:
    """What is recorded beside a run's result."""
    positions = done.run.model.config.encoder != "self-attention-without-positions"
    return {"positions": positions, "cpu_seconds": round(done.cpu_seconds, 1)}


def pairs() -> tuple[list[tuple[str, str]], set[tuple[str, str]]]:
    """An animal and a thing: those learned from, in their order, and those held out."""
    every = list(product(ANIMALS, THINGS))
    mixed = [every[i] for i in np.random.default_rng(0).permutation(len(every))]
    return mixed[36:], set(mixed[:36])


def right_pronoun(animal: str, thing: str, adjective: str) -> tuple[str, int]:
    """The noun that is meant, and its pronoun's place among er, sie, es."""
    of_animal = ADJECTIVES.index(adjective) < 3
    noun, kind = (animal, ANIMALS) if of_animal else (thing, THINGS)
    return noun, kind.index(noun) // 4


def learned() -> Iterator[tuple[str, int]]:
    """Every sentence that the reader learns from, with its pronoun, in the page's order."""
    for (animal, thing), adjective, swap in product(pairs()[0], ADJECTIVES, (False, True)):
        yield (
            sentence_of(animal, thing, adjective, swap),
            right_pronoun(animal, thing, adjective)[1],
        )


def encoded(sentences: Iterable[str]) -> Tensor:
    """(B, 10), each word its number in the alphabetical list of all."""
    number = {word: k for k, word in enumerate(sorted(WORDS))}
    return torch.tensor([[number[word] for word in sentence.split()] for sentence in sentences])


class PronounReader(nn.Module):
    """The page's: one layer of self-attention; three scores are read at the last word."""

    def __init__(self) -> None:
        super().__init__()
        self.E = nn.Embedding(len(WORDS), 32)
        self.attention = SelfAttention(32, 32, layers=1, heads=1, dropout=0.1)
        self.W_o = nn.Linear(32, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        vectors, (alpha,) = self.attention.with_weights(
            self.E(x), torch.ones_like(x, dtype=torch.bool)
        )
        return self.W_o(vectors[:, LAST]), alpha[:, 0, LAST]


def fresh_reader(seed: int) -> PronounReader:
    """Untrained, its weights drawn as float64: alike on nearly every processor."""
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.float64)
    model = PronounReader()
    torch.set_default_dtype(torch.float32)
    return model


def train_reader(seed: int, steps: int = 800) -> PronounReader:
    """Trained as on the page; a cell there compares them."""
    model = fresh_reader(seed)
    sentences, pronouns = zip(*learned(), strict=True)
    x, gender = encoded(sentences), torch.tensor(pronouns)
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        picked = torch.randint(len(x), (64,))
        loss = nn.functional.cross_entropy(model(x[picked])[0], gender[picked])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.1)
        optimiser.step()
    return model.eval()


@torch.no_grad()
def readings(model: Reader) -> dict[str, dict[str, Any]]:
    """What a reader makes of each sentence that can be chosen; see `widgets.Antecedent`.

    Rounded so finely that what is shown, two digits, is the model's own number rounded once.
    """
    found, held_out = {}, pairs()[1]
    for animal, thing, adjective, swap in product(*GLOSSED, CHOSEN, (False, True)):
        sentence = sentence_of(animal, thing, adjective, swap)
        scores, weights = model(encoded([sentence]))
        noun, right = right_pronoun(animal, thing, adjective)
        found[sentence] = {
            "antecedent": sentence.split().index(noun),
            "right": PRONOUNS[right],
            "held_out": (animal, thing) in held_out,
            "weights": [round(weight, 5) for weight in weights[0].tolist()],
            "probabilities": [round(p, 5) for p in scores[0].softmax(dim=0).tolist()],
        }
    return found


def sentences_sha256() -> str:
    """Of the sentences that the reader learns from."""
    return sha256(repr([*learned()]).encode()).hexdigest()


def pronoun() -> Records:
    """The page's reader with seed 1."""
    start = {"animal": "dog", "thing": "door", "adjective": "hungry", "thing_first": False}
    nouns = dict(zip(("animals", "things"), GLOSSED, strict=True))
    figure = {**nouns, "adjectives": CHOSEN, "readings": readings(train_reader(1)), **start}
    made = {"git_commit": git_commit(), "sentences_sha256": sentences_sha256()}
    # On one line: with a line for every number it would be a thousand lines long.
    yield "pronoun-reader", json.dumps({**made, "figure": figure}, ensure_ascii=False) + "\n"


def sentence_pair(one: Sentence) -> tuple[list[str], list[str]]:
    """The English words and the German ones, with their marks."""
    subject, participle, thing = one
    article, noun = NOUNS[thing].split()
    source = f"the {subject} has {participle} the {thing} </s>"
    target = f"<s> {NOUNS[subject]} hat {OBJECT[article]} {noun} {PARTICIPLES[participle]} </s>"
    return source.split(), target.split()


def sentences() -> tuple[list[Sentence], list[Sentence]]:
    """Those learned from, and those held out: of these no two nouns were seen together."""
    places = {noun: k for k, noun in enumerate(NOUNS)}
    every = [one for one in product(NOUNS, PARTICIPLES, NOUNS) if one[0] != one[2]]
    apart = [(places[one[0]] - places[one[2]]) % 12 in (4, 8) for one in every]
    return (
        [one for one, held_out in zip(every, apart, strict=True) if not held_out],
        [one for one, held_out in zip(every, apart, strict=True) if held_out],
    )


def alphabets() -> tuple[list[str], list[str]]:
    """The words of each language, in alphabetical order."""
    learned, held_out = sentences()
    sides = zip(*map(sentence_pair, learned + held_out), strict=True)
    source, target = (sorted({word for words in side for word in words}) for side in sides)
    return source, target


def numbers(pairs: Iterable[tuple[list[str], list[str]]]) -> tuple[Tensor, Tensor]:
    """(B, 7) source words and (B, 8) target words."""
    sides = zip(*pairs, strict=True)
    source, target = (
        torch.tensor([[words.index(word) for word in text] for text in side])
        for words, side in zip(alphabets(), sides, strict=True)
    )
    return source, target


def train_writer(seed: int, steps: int = 1200) -> Transformer:
    """In float64. With several threads the sums round otherwise, and another model comes out."""
    torch.manual_seed(seed)
    torch.set_default_dtype(torch.float64)
    model = Transformer(*map(len, alphabets()), size=32, layers=1, heads=1, dropout=0.1)
    torch.set_default_dtype(torch.float32)
    source, target = numbers(map(sentence_pair, sentences()[0]))
    optimiser = torch.optim.Adam(model.parameters(), lr=3e-3)
    for _ in range(steps):
        picked = torch.randint(len(source), (64,))
        x, y = source[picked], target[picked]
        logits, _ = model(x, torch.ones_like(x, dtype=torch.bool), y[:, :-1])
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), y[:, 1:])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
    return model.eval()


@torch.no_grad()
def written(model: Transformer, words: list[str]) -> dict[str, Any]:
    """A greedy translation; see `widgets.WritingTransformer`. Rounded so finely that what is shown
    is the model's own number rounded once."""
    source = torch.tensor([[alphabets()[0].index(word) for word in words]])
    german = alphabets()[1]
    read = [german.index("<s>")]
    while german[read[-1]] != "</s>" and len(read) < 12:
        y = torch.tensor([read])
        logits, [(alpha_read, alpha_source)] = model(source, source >= 0, y)
        read.append(int(logits[0, -1].argmax()))

    _, [in_source] = model.encoder.with_weights(model.E_x(source), source >= 0)
    weights = {"in_source": in_source, "on_source": alpha_source, "on_read": alpha_read}
    rounded = {
        name: [[round(number, 5) for number in row] for row in alpha[0, 0].tolist()]
        for name, alpha in weights.items()
    }
    return {"source": words, "read": [german[y] for y in read], **rounded}


def most_looked_at(found: Iterable[dict[str, Any]], step: int) -> list[int]:
    """Of each place of the source, in how many sentences it has the largest weight in this step."""
    places = [int(np.argmax(each["on_source"][step])) for each in found]
    return [places.count(j) for j in range(7)]


@torch.no_grad()
def deaf(model: Transformer, attention: str) -> dict[str, Any]:
    """The right words are read, but nothing comes of this attention."""
    without = deepcopy(model)
    without.get_submodule(attention).get_parameter("W_O.weight").zero_()
    x, y = numbers(map(sentence_pair, sentences()[1]))
    logits, _ = without(x, torch.ones_like(x, dtype=torch.bool), y[:, :-1])
    guesses = logits.argmax(dim=2)
    words = Counter(alphabets()[1][int(word)] for word in guesses[:, 5])
    return {"sixth": words, "right": (guesses == y[:, 1:]).sum(dim=0).tolist()}


def writing_sha256() -> str:
    """Of the sentences that the Transformer learns from."""
    return sha256(repr([*map(sentence_pair, sentences()[0])]).encode()).hexdigest()


def writer() -> Records:
    """One Transformer a seed, and what the figure steps through."""
    seeds = list[dict[str, Any]]()
    held_out = [(*sentence_pair(one), one[1]) for one in sentences()[1]]
    for seed in SEEDS:
        model = train_writer(seed)
        found = [written(model, english) for english, _, _ in held_out]
        right = sum(
            each["read"] == german for each, (_, german, _) in zip(found, held_out, strict=True)
        )
        most = {name: most_looked_at(found, step) for name, step in (("subject", 0), ("object", 3))}
        for participle in PARTICIPLES:
            of_it = [each for each in found if participle in each["source"]]
            most[participle] = most_looked_at(of_it, 5)
        erased = Counter(
            written(model, ["the" if word == participle else word for word in english])["read"][6]
            for english, _, participle in held_out
        )
        counts = {"held_out": len(found), "right": right, "most": most, "erased": erased}
        without = {name: deaf(model, attention) for name, attention in SELF_ATTENTIONS.items()}
        seeds.append({"seed": seed, **counts, "deaf": without})
        if seed == DRAWN_SEED:
            drawn = [written(model, sentence_pair(one)[0]) for one in WRITTEN]
    figure = {"sentences": drawn, "chosen": 0, "frame": 6}
    made = {"git_commit": git_commit(), "sentences_sha256": writing_sha256(), "seeds": seeds}
    yield "transformer-writes", json.dumps({**made, "figure": figure}, ensure_ascii=False) + "\n"


class CaptionTransformer(Transformer):
    """With the loss that `updates` asks for."""

    def loss(
        self, batch: Batch, label_smoothing: float = 0.1, given: float | None = None
    ) -> tuple[Tensor, Tensor]:
        """Summed over the target words, and their number."""
        assert given is None  # every word read is the right one
        with torch.autocast("cpu", torch.bfloat16):
            logits, _ = self(batch.source, batch.source_mask, batch.target_in)
        words = batch.target_mask
        loss = nn.functional.cross_entropy(
            logits[words].float(),
            batch.target_out[words],
            label_smoothing=label_smoothing,
            reduction="sum",
        )
        return loss, words.sum()


def fresh_captioner(source_words: int, target_words: int) -> CaptionTransformer:
    """Untrained; the output reads the table of embeddings (Section 3.4)."""
    model = CaptionTransformer(source_words, target_words, SIZE, LAYERS, HEADS, dropout=0.2)
    initialise(model, "modern")
    for table in (model.E_x, model.E_y):
        nn.init.normal_(table.weight, std=SIZE**-0.5)
    model.W_o.weight = model.E_y.weight
    return model


@torch.no_grad()
def loss_on(model: CaptionTransformer, pairs: list[EncodedPair]) -> float:
    """Nats a word."""
    index = batches_in_order([len(source) for source, _ in pairs], 64)
    sums = [model.loss(make_batch(pairs, part), label_smoothing=0.0) for part in index]
    return float(sum(loss for loss, _ in sums) / sum(count for _, count in sums))


def without_head(model: CaptionTransformer, layer: int, head: int) -> CaptionTransformer:
    """A copy whose encoder gets nothing from this head."""
    changed = deepcopy(model)
    part = slice(head * SIZE // HEADS, (head + 1) * SIZE // HEADS)
    with torch.no_grad():
        changed.encoder.get_parameter(f"blocks.{layer}.attention.W_O.weight")[:, part] = 0
    return changed


@torch.no_grad()
def looks(model: CaptionTransformer, source: list[int]) -> Tensor:
    """(heads, T, T) weights of the encoder's last layer."""
    x, _, mask = make_source([source])
    return model.encoder.with_weights(model.E_x(x), mask)[1][-1][0]


def captioner(seed: int) -> dict[str, Any]:
    """What is recorded of one training."""
    config = RunConfig("rnnsearch", "multi30k", seed=seed, changes=CAPTIONS)
    corpus = corpus_of(config)
    train, val = corpus.splits["train"], corpus.splits["val"]
    words = [Vocabulary.from_sentences(side, 2) for side in (train.source, train.target)]
    pairs, held_out = (
        [
            (words[0].encode(source), words[1].encode(target))
            for source, target in zip(split.source, split.target, strict=True)
        ]
        for split in (train, val)
    )
    torch.manual_seed(seed)
    model = fresh_captioner(*map(len, words))
    for _ in updates(cast(Any, model), pairs, config):
        pass
    model.eval()
    return {
        "seed": seed,
        "loss": round(loss_on(model, held_out), 4),
        "without": [
            [round(loss_on(without_head(model, layer, head), held_out), 4) for head in range(HEADS)]
            for layer in range(LAYERS)
        ],
        "weights": np.round(looks(model, held_out[0][0]).tolist(), 4).tolist(),
    }


def heads() -> Records:
    """Three trainings, and what their heads do."""
    corpus = corpus_of(RunConfig("rnnsearch", "multi30k"))
    made = {"git_commit": git_commit(), "corpus_sha256": corpus.sha256, "settings": CAPTIONS}
    words = [*corpus.splits["val"].source[0], "</s>"]
    record = {**made, "words": words, "seeds": [captioner(seed) for seed in SEEDS]}
    yield "caption-heads", json.dumps(record, ensure_ascii=False) + "\n"


def check(read: Read) -> None:
    """Only the encoder and its positions differ; of the pronouns every one is right."""
    check_runs(runs(), read)
    of_encoder: dict[str, list[dict[str, Any]]] = {name: [] for name in ENCODERS}
    for tag, config in runs():
        run, name = read(name_of(config, tag)), tag.removeprefix("reader-")
        of_encoder[name].append(run)
        check_same(run, of_encoder["bidirectional"][-1], "corpus_sha256", "recipe", "git_commit")
        assert run["positions"] == (name != "no-positions")
        assert run["cpu_seconds"] > 0
    for one, other in zip(of_encoder["self-attention"], of_encoder["no-positions"], strict=True):
        assert one["parameters"] == other["parameters"]
    drawn = read("pronoun-reader")
    assert drawn["sentences_sha256"] == sentences_sha256()
    found = drawn["figure"]["readings"]
    assert len(found) == 36
    for sentence, reading in found.items():
        assert len(sentence.split()) == len(reading["weights"]) == LAST + 1
        assert abs(sum(reading["weights"]) - 1) < 1e-4
        assert abs(sum(reading["probabilities"]) - 1) < 1e-4
        assert reading["probabilities"][PRONOUNS.index(reading["right"])] > 0.9
    translated = read("transformer-writes")
    assert translated["sentences_sha256"] == writing_sha256()
    assert [one["seed"] for one in translated["seeds"]] == list(SEEDS)
    assert all(one["held_out"] == one["right"] == 72 for one in translated["seeds"])
    for one, found in zip(WRITTEN, translated["figure"]["sentences"], strict=True):
        assert (found["source"], found["read"]) == sentence_pair(one)
        assert all(abs(sum(row) - 1) < 1e-4 for row in found["in_source"])
        for i, rows in enumerate(zip(found["on_source"], found["on_read"], strict=True)):
            assert all(abs(sum(row) - 1) < 1e-4 for row in rows)
            assert not any(rows[1][i + 1 :])
    trained = read("caption-heads")
    assert trained["settings"] == CAPTIONS
    assert [one["seed"] for one in trained["seeds"]] == list(SEEDS)
    for seed in trained["seeds"]:
        weights = np.array(seed["weights"])
        assert weights.shape == (HEADS, *[len(trained["words"])] * 2)
        assert np.allclose(weights.sum(axis=2), 1, atol=1e-3)
        assert np.shape(seed["without"]) == (LAYERS, HEADS)
    assert len(trained["corpus_sha256"]) == 6


PARTS = {
    "readers": Part(partial(small_runs, runs, told), "twenty minutes"),
    "pronoun": Part(pronoun, "five seconds"),
    "writer": Part(writer, "two minutes"),
    "heads": Part(heads, "forty-five minutes"),
}
