"""Tiny encoders with random weights, in the form of real ones; they need the extra only."""

from pathlib import Path

import pytest
import torch

TEXT = "a tower was built in paris by an engineer when who long question ##s ##er is , ? ."


def make_encoder(folder: Path, family: str = "bert", seed: int = 0) -> Path:
    """Write a folder as `save_pretrained` does: two layers of size 16, 64 positions."""
    transformers = pytest.importorskip("transformers", reason="needs the extra `transformers`")
    torch.manual_seed(seed)
    roberta = family in ("mpnet", "roberta", "xlm-roberta")
    tokenizer = _roberta_tokenizer() if roberta else _bert_tokenizer(family)
    shape = {"num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
    if family == "distilbert":
        shape = {"n_layers": 2, "n_heads": 2, "hidden_dim": 24, "dim": 16}
    if family == "albert":
        shape |= {"embedding_size": 8, "hidden_dropout_prob": 0.1}
    if family == "deberta-v2":
        shape |= {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_buckets": 8}
    if family == "modernbert":
        special = {"pad": 0, "cls": 2, "bos": 2, "sep": 3, "eos": 3}
        shape |= {f"{name}_token_id": number for name, number in special.items()}
    if family == "electra":
        shape["embedding_size"] = 8
    if roberta:
        shape |= {"pad_token_id": 1, "type_vocab_size": 1}
    config = transformers.AutoConfig.for_model(
        family,
        vocab_size=len(tokenizer),
        max_position_embeddings=66 if roberta else 64,
        **(shape if "dim" in shape else shape | {"hidden_size": 16}),
    )
    model = transformers.AutoModel.from_config(config)
    for parameter in model.parameters():  # far from 0, so that every part counts
        parameter.data += 0.1 * torch.randn_like(parameter)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _bert_tokenizer(family: str):
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *TEXT.split()]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    core = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    core.normalizer = normalizers.BertNormalizer(lowercase=True)
    core.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    core.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    names = ["input_ids", "token_type_ids", "attention_mask"]
    if family in ("distilbert", "modernbert"):
        names.remove("token_type_ids")
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        model_input_names=names,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def _roberta_tokenizer():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = ["<s>", "<pad>", "</s>", "<unk>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    core = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>"))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return PreTrainedTokenizerFast(
        tokenizer_object=core,
        model_input_names=["input_ids", "attention_mask"],
        bos_token="<s>",
        cls_token="<s>",
        pad_token="<pad>",
        eos_token="</s>",
        sep_token="</s>",
        unk_token="<unk>",
    )
