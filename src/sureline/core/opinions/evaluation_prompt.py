"""What an evaluator is shown: a list of failure modes, of which it names those that apply (G1)."""

from __future__ import annotations

import hashlib

from sureline.core.opinions.fence import FENCE_RULE

INSTRUCTIONS = f"""You check one output of another system against a list of failure modes. Name \
each mode that applies, with the shortest passage that shows it.

{FENCE_RULE}

Answer with one JSON object and nothing else:
{{"deductions": [{{"id": "the mode's id", "span": "the passage"}}]}}
An empty list says that no mode applies.
"""

TEMPLATE_HASH = hashlib.sha256(INSTRUCTIONS.encode()).hexdigest()[:16]
"""Changes when our own words change."""
