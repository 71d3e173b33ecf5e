"""Any encoder of Hugging Face, as it is or fine-tuned."""
