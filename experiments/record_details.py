"""Record what each detail that re-implementations of RNNsearch change costs.

    python experiments/record_details.py

The paper's model on the embedded corpus, and the same model with one detail changed, three seeds
each; about half an hour on a quiet core. Writes
toy-en-de-rnnsearch-cpu-details.json: for each variant its changes, parameters and,
seed by seed, BLEU of the test split and the loss on the validation split.
"""

from typing import Any

from recording import TOY, trained, write

from course_lib.training import RunConfig

SEEDS = (0, 1, 2)
SETTINGS: dict[str, Any] = {
    **TOY,
    "epochs": 6,
    "unit": "paper",
}
VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {},
    "reset-after": {"unit": "torch"},
    "query-after": {"order": "after", "reads": "current"},
    "reads-current": {"reads": "current"},
    "tanh-readout": {"output": "tanh"},
    "start-zero": {"start": "zero"},
    "forward-encoder": {"encoder": "forward"},
}


def run(changes: dict[str, Any], seed: int) -> dict[str, Any]:
    """One training: its result."""
    config = RunConfig("rnnsearch", "toy", seed=seed, changes={**SETTINGS, **changes})
    return trained(config).result


def main() -> None:
    variants: dict[str, Any] = {}
    for name, changes in VARIANTS.items():
        results = [run(changes, seed) for seed in SEEDS]
        variants[name] = {
            "changes": changes,
            "parameters": results[0]["parameters"],
            "bleu_tok": [result["scores"]["test"]["bleu_tok"] for result in results],
            "val_loss": [result["best_val_loss"] for result in results],
        }
        print(name, variants[name])
    kept = ("corpus", "pair", "preset", "device", "versions", "git_commit", "corpus_sha256")
    record = {key: results[0][key] for key in kept}
    record |= {"settings": SETTINGS, "seeds": list(SEEDS), "variants": variants}
    write("toy-en-de-rnnsearch-cpu-details.json", record)


if __name__ == "__main__":
    main()
