"""The bundled demonstration: invented receipts, an imperfect extractor, and the whole main job.

The corpus is the project's own. `truth`, `vendors`, `receipts`, `wear` and `corpus` know what is
on a receipt; `extractor` and `arithmetic` see its text only and may not import them.
"""
