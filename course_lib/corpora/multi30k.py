"""Multi30k: image captions in English, German and French, 29,000 pairs to train on.

The files are looked for in `$COURSE_DATA/multi30k`, then in the user's cache, and are otherwise
downloaded from the data set's own repository at a fixed commit. Each is checked against its SHA-256
on every load. Tokens are kept in the user's cache, because Moses' rules take seconds in Python.
"""

import gzip
import hashlib
import os
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import platformdirs
from tqdm import tqdm

from course_lib.corpora.corpus import Corpus, Split
from course_lib.corpora.tokenization import PROTOCOL, detokenize, tokenize
from course_lib.errors import CourseError
from course_lib.files import sha256_of, write_atomically

PAIRS = ("en-de", "de-en", "en-fr", "fr-en")
REQUIRED_SPLITS = ("train", "val", "test_2016_flickr")
OPTIONAL_SPLITS = ("test_2017_flickr", "test_2017_mscoco", "test_2018_flickr")

CHECKSUMS = {
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.fr.gz": "622e75069e9f4c577425c4f277116ce66e63a2401c0a2312d90073cb12379a3c",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.fr.gz": "ca3106f1a72390591d25f6c45cb4cd39dec4cd3f123e099748a3ce5256c160e9",
    "test_2016_flickr.en.gz": "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9",
    "test_2016_flickr.de.gz": "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8",
    "test_2016_flickr.fr.gz": "6d326e188d259fb1d04ac19eae3af956559b3a0b93d7635e56c90987c40c8b90",
    "test_2017_flickr.en.gz": "76a444ee25172e72695cddb13ae4a3bda59430617be88e0bb46b60504f054074",
    "test_2017_flickr.de.gz": "a2c89666db00c495cd8513b9d708d5a3acc205d7de312ef2bf5fb7ebc1540aee",
    "test_2017_flickr.fr.gz": "3ba671ceb2299f3304ffafefea7a833d08632fbaf0ba18546f8a2ec2391af496",
    "test_2017_mscoco.en.gz": "aab300bfb4427697987e02cd0aacd44bfe8aa50456231b6474c08038bbed2b58",
    "test_2017_mscoco.de.gz": "799e4854c25d601cb6cb6be29eabe5667734c61ace2f495e03e429031a0bc338",
    "test_2017_mscoco.fr.gz": "754f3072ba9f124569ba5258b32730fc1d214bbf8e0c6dfb2b74401676220db0",
    "test_2018_flickr.en.gz": "ef4f4844037d4c5dea75c9a8ed5fd78905967a26f67c255e230cc9780032654d",
    "test_2018_flickr.de.gz": "ddd0130c7d97482dc5197a02141dae8dd79f20f03586c480d675c09a32daf608",
    "test_2018_flickr.fr.gz": "fb2b83fcceb937a4f7e3e93c1c51c22aba92f1e342391e6b5ba392b16a920501",
}
"""SHA-256 of every file this course reads, as in the data set's repository at the commit below."""


def multi30k(pair: str = "en-de", *, checksums: Mapping[str, str] = CHECKSUMS) -> Corpus:
    """The corpus with its splits train (29,000 pairs), val (1,014) and test_2016_flickr (1,000).

    `checksums` names the files (`SPLIT.LANGUAGE.gz`) and their SHA-256. Tokens are lower-cased,
    normalised and Moses-tokenised; references are the target lines as published, with their case.
    Raises CourseError for an unknown pair and for a missing, damaged or mismatched file.
    """
    if pair not in PAIRS:
        raise CourseError(f"multi30k has no pair {pair!r}. Choose one of {', '.join(PAIRS)}.")
    source, target = pair.split("-")
    splits: dict[str, Split] = {}
    used: dict[str, str] = {}
    for split in REQUIRED_SPLITS:
        sides: dict[str, tuple[list[str], list[list[str]]]] = {}
        for language in (source, target):
            name = f"{split}.{language}.gz"
            sides[language] = _read(name, checksums[name])
            used[name] = checksums[name]
        splits[split] = Split(
            source=sides[source][1],
            target=sides[target][1],
            links=None,
            reference=sides[target][0],
        )
    return Corpus(
        name="multi30k",
        pair=pair,
        splits=splits,
        sha256=used,
        lowercased=True,
        detokenize=partial(detokenize, language=target),
    )


def cache_folder() -> Path:
    """Where downloaded files and tokens are kept: the user's cache directory."""
    return Path(platformdirs.user_cache_dir("looking-back")) / "multi30k"


def locate(name: str) -> Path | None:
    """The file's path in `$COURSE_DATA/multi30k` or else the cache; None where neither has it."""
    folders = [cache_folder()]
    if os.environ.get("COURSE_DATA"):
        folders.insert(0, Path(os.environ["COURSE_DATA"]) / "multi30k")
    return next((folder / name for folder in folders if (folder / name).is_file()), None)


def _read(name: str, checksum: str) -> tuple[list[str], list[list[str]]]:
    path = locate(name)
    if path is None:
        raise CourseError(f"multi30k's {name} is missing. Put it into {cache_folder()}.")
    if sha256_of(path) != checksum:
        raise CourseError(f"{path} is not multi30k's {name}: its SHA-256 differs. Replace it.")
    lines = gzip.decompress(path.read_bytes()).decode("utf-8").removesuffix("\n").split("\n")
    lines = [line.strip() for line in lines]
    return lines, _tokens(name, checksum, lines)


def _tokens(name: str, checksum: str, lines: list[str]) -> list[list[str]]:
    """The lines' tokens, from the cache where an undamaged entry for exactly this text is there."""
    language = name.split(".")[1]
    key = hashlib.sha256(f"{checksum} {language} {PROTOCOL}".encode()).hexdigest()
    entry = cache_folder() / f"{name.removesuffix('.gz')}.{key[:16]}.tokens"
    if entry.is_file():
        seal, _, body = entry.read_bytes().partition(b"\n")
        if seal == hashlib.sha256(body).hexdigest().encode():
            return [line.split() for line in body.decode("utf-8").split("\n")]
    tokens = [
        tokenize(line, language)
        for line in tqdm(lines, desc=f"tokenising {name}", leave=False, disable=None)
    ]
    body = "\n".join(" ".join(sentence) for sentence in tokens).encode()
    write_atomically(entry, hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
    return tokens
