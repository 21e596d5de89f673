"""The GPU's recorder, tried on the CPU in small: one command, every number, nothing overwritten."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def recorder() -> ModuleType:
    spec = importlib.util.spec_from_file_location("record_gpu", ROOT / "book" / "record_gpu.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_command_measures_everything(recorder: ModuleType, tmp_path: Path) -> None:
    out, runs = tmp_path / "gpu.json", tmp_path / "runs"
    command = ["--device", "cpu", "--tiny", "--updates", "2"]
    recorder.main([*command, "--runs", str(runs), "--out", str(out)])
    found = json.loads(out.read_text())
    assert found["tiny"]
    assert found["device"] == "cpu"
    for preset in ("gpu", "paper"):
        assert found["speeds"][preset].keys() == {"fp32", "tf32", "bf16"}
        assert all(each["target_words_a_second"] > 0 for each in found["speeds"][preset].values())
    for precision, days in found["projected_days"].items():
        each = found["speeds"]["paper"][precision]["seconds_an_update"]
        assert days == pytest.approx(288_000 * each / 24 / 3600)
    assert found["comparison"].keys() == {"rnnencdec", "rnnsearch"}
    for model, run in found["comparison"].items():
        assert run["minutes"] > 0
        assert run["bleu_tok"].keys() == {"test"}
        assert (runs / model / "result.json").is_file()


def test_minibatches_are_as_long_as_the_paper_s(recorder: ModuleType) -> None:
    batches = recorder.minibatches("paper", 100, 80)
    assert len(batches) == 20
    lengths = [int(n) - 1 for batch in batches for n in batch.target_mask.sum(dim=1)]
    assert max(lengths) == 50
    assert 24 < sum(lengths) / len(lengths) < 30


def test_a_trial_is_not_taken_for_a_result(
    recorder: ModuleType, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SystemExit):
        recorder.main(["--device", "cpu", "--tiny"])
    assert "no result" in capsys.readouterr().err
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(SystemExit):
        recorder.main([])
    assert "no GPU" in capsys.readouterr().err
